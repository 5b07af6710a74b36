"""What a JavaScript expression comes to without running it: names through `require` and aliases,
text through joins and decoders."""

import base64
import binascii
import re
import urllib.parse
from dataclasses import dataclass, field

from tree_sitter import Node

from .shell_words import UNKNOWN, raw

_ESCAPES = re.compile(
    r"\\(x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|[0-7]{1,3}|\r?\n|.)"
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "v": "\v", "f": "\f", "0": "\0"}
_GLOBALS = {"globalThis", "window", "global", "self", "top", "frames"}
LARGEST = 1 << 20


@dataclass(slots=True)
class Values:
    """Names and texts of one script, filled while it is walked."""

    aliases: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)
    odd: set[int] = field(default_factory=set)

    def dotted(self, node: Node | None) -> str:
        """`child_process.exec` for whatever leads there; "" if unknown."""
        if node is None:
            return ""
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern" | "this":
                return self.aliases.get(raw(node), raw(node))
            case "member_expression":
                return self._member(node, raw(_child(node, "property")))
            case "subscript_expression":
                return self._subscript(node)
            case "call_expression":
                return self._call_name(node)
            case "new_expression":
                return f"new {self.dotted(node.child_by_field_name('constructor'))}()"
            case "parenthesized_expression" | "await_expression" | "non_null_expression":
                return self.dotted(node.named_children[-1]) if node.named_children else ""
            case "sequence_expression":
                return self.dotted(node.named_children[-1])
            case "import":
                return "import"
        return ""

    def _member(self, node: Node, attribute: str) -> str:
        base = self.dotted(node.child_by_field_name("object"))
        if base in _GLOBALS:
            return self.aliases.get(attribute, attribute)
        if base == "process" and attribute in {"mainModule"}:
            return "module"
        return f"{base}.{attribute}" if base else ""

    def _subscript(self, node: Node) -> str:
        name = self.text(node.child_by_field_name("index"))
        if name is None or UNKNOWN in name:
            return ""
        base = self.dotted(node.child_by_field_name("object"))
        self.odd.add(node.id)
        if base in _GLOBALS:
            return name
        return f"{base}.{name}" if base else ""

    def _call_name(self, node: Node) -> str:
        function = self.dotted(node.child_by_field_name("function"))
        arguments = self.arguments(node)
        if (
            function
            in {
                "require",
                "import",
                "module.require",
                "process.binding",
                "module.constructor._load",
            }
            and arguments
        ):
            module = self.text(arguments[0])
            if module is not None and UNKNOWN not in module:
                if arguments[0].type != "string":
                    self.odd.add(node.id)
                return module.removeprefix("node:")
        if function.endswith((".bind", ".promisify")) or function == "promisify":
            inner = (
                self.dotted(arguments[0]) if function.endswith("promisify") and arguments else ""
            )
            return inner or function.removesuffix(".bind")
        return f"{function}()" if function else ""

    @staticmethod
    def arguments(node: Node) -> list[Node]:
        given = node.child_by_field_name("arguments")
        if given is None:
            return []
        return [child for child in given.named_children if child.type != "comment"]

    def is_odd(self, node: Node | None) -> bool:
        """Whether a name was reached by a string instead of being written out."""
        while node is not None:
            if node.id in self.odd:
                return True
            node = node.child_by_field_name("object") or node.child_by_field_name("function")
        return False

    # -----------------------------------------------------------------------------------------

    def text(  # noqa: C901 - one arm a kind of node
        self, node: Node | None, depth: int = 0
    ) -> str | None:
        """The text of an expression with UNKNOWN for its unknown parts; None when it is no text."""
        if node is None or depth > 60:
            return None
        match node.type:
            case "string":
                return unescape(raw(node)[1:-1])
            case "template_string":
                return self._template(node, depth)
            case "number":
                return raw(node)
            case "identifier":
                return self.texts.get(raw(node))
            case "binary_expression":
                return self._joined(node, depth)
            case "parenthesized_expression" | "await_expression":
                return (
                    self.text(node.named_children[-1], depth + 1) if node.named_children else None
                )
            case "call_expression" | "new_expression":
                return self._called(node, depth)
            case "member_expression" if raw(node) in {
                "process.env.HOME",
                "process.env.USERPROFILE",
            }:
                return "~"
            case "subscript_expression":
                return self._element(node, depth)
        return None

    def _template(self, node: Node, depth: int) -> str:
        out = []
        for child in node.named_children:
            if child.type == "template_substitution":
                inner = (
                    self.text(child.named_children[0], depth + 1) if child.named_children else None
                )
                out.append(UNKNOWN if inner is None else inner)
            else:
                out.append(unescape(raw(child)))
        return "".join(out)

    def _joined(self, node: Node, depth: int) -> str | None:
        if raw(_child(node, "operator")) != "+":
            return None
        # A chain `a + b + …` leans left: walked as a loop, however long it is.
        parts, inner = [], node
        while inner.type == "binary_expression" and raw(_child(inner, "operator")) == "+":
            parts.append(self.text(inner.child_by_field_name("right"), depth + 1))
            inner = _child(inner, "left")
        parts.append(self.text(inner, depth + 1))
        if all(part is None for part in parts):
            return None
        return "".join(UNKNOWN if part is None else part for part in reversed(parts))[:LARGEST]

    def _element(self, node: Node, depth: int) -> str | None:
        items = self.array(node.child_by_field_name("object"), depth)
        index = self.text(node.child_by_field_name("index"), depth + 1)
        if items and index and index.isdigit() and int(index) < len(items):
            return items[int(index)]
        return None

    def array(self, node: Node | None, depth: int = 0) -> list[str] | None:
        """The items of an array of texts, UNKNOWN where one is not known; None when no array."""
        if node is None:
            return None
        if node.type == "array":
            texts = (self.text(child, depth + 1) for child in node.named_children[:4096])
            return [UNKNOWN if one is None else one for one in texts]
        if node.type == "identifier":
            return self.arrays.get(raw(node))
        if node.type == "call_expression":
            function = _child(node, "function")
            if raw(function.child_by_field_name("property") or function) in {"reverse", "split"}:
                owner = function.child_by_field_name("object")
                items = self.array(owner, depth + 1)
                if items is not None:
                    return items[::-1]
                whole, cut = self.text(owner, depth + 1), self.arguments(node)
                if whole is not None and cut and (mark := self.text(cut[0])) is not None:
                    return whole.split(mark) if mark else list(whole)
        return None

    def _called(self, node: Node, depth: int) -> str | None:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        name, arguments = self.dotted(function), self.arguments(node)
        values = [self.text(argument, depth + 1) for argument in arguments]
        if name in {"os.homedir", "homedir"}:
            return "~"
        if name in {"path.join", "path.resolve", "join", "resolve"}:
            return "/".join(UNKNOWN if value is None else value for value in values)
        if name in {"String.fromCharCode", "String.fromCodePoint"}:
            return "".join(_char(value) for value in values)
        if name == "atob" and values and values[0]:
            return _base64(values[0])
        if name in {"unescape", "decodeURIComponent", "decodeURI"} and values and values[0]:
            return urllib.parse.unquote(values[0])
        if name == "Buffer.from" and values and values[0] is not None:
            scheme = (values[1] if len(values) > 1 else "utf8") or "utf8"
            return _base64(values[0]) if scheme.startswith("base64") else (
                _hex(values[0]) if scheme == "hex" else values[0]
            )  # fmt: skip
        if function is not None and function.type == "member_expression":
            return self._method(function, arguments, values, depth)
        return None

    def _method(
        self, function: Node, arguments: list[Node], values: list[str | None], depth: int
    ) -> str | None:
        owner, method = function.child_by_field_name("object"), raw(_child(function, "property"))
        if method == "join":
            items = self.array(owner, depth + 1)
            glue = values[0] if values else ","
            return None if items is None or glue is None else glue.join(items)[:LARGEST]
        whole = self.text(owner, depth + 1)
        if whole is None:
            return None
        match method:
            case "toString" | "trim" | "toLowerCase" | "valueOf" | "normalize":
                return whole
            case "concat":
                return whole + "".join(UNKNOWN if value is None else value for value in values)
            case "replace" | "replaceAll" if (
                len(values) > 1 and values[0] and values[1] is not None
            ):
                return whole.replace(values[0], values[1])[:LARGEST]
            case "slice" | "substring":
                bounds = [int(value) if value and value.isdigit() else None for value in values[:2]]
                return whole[slice(*bounds)] if bounds else whole
        return None


def unescape(text: str) -> str:
    """Backslash escapes as JavaScript reads them."""
    return _ESCAPES.sub(_escape, text) if "\\" in text else text


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xu" and len(code) > 1:
        return _char(str(int(code[1:].strip("{}"), 16)))
    return "" if code[0] in "\r\n" else _LETTERS.get(code, code)


def _char(value: str | None) -> str:
    try:
        number = int(value or "", 0)
    except ValueError:
        return UNKNOWN
    return chr(number) if 0 <= number < 0x110000 else UNKNOWN


def _base64(text: str) -> str | None:
    bare = re.sub(r"\s", "", text).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4)).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return None


def _hex(text: str) -> str | None:
    try:
        return bytes.fromhex(text).decode("utf-8", "replace")
    except ValueError:
        return None


def _child(node: Node, field_name: str) -> Node:
    return node.child_by_field_name(field_name) or node
