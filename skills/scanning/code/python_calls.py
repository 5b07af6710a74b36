"""What one call of a Python script would do, and what its value carries."""

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..examination import Marks
from ..ruleset import PLACES, load
from ..values import Severity
from . import names
from .commands import judge_words
from .consequences import is_strange
from .python_values import DECODERS, MODULE_LOADERS
from .shell_words import UNKNOWN

if TYPE_CHECKING:
    from .python import Module

IS = {name: re.compile(pattern) for name, pattern in load("python.yaml").items()}
_WRITE_MODE = re.compile(r"[wax+]")
_WEB = re.compile(r"\.(get|post|put|patch|request|urlopen|fetch|send|delete|stream)$")
NOTHING: Marks = frozenset()
PRIVATE = frozenset({"secret", "environment"})


def _judge_dynamic(module: "Module", node: ast.Call, name: str, marks: Marks) -> Marks:
    """eval, exec and their kin."""
    if name in DECODERS or name == "chr" or name.endswith((".decompress", ".decrypt")):
        return frozenset({"decoded"})
    if IS["compiles"].match(name) or IS["evaluates"].match(name):
        _judge_evaluation(module, node, name, marks)
    elif name in MODULE_LOADERS and {"read", "downloaded"} & marks:
        module.tell("code.dynamic-run", node)
    elif IS["loads_objects"].match(name) and "downloaded" in marks | _argument_marks(module, node):
        module.tell("container.pickle", node)
    return NOTHING


def _judge_evaluation(module: "Module", node: ast.Call, name: str, marks: Marks) -> None:
    given = node.args[0] if node.args else None
    if module.values.is_odd(node.func):
        module.tell("code.obfuscated", node)
    if "downloaded" in marks:
        module.tell("code.download-run", node)
    elif "decoded" in marks:
        module.tell("code.decode-run", node)
    elif not isinstance(given, ast.Constant) and name != "compile":
        module.tell("code.dynamic-run", node)
    code = module.values.fold(given) if given is not None else None
    if isinstance(code, bytes):
        code = code.decode("utf-8", "replace")
    if isinstance(code, str):
        module.where.read_inside("python", code, module.line(node))


def _argument_marks(module: "Module", node: ast.Call) -> Marks:
    return frozenset().union(*(module.visit(arg) for arg in node.args))


def _judge_process(module: "Module", node: ast.Call, name: str, marks: Marks) -> Marks:
    """Other programs that are started."""
    is_shell = bool(IS["shell"].match(name))
    if not is_shell and not IS["process"].match(name):
        return NOTHING
    module.where.can("shell", module.line(node))
    if module.values.is_odd(node.func):
        module.tell("code.obfuscated", node)
    if "decoded" in marks:
        module.tell("code.decode-run", node)
    elif "downloaded" in marks:
        module.tell("code.download-run", node)
    words = module.values.fold(node.args[0]) if node.args else None
    if isinstance(words, list):
        plain = [one if isinstance(one, str) else UNKNOWN for one in words]
        if module.fetched.intersection(plain):
            module.tell("code.download-run", node)
        if plain[1:2] == ["-m"] and plain[0] == UNKNOWN:
            plain[0] = "python"
        if plain:
            judge_words(plain, module.where, module.line(node))
    elif isinstance(words, str | bytes):
        text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
        module.where.read_inside("shell", text.replace(UNKNOWN, "$x"), module.line(node))
    return frozenset({"output"})


def _judge_network(module: "Module", node: ast.Call, name: str, marks: Marks) -> Marks:
    """What is sent, where to, and that something came back."""
    address = _first_address(module, node)
    is_web = bool(_WEB.search(name)) and bool(address)
    if not is_web and not IS["network"].match(name):
        return NOTHING
    line = module.line(node)
    module.kinds_called.add("network")
    if name.endswith("urlretrieve"):
        module.fetched.update(_paths(module, node)[1:2])
    if "socket" in name:
        module.kinds_called.add("socket")
    module.where.can("network", line)
    if names.is_local(address) and address:
        return NOTHING
    module.where.did("network", line, address or name)
    if names.SECRETS.search(address):
        module.where.did("secret-file", line, address)
        return frozenset({"downloaded", "secret"})
    _judge_sent(module, node, address, marks)
    if IS["lookups"].match(name) and (
        marks & PRIVATE or re.match(f"{UNKNOWN}\\S*\\.\\w", address or _first_text(module, node))
    ):
        module.tell("code.name-lookup", node)
    if any(one.arg == "verify" and isinstance(one.value, ast.Constant) and one.value.value is False
           for one in node.keywords):  # fmt: skip
        module.tell("code.request-tricks", node, severity=Severity.INFO)
    return frozenset({"downloaded"})


def _texts(node: ast.AST) -> list[str]:
    found = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    return [one for one in found if isinstance(one, str)]


def _judge_sent(module: "Module", node: ast.Call, address: str, marks: Marks) -> None:
    """Private data among what a request carries."""
    if marks & PRIVATE:
        module.tell("code.secret-sent", node)
    elif "own-settings" in marks or "typed" in marks and is_strange(address):
        module.tell("code.secret-sent", node, severity=Severity.WARN)
    for mark in sorted(marks):
        if mark.startswith("key:"):
            _judge_key(module, node, mark[4:], address)


def _first_text(module: "Module", node: ast.Call) -> str:
    value = module.values.fold(node.args[0]) if node.args else None
    return value if isinstance(value, str) else ""


def _first_address(module: "Module", node: ast.Call) -> str:
    for arg in (
        *node.args[:2],
        *(one.value for one in node.keywords if one.arg in {"url", "host"}),
    ):
        value = module.values.fold(arg)
        if isinstance(value, str) and "://" in value:
            return value
    return ""


def _judge_key(module: "Module", node: ast.Call, variable: str, address: str) -> None:
    """Whether a key of a known service goes to a host that is not that service's."""
    host = names.host(address) if address else ""
    known: Mapping[str, list[str]] = PLACES["known_keys"]
    service = variable.upper().split("_")[0]
    if service not in known or not host or UNKNOWN in host:
        return
    if not any(part in host for part in known[service]):
        module.tell("code.key-elsewhere", node, f"{variable} → {host}")


def _judge_files(module: "Module", node: ast.Call, name: str, marks: Marks) -> Marks:
    """Files that are read, written and removed."""
    out: set[str] = set()
    paths = _paths(module, node)
    if IS["opens"].match(name):
        out |= {"read"} | _judge_read(module, node, paths)
    if "downloaded" in marks and IS["fills"].search(name):
        module.fetched.update(_written(module, node))
    if name == "os.chmod" and module.fetched.intersection(paths):
        module.tell("code.download-run", node)
    mode = _mode(module, node, name)
    if mode and _WRITE_MODE.search(mode) or IS["writes"].match(name):
        module.where.can("writes", module.line(node))
        _judge_write(module, node, paths)
    if IS["deletes"].match(name):
        module.where.can("deletes", module.line(node))
        if any(path in {"/", "~", "~/", "/home", "/etc", "/usr"} for path in paths):
            module.tell("code.destructive", node)
    return frozenset(out)


def _written(module: "Module", node: ast.Call) -> list[str]:
    """The path that `open("a", "wb").write(…)` and its kin fill."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    given = owner.args[:1] if isinstance(owner, ast.Call) else [owner] if owner else []
    found = [module.values.fold(one) for one in given]
    return [one for one in found if isinstance(one, str)]


def _paths(module: "Module", node: ast.Call) -> list[str]:
    """Texts among the arguments, and the path object that a method belongs to."""
    parts: list[ast.expr] = list(node.args[:2])
    if isinstance(node.func, ast.Attribute):
        parts.append(node.func.value)
    found = [module.values.fold(part) for part in parts]
    return [value for value in found if isinstance(value, str)]


def _judge_read(module: "Module", node: ast.Call, paths: list[str]) -> set[str]:
    out = set()
    for path in paths:
        if names.SECRETS.search(path):
            out.add("secret")
            module.where.can("secrets", module.line(node))
            module.where.did("secret-file", module.line(node), path)
            module.tell("code.secret-read", node, path)
        elif names.OWN_SETTINGS.search(f" {path}"):
            out.add("own-settings")
            module.where.did("own-settings", module.line(node), path)
    return out


def _judge_write(module: "Module", node: ast.Call, paths: list[str]) -> None:
    for path in paths:
        if "\n" in path:
            continue
        if names.FOREIGN_KEYS.search(path):
            module.tell("code.foreign-key", node, path)
        elif names.PERSISTENCE.search(path):
            module.tell("code.persistence", node, path)
        if names.AGENT_MEMORY.search(f" {path}"):
            module.tell("agent.writes-memory", node, path)


def _mode(module: "Module", node: ast.Call, name: str) -> str:
    if not name.endswith("open"):
        return ""
    at = 0 if isinstance(node.func, ast.Attribute) and name not in {"io.open", "codecs.open"} else 1
    given = [one.value for one in node.keywords if one.arg == "mode"] or node.args[at : at + 1]
    value = module.values.fold(given[0]) if given else "r"
    return value if isinstance(value, str) and len(value) < 5 else ""


def _taken(module: "Module", line: int, name: str) -> Marks:
    """What a person types in secret, or what their screen and microphone show."""
    if name == "getpass.getpass":
        return frozenset({"typed"})
    module.where.did("secret-file", line, name)
    return frozenset({"secret"})


def _judge_shown(module: "Module", node: ast.Call, name: str, marks: Marks) -> None:
    """An address with private data in it that is printed or opened, so that something loads it."""
    shows = name == "print" and any("://" in text for text in _texts(node))
    private = marks & PRIVATE or any(one.startswith(("key:", "own-settings")) for one in marks)
    if private and (shows or name.startswith("webbrowser.open")):
        module.tell("code.secret-sent", node, severity=Severity.WARN)


def _judge_other(module: "Module", node: ast.Call, name: str, marks: Marks) -> Marks:
    line = module.line(node)
    if name == "os.dup2":
        module.kinds_called.add("dup2")
    if IS["serialises"].match(name) and "environment" in marks:
        module.where.can("secrets", line)
        module.where.did("environment-dump", line, name)
    if any(mark.startswith("key:") for mark in marks):
        module.where.can("secrets", line)
    if IS["key_store"].match(name):
        module.where.can("secrets", line)
        module.where.did("secret-file", line, name)
        module.tell("code.secret-read", node)
        return frozenset({"secret"})
    if (
        IS["native"].search(name)
        or IS["libraries"].match(name)
        and "/" in _first_text(module, node)
    ):
        module.tell("code.native", node)
    if name == "getpass.getpass" or IS["captures"].search(name):
        return _taken(module, line, name)
    _judge_shown(module, node, name, marks)
    if IS["starts"].match(name) and name != "atexit.register":
        module.tell("code.persistence", node)
    if name in {"pip.main", "pip._internal.main", "ensurepip.bootstrap"}:
        module.where.can("installs", line)
        words = module.values.fold(node.args[0]) if node.args else None
        if isinstance(words, list) and all(isinstance(one, str) for one in words):
            judge_words(["pip", *map(str, words)], module.where, line)
    return NOTHING


JUDGES = (_judge_dynamic, _judge_process, _judge_network, _judge_files, _judge_other)
