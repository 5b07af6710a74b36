"""What a Python expression comes to without running it: names through aliases, text through joins
and decoders."""

import ast
import base64
import binascii
import codecs
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .shell_words import UNKNOWN

Text = TypeVar("Text", str, bytes)
Constant = str | bytes | int | list[Any] | None
LARGEST = 1 << 20
_HOME = {"pathlib.Path.home", "Path.home"}
_SAME = {
    "os.path.expanduser", "os.path.abspath", "os.path.realpath", "os.path.normpath", "pathlib.Path",
    "pathlib.PurePath", "pathlib.PosixPath", "str", "os.fspath", "os.path.expandvars", "list",
    "tuple", "shlex.split", "bytes", "bytearray", "memoryview",
}  # fmt: skip
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64.b64decode": lambda data: base64.b64decode(data + b"=" * (-len(data) % 4)),
    "base64.urlsafe_b64decode": lambda data: base64.urlsafe_b64decode(
        data + b"=" * (-len(data) % 4)
    ),
    "base64.standard_b64decode": base64.b64decode,
    "base64.decodebytes": base64.decodebytes,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.b85decode": base64.b85decode,
    "base64.a85decode": base64.a85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.a2b_hex,
    "binascii.a2b_base64": binascii.a2b_base64,
    "bytes.fromhex": lambda data: bytes.fromhex(data.decode()),
    "bytearray.fromhex": lambda data: bytes.fromhex(data.decode()),
    "zlib.decompress": lambda data: zlib.decompressobj().decompress(data, LARGEST),
    "gzip.decompress": lambda data: zlib.decompressobj(31).decompress(data, LARGEST),
}
DECODERS = frozenset(_DECODERS) | {
    "bz2.decompress", "lzma.decompress", "marshal.loads", "codecs.decode", "zlib.decompressobj",
    "cryptography.fernet.Fernet.decrypt", "quopri.decodestring", "uu.decode",
}  # fmt: skip
_SHARP = {"os", "subprocess", "pty", "socket", "builtins", "ctypes", "posix", "nt", "commands"}
MODULE_LOADERS = {"__import__", "importlib.import_module", "importlib.__import__"}


@dataclass(slots=True)
class Values:
    """Names and constants of one module, filled while its statements are walked."""

    aliases: dict[str, str] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    spelled_oddly: set[ast.AST] = field(default_factory=set)
    odd_names: set[str] = field(default_factory=set)

    def dotted(self, node: ast.AST) -> str:
        """`os.system` for whatever leads there: an alias, `getattr`, `__import__`; else ""."""
        match node:
            case ast.Name(id=name):
                return self.aliases.get(name, name)
            case ast.Attribute(value=inner, attr=attr):
                base = self.dotted(inner)
                return f"{base}.{attr}".removeprefix("builtins.") if base else ""
            case ast.Call(func=function, args=args):
                return self._dotted_call(node, self.dotted(function), args)
            case ast.Subscript(value=inner, slice=key):
                return self._dotted_item(node, self.dotted(inner), key)
        return ""

    def _dotted_call(self, node: ast.AST, name: str, args: list[ast.expr]) -> str:
        if name in MODULE_LOADERS and args:
            module = self.fold(args[0])
            if isinstance(module, str):
                self._note(node, args[0])
                return module
        if name == "getattr" and len(args) > 1:
            base, attribute = self.dotted(args[0]), self.fold(args[1])
            if base and isinstance(attribute, str):
                self.spelled_oddly.add(node)
                return f"{base}.{attribute}".removeprefix("builtins.").removeprefix("__builtins__.")
        return f"{name}()" if name else ""

    def _dotted_item(self, node: ast.AST, base: str, key: ast.expr) -> str:
        spaces = (
            "globals()",
            "locals()",
            "vars()",
            "__builtins__",
            "sys.modules",
            "__builtins__()",
        )
        name = self.fold(key)
        if isinstance(name, str) and (base in spaces or base.endswith(".__dict__")):
            self.spelled_oddly.add(node)
            module = base.removesuffix(".__dict__")
            outer = "" if base in spaces or module in {"builtins", "__builtins__"} else f"{module}."
            return f"{outer}{name}"
        return ""

    def _note(self, node: ast.AST, argument: ast.expr) -> None:
        """`__import__("os")` in the middle of a line is as odd as a name that is put together."""
        if not isinstance(argument, ast.Constant) or argument.value in _SHARP:
            self.spelled_oddly.add(node)

    def called(self, node: ast.AST) -> str:
        """`dotted`, with `?` for an object that has no name: `?.read_text`."""
        name = self.dotted(node)
        return f"?.{node.attr}" if not name and isinstance(node, ast.Attribute) else name

    def alias(self, name: str, dotted: str, value: ast.AST) -> None:
        """From now on the name stands for what the dotted name says."""
        self.aliases[name] = dotted
        if self.is_odd(value):
            self.odd_names.add(name)

    def is_odd_call(self, node: ast.Call) -> bool:
        """Whether the function was reached by way of a string, cheaply."""
        return bool(self.odd_names or self.spelled_oddly) and self.is_odd(node.func)

    def is_odd(self, node: ast.AST) -> bool:
        """Whether a name was reached by a string instead of being written out."""
        return any(
            part in self.spelled_oddly or isinstance(part, ast.Name) and part.id in self.odd_names
            for part in ast.walk(node)
        )

    # -----------------------------------------------------------------------------------------

    def fold(self, node: ast.AST) -> Constant:  # noqa: C901 - one arm a kind of node
        """The value of an expression; unknown parts of a text are UNKNOWN, else None."""
        match node:
            case ast.Constant(value=str() | bytes() | int() as value):
                return value
            case ast.Name(id=name):
                return self.constants.get(name)
            case ast.JoinedStr(values=parts):
                return "".join(self._text(part) for part in parts)
            case ast.FormattedValue(value=inner):
                return self._text(inner)
            case ast.BinOp():
                return self._operation(node)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.fold(item) for item in items[:4096]]
            case ast.Subscript():
                return self._item(node)
            case ast.Call():
                return self._call(node)
            case ast.GeneratorExp() | ast.ListComp():
                return self._comprehension(node)
            case ast.Starred(value=inner):
                return self.fold(inner)
        return None

    def _text(self, node: ast.AST) -> str:
        value = self.fold(node)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return str(value) if isinstance(value, str | int) else UNKNOWN

    def _operation(self, node: ast.BinOp) -> Constant:  # noqa: C901 - one arm a kind of node
        left, right = self.fold(node.left), self.fold(node.right)
        match node.op, left, right:
            case ast.Add(), str(), str():
                return _bounded(left + right)
            case ast.Add(), bytes(), bytes():
                return _bounded(left + right)
            case ast.Add(), list(), list():
                return left + right
            case ast.Add(), str(), None:
                return left + UNKNOWN
            case ast.Add(), None, str():
                return UNKNOWN + right
            case ast.Div(), str(), str():
                return f"{left}/{right}"
            case ast.Div(), None, str():
                return f"{UNKNOWN}/{right}"
            case ast.Mult(), str(), int() if 0 < right < 1000 and len(left) < 1000:
                return left * right
            case ast.Mod(), str(), _:
                values = right if isinstance(right, list) else [right]
                for value in values:
                    left = left.replace("%s", UNKNOWN if value is None else str(value), 1)
                return left
            case ast.BitXor(), int(), int():
                return left ^ right
        return None

    def _item(self, node: ast.Subscript) -> Constant:
        value = self.fold(node.value)
        if self.dotted(node.value) == "os.environ":
            return "~" if self.fold(node.slice) in {"HOME", "USERPROFILE"} else None
        if isinstance(node.slice, ast.Slice) and isinstance(value, str | bytes | list):
            bounds = [
                None if one is None else self._number(one)
                for one in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return _sliced(value, slice(*bounds)) if bounds[2] != 0 else None
        index = self.fold(node.slice)
        if isinstance(value, list) and isinstance(index, int) and -len(value) <= index < len(value):
            found: Constant = value[index]
            return found
        return None

    def _number(self, node: ast.AST) -> int | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.fold(node.operand)
            return -inner if isinstance(inner, int) else None
        value = self.fold(node)
        return value if isinstance(value, int) else None

    def _call(self, node: ast.Call) -> Constant:  # noqa: C901 - one arm a kind of node
        name = self.dotted(node.func)
        args = [self.fold(arg) for arg in node.args]
        if name in _HOME or name.endswith("Path.home"):
            return "~"
        if name in {"os.getenv", "os.environ.get"}:
            return (
                "~"
                if args[:1] in (["HOME"], ["USERPROFILE"])
                else args[1]
                if len(args) > 1
                else None
            )
        if name == "os.path.join":
            return "/".join(UNKNOWN if arg is None else str(arg) for arg in args)
        if name in _SAME and len(args) >= 1:
            return (
                bytes(_numbers(args[0]))
                if name in {"bytes", "bytearray"} and _numbers(args[0])
                else args[0]
            )
        if name == "chr" and isinstance(args[0] if args else None, int):
            code = args[0]
            return chr(code) if isinstance(code, int) and 0 <= code < 0x110000 else None
        if name == "map" and len(args) > 1 and self.dotted(node.args[0]) == "chr":
            return [chr(code) for code in _numbers(args[1])]
        if name == "reversed" and args and isinstance(args[0], str | list):
            return args[0][::-1]
        if name in {"codecs.decode", "codecs.encode"} and len(args) > 1:
            scheme = str(args[1]).lower().replace("_", "").replace("-", "").removesuffix("codec")
            if scheme == "rot13" and isinstance(args[0], str):
                return codecs.encode(args[0], "rot13")
            name = {"hex": "binascii.unhexlify", "base64": "binascii.a2b_base64"}.get(scheme, name)
        if name in _DECODERS and args:
            return _decoded(_DECODERS[name], args[0])
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, args)
        return None

    def _method(self, function: ast.Attribute, args: list[Constant]) -> Constant:  # noqa: C901 - one arm a kind of node
        value = self.fold(function.value)
        match function.attr, value, args:
            case "decode", bytes(), _:
                return value.decode("utf-8", "replace")
            case ("encode", str(), _) if args[:1] in (["rot13"], ["rot_13"]):
                return codecs.encode(value, "rot13")
            case "encode", str(), _:
                return value.encode("utf-8", "replace")
            case "join", str(), [list() as items]:
                texts = [UNKNOWN if item is None else str(item) for item in items]
                return _bounded(value.join(texts))
            case "join", str(), [str() as text]:
                return _bounded(value.join(text))
            case "join", bytes(), [list() as items]:
                return _bounded(value.join(item for item in items if isinstance(item, bytes)))
            case "replace", str(), [str() as old, str() as new]:
                return _bounded(value.replace(old, new)) if len(new) < 100 else None
            case "format", str(), _:
                for arg in args:
                    value = value.replace("{}", UNKNOWN if arg is None else str(arg), 1)
                return value
            case ("strip" | "rstrip" | "lstrip" | "lower" | "expanduser" | "resolve" | "absolute"
                  | "as_posix"), str(), _:  # fmt: skip
                return value.lower() if function.attr == "lower" else value.strip()
            case "split", str(), _:
                return list(
                    value.split(args[0] if args and isinstance(args[0], str) and args[0] else None)
                )
            case "joinpath", str(), _:
                return "/".join([value, *(UNKNOWN if arg is None else str(arg) for arg in args)])
            case "with_name" | "with_suffix", str(), _:
                return value
        return None

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp) -> Constant:
        """`chr(c) for c in [99, 117]`, also with an arithmetic key: `chr(c ^ 7)`."""
        if len(node.generators) != 1 or not isinstance(node.generators[0].target, ast.Name):
            return None
        name = node.generators[0].target.id
        values = self.fold(node.generators[0].iter)
        if isinstance(values, bytes):
            values = list(values)
        if isinstance(values, str):
            values = list(values)
        if not isinstance(values, list) or len(values) > 4096:
            return None
        kept = self.constants.get(name)
        out: list[Constant] = []
        for value in values:
            self.constants[name] = value
            out.append(self.fold(node.elt))
        self.constants[name] = kept
        return out


def _sliced(value: str | bytes | list[Any], part: slice) -> Constant:
    found: Constant = value[part]
    return found


def _decoded(decoder: Callable[[bytes], bytes], value: Constant) -> Constant:
    data = value.encode() if isinstance(value, str) else value
    if not isinstance(data, bytes) or len(data) > LARGEST:
        return None
    try:
        return decoder(data)
    except (ValueError, binascii.Error, zlib.error, UnicodeError):
        return None


def _numbers(value: Constant) -> list[int]:
    if (
        isinstance(value, list)
        and value
        and all(isinstance(one, int) and 0 <= one < 256 for one in value)
    ):
        return [one for one in value if isinstance(one, int)]
    return []


def _bounded(value: Text) -> Text | None:
    return value if len(value) <= LARGEST else None
