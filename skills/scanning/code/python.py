"""Python by its own grammar: what flows from keys, decoders and the network into where."""

import ast
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ..examination import Examination, Exports, Marks
from ..ruleset import PLACES, load
from ..values import Severity
from . import names
from .commands import judge_words
from .consequences import is_strange
from .python_values import DECODERS, MODULE_LOADERS, Constant, Values
from .shell_words import UNKNOWN
from .where import Where

_IS = {name: re.compile(pattern) for name, pattern in load("python.yaml").items()}
_WRITE_MODE = re.compile(r"[wax+]")
_ANY = re.compile(
    "|".join(f"(?:{pattern.pattern})" for pattern in _IS.values())
    + r"|\.(decompress|decrypt)$|compile|dup2|keyring|^pip\b|open$|getpass|^chr$"
    + r"|\.(get|post|put|patch|request|urlopen|fetch|send|delete|stream)$|"
    + "|".join(f"^{re.escape(name)}$" for name in sorted(DECODERS | MODULE_LOADERS))
)
_KEY_WORD = re.compile(r"(?i)^\W?(api|.*_?(key|secret|token|passw\w*|credential\w*|auth))s?\W?$")
_WEB = re.compile(r"\.(get|post|put|patch|request|urlopen|fetch|send|delete|stream)$")
_SPELLED = (
    "eval",
    "exec",
    "system",
    "popen",
    "compile",
    "__import__",
    "__builtins__",
    "subprocess",
)
# A method of such a module that a script puts its own function in the place of.
_PATCHED = re.compile(
    r"(requests|httpx|urllib3?|aiohttp|subprocess|builtins|smtplib)\.[\w.]*[a-z]\w*$"
)
NOTHING: Marks = frozenset()
PRIVATE = frozenset({"secret", "environment"})


def read(text: str, where: Where, exports: Exports | None = None, module: str = "") -> None:
    """Reports what a Python text would do; with `exports` it learns of and tells other modules."""
    tree = parse(text)
    if tree is None:
        if not where.shown:
            where.tell("code.unparsed", where.line, "Python")
        return
    if all(pattern.search(text) for pattern in _LOCKS_FILES):
        where.tell("code.destructive", where.line, "encrypts the files of a home directory")
    try:
        _Module(where, exports or Exports(), module).run(tree.body)
    except RecursionError:
        where.tell("code.unparsed", where.line, "Python, nested too deeply")


_LOCKS_FILES = tuple(
    map(
        re.compile,
        (
            r"expanduser\(|Path\.home\(|environ\W{1,4}(HOME|USERPROFILE)|['\"]/home",
            r"os\.walk\(|\.r?glob\(|scandir\(",
            r"\.encrypt\(|AES\.new\(|ChaCha20",
            r"['\"]w?b?\+?wb|['\"]wb|\.write_\w+\(|os\.(remove|unlink)\(",
        ),
    )
)


def learn(text: str, exports: Exports, module: str) -> None:
    """Adds to `exports` what a module hands to others; reports nothing."""
    tree = parse(text)
    if tree is not None:
        nobody = Where(Examination(), module, lambda *_: None)
        with suppress(RecursionError):
            _Module(nobody, exports, module).run(tree.body)


def parse(text: str) -> ast.Module | None:
    """The tree of a Python text, or None where it is not Python 3."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Module:
    def __init__(self, where: Where, exports: Exports, module: str) -> None:
        self.where = where
        self.values = Values()
        self.exports = exports
        self.module = module
        self.marks: dict[str, Marks] = {}
        self.senders: set[str] = set()
        self.function: list[str] = []
        self.kinds_called: set[str] = set()
        self.fetched: set[str] = set()

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)
        if {"dup2", "socket"} <= self.kinds_called:
            self.tell("code.reverse-shell", body[0] if body else None, "socket and dup2")

    # Statements ------------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> None:  # noqa: C901 - one arm a kind of node
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    self.values.aliases[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            case ast.ImportFrom(module=module, names=aliases):
                self._import_from(module or "", aliases)
            case ast.Assign(targets=targets, value=value):
                marks = self.visit(value) | self._named_secret(value)
                for target in targets:
                    self._bind(target, value, marks)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._bind(target, value, self.visit(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
                marks = self.visit(value) | self.marks.get(name, NOTHING)
                joined = self.values.fold(ast.BinOp(ast.Name(name), node.op, value))
                self._set(name, joined, marks)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.Return(value=value) if value is not None:
                marks = self.visit(value)
                if self.function:
                    self._export(self.function[-1], marks)
            case _:
                self._other(node)

    def _other(self, node: ast.stmt) -> None:  # noqa: C901 - one arm a kind of node
        match node:
            case ast.For(target=target, iter=source) | ast.AsyncFor(target=target, iter=source):
                marks = self.visit(source)
                self._bind(target, None, marks)
                if "environment" in marks:
                    self._judge_harvest(node)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    marks = self.visit(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, item.context_expr, marks)
        for _, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.stmt):
                    self.statement(child)
                elif isinstance(child, ast.expr):
                    self.visit(child)
                elif isinstance(child, ast.ExceptHandler | ast.match_case):
                    for inner in child.body:
                        self.statement(inner)

    def _judge_harvest(self, node: ast.AST) -> None:
        """A loop over the whole environment that looks for names of keys."""
        texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
        if any(isinstance(text, str) and _KEY_WORD.search(text) for text in texts):
            self.where.did("environment-dump", self.line(node), "names of keys are sought")

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                self.statement(inner)
            return
        self.function.append(node.name)
        before = len(self.where.exam.deeds), set(self.kinds_called)
        self.kinds_called.discard("network")
        for inner in node.body:
            self.statement(inner)
        if "network" in self.kinds_called:
            self.senders.add(node.name)
            self.exports.senders.add(f"{self.module}.{node.name}")
        self.kinds_called |= before[1]
        self.function.pop()

    def _import_from(self, module: str, aliases: Iterable[ast.alias]) -> None:
        for alias in aliases:
            name, full = alias.asname or alias.name, f"{module}.{alias.name}".strip(".")
            self.values.aliases[name] = full
            local = f"{module.rpartition('.')[2]}.{alias.name}"
            if local in self.exports.marks:
                self.marks[name] = self.exports.marks[local]
            if local in self.exports.senders:
                self.senders.add(name)

    def _bind(self, target: ast.expr, value: ast.expr | None, marks: Marks) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for at, inner in enumerate(target.elts):
                self._bind(inner, parts[at] if at < len(parts) else None, marks)
        elif isinstance(target, ast.Name):
            self._set(target.id, None if value is None else self.values.fold(value), marks)
            dotted = "" if value is None else self.values.dotted(value)
            if value is not None and dotted and dotted != target.id and dotted.count("()") < 4:
                self.values.alias(target.id, dotted, value)
        else:
            for child in ast.iter_child_nodes(target):
                if isinstance(child, ast.expr):
                    self.visit(child)
            patched = isinstance(target, ast.Attribute) and isinstance(value, ast.Name | ast.Lambda)
            if patched and _PATCHED.match(self.values.dotted(target)):
                self.tell("code.dynamic-run", target)
            if isinstance(target, ast.Subscript | ast.Attribute) and isinstance(
                target.value, ast.Name
            ):
                name = target.value.id
                self.marks[name] = self.marks.get(name, NOTHING) | marks

    def _named_secret(self, value: ast.expr) -> Marks:
        """Whether the value is the path of sign-in data, which some other line will open."""
        path = self.values.fold(value)
        if isinstance(path, str) and "\n" not in path and names.SECRETS.search(path):
            self.where.did("secret-file", self.line(value), path)
        return NOTHING

    def _set(self, name: str, constant: Constant, marks: Marks) -> None:
        self.values.constants[name] = constant
        self.values.aliases.pop(name, None)
        self.marks[name] = marks
        if not self.function:
            self._export(name, marks)

    def _export(self, name: str, marks: Marks) -> None:
        key = f"{self.module}.{name}"
        self.exports.marks[key] = self.exports.marks.get(key, NOTHING) | marks
        self.marks[f"{name}()"] = self.marks.get(f"{name}()", NOTHING) | marks

    # Expressions -----------------------------------------------------------------------------

    def visit(self, node: ast.expr) -> Marks:  # noqa: C901 - one arm a kind of node
        """What an expression's value carries; calls inside are judged on the way."""
        match node:
            case ast.Call():
                return self._call(node)
            case ast.Name(id=name):
                if self.values.aliases.get(name) == "os.environ":
                    return frozenset({"environment"})
                return self.marks.get(name, NOTHING)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=inner, slice=key):
                if self.values.dotted(inner) == "os.environ":
                    return self._key(key)
                return self.visit(inner) | self.visit(key)
            case ast.Compare(left=left, comparators=others):
                for part in (left, *others):
                    if self.values.dotted(part) != "os.environ":
                        self.visit(part)
                return NOTHING
            case ast.Lambda(body=body):
                return self.visit(body)
            case ast.BinOp(op=ast.Add()) if self.values.fold(node) in _SPELLED:
                self.tell("code.obfuscated", node)
        return self._children(node)

    def _children(self, node: ast.AST) -> Marks:
        marks: set[str] = set()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.comprehension):
                source = self.visit(child.iter)
                if "environment" in source:
                    self._judge_harvest(node)
                self._bind(child.target, None, source)
                marks |= source
                for test in child.ifs:
                    self.visit(test)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                marks |= self.visit(child)
            elif isinstance(child, ast.keyword):
                marks |= self.visit(child.value)
        return frozenset(marks)

    def _attribute(self, node: ast.Attribute) -> Marks:
        dotted = self.values.dotted(node)
        if dotted == "os.environ":
            return frozenset({"environment"})
        if (
            node.attr in {"__subclasses__", "__globals__", "__builtins__"}
            or (_IS["shell"].match(dotted) or _IS["evaluates"].match(dotted))
            and self.values.is_odd(node)
        ):
            self.tell("code.obfuscated", node)
        if node.attr == "__dict__" and dotted in {"builtins.__dict__", "__dict__"}:
            self.tell("code.obfuscated", node)
        module, _, attribute = dotted.rpartition(".")
        local = f"{module.rpartition('.')[2]}.{attribute}"
        return self.visit(node.value) | self.exports.marks.get(local, NOTHING)

    def _key(self, key: ast.expr) -> Marks:
        name = self.values.fold(key)
        return frozenset({f"key:{name}"}) if isinstance(name, str) else NOTHING

    def _call(self, node: ast.Call) -> Marks:
        name = self.values.called(node.func)
        if name.startswith(("os.environ.", "os.getenv", "environ.get", "getenv")):
            return self._environment_call(node, name)
        given: set[str] = set()
        for arg in (*node.args, *(one.value for one in node.keywords if one.arg != "env")):
            given |= self.visit(arg)
        through = self.visit(node.func.value) if isinstance(node.func, ast.Attribute) else NOTHING
        if not isinstance(node.func, ast.Name | ast.Attribute):
            through = self.visit(node.func)
        marks = frozenset(given) | through
        if not (marks or _ANY.search(name) or self.values.is_odd_call(node)):
            # Nothing private passes through, and the name means nothing to any rule.
            return marks | self._of_function(node, name, marks)
        for judge in (_judge_dynamic, _judge_process, _judge_network, _judge_files, _judge_other):
            marks |= judge(self, node, name, marks)
        return marks | self._of_function(node, name, marks)

    def _environment_call(self, node: ast.Call, name: str) -> Marks:
        if name in {"os.getenv", "os.environ.get", "os.environ.pop", "getenv", "environ.get"}:
            return self._key(node.args[0]) if node.args else NOTHING
        if name in {"os.environ.items", "os.environ.copy", "os.environ.values"}:
            return frozenset({"environment"})
        return NOTHING

    def _of_function(self, node: ast.Call, name: str, marks: Marks) -> Marks:
        """What a function of this skill adds: its results' marks, or that it sends."""
        short = name.rpartition(".")[2]
        local = f"{name.split('.')[-2]}.{short}" if name.count(".") else ""
        if (name in self.senders or local in self.exports.senders) and marks & PRIVATE:
            self.tell("code.secret-sent", node)
        return self.marks.get(f"{name}()", NOTHING) | self.exports.marks.get(local, NOTHING)

    # Telling ---------------------------------------------------------------------------------

    def line(self, node: ast.AST | None) -> int:
        return self.where.line + getattr(node, "lineno", 1) - 1

    def tell(
        self, rule: str, node: ast.AST | None, excerpt: str = "", severity: Severity | None = None
    ) -> None:
        if not excerpt and node is not None:
            excerpt = ast.unparse(node)[:200] if _is_small(node) else type(node).__name__
        self.where.tell(rule, self.line(node), excerpt, severity=severity)


def _is_small(node: ast.AST) -> bool:
    return sum(1 for _, _ in zip(ast.walk(node), range(400), strict=False)) < 400


def _judge_dynamic(module: _Module, node: ast.Call, name: str, marks: Marks) -> Marks:
    """eval, exec and their kin."""
    if name in DECODERS or name == "chr" or name.endswith((".decompress", ".decrypt")):
        return frozenset({"decoded"})
    if _IS["compiles"].match(name) or _IS["evaluates"].match(name):
        _judge_evaluation(module, node, name, marks)
    elif name in MODULE_LOADERS and {"read", "downloaded"} & marks:
        module.tell("code.dynamic-run", node)
    elif _IS["loads_objects"].match(name) and "downloaded" in marks | _argument_marks(module, node):
        module.tell("container.pickle", node)
    return NOTHING


def _judge_evaluation(module: _Module, node: ast.Call, name: str, marks: Marks) -> None:
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


def _argument_marks(module: _Module, node: ast.Call) -> Marks:
    return frozenset().union(*(module.visit(arg) for arg in node.args))


def _judge_process(module: _Module, node: ast.Call, name: str, marks: Marks) -> Marks:
    """Other programs that are started."""
    is_shell = bool(_IS["shell"].match(name))
    if not is_shell and not _IS["process"].match(name):
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


def _judge_network(module: _Module, node: ast.Call, name: str, marks: Marks) -> Marks:
    """What is sent, where to, and that something came back."""
    address = _first_address(module, node)
    is_web = bool(_WEB.search(name)) and bool(address)
    if not is_web and not _IS["network"].match(name):
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
    if _IS["lookups"].match(name) and (
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


def _judge_sent(module: _Module, node: ast.Call, address: str, marks: Marks) -> None:
    """Private data among what a request carries."""
    if marks & PRIVATE:
        module.tell("code.secret-sent", node)
    elif "own-settings" in marks or "typed" in marks and is_strange(address):
        module.tell("code.secret-sent", node, severity=Severity.WARN)
    for mark in sorted(marks):
        if mark.startswith("key:"):
            _judge_key(module, node, mark[4:], address)


def _first_text(module: _Module, node: ast.Call) -> str:
    value = module.values.fold(node.args[0]) if node.args else None
    return value if isinstance(value, str) else ""


def _first_address(module: _Module, node: ast.Call) -> str:
    for arg in (
        *node.args[:2],
        *(one.value for one in node.keywords if one.arg in {"url", "host"}),
    ):
        value = module.values.fold(arg)
        if isinstance(value, str) and "://" in value:
            return value
    return ""


def _judge_key(module: _Module, node: ast.Call, variable: str, address: str) -> None:
    """Whether a key of a known service goes to a host that is not that service's."""
    host = names.host(address) if address else ""
    known: Mapping[str, list[str]] = PLACES["known_keys"]
    service = variable.upper().split("_")[0]
    if service not in known or not host or UNKNOWN in host:
        return
    if not any(part in host for part in known[service]):
        module.tell("code.key-elsewhere", node, f"{variable} → {host}")


def _judge_files(module: _Module, node: ast.Call, name: str, marks: Marks) -> Marks:
    """Files that are read, written and removed."""
    out: set[str] = set()
    paths = _paths(module, node)
    if _IS["opens"].match(name):
        out |= {"read"} | _judge_read(module, node, paths)
    if "downloaded" in marks and _IS["fills"].search(name):
        module.fetched.update(_written(module, node))
    if name == "os.chmod" and module.fetched.intersection(paths):
        module.tell("code.download-run", node)
    mode = _mode(module, node, name)
    if mode and _WRITE_MODE.search(mode) or _IS["writes"].match(name):
        module.where.can("writes", module.line(node))
        _judge_write(module, node, paths)
    if _IS["deletes"].match(name):
        module.where.can("deletes", module.line(node))
        if any(path in {"/", "~", "~/", "/home", "/etc", "/usr"} for path in paths):
            module.tell("code.destructive", node)
    return frozenset(out)


def _written(module: _Module, node: ast.Call) -> list[str]:
    """The path that `open("a", "wb").write(…)` and its kin fill."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    given = owner.args[:1] if isinstance(owner, ast.Call) else [owner] if owner else []
    found = [module.values.fold(one) for one in given]
    return [one for one in found if isinstance(one, str)]


def _paths(module: _Module, node: ast.Call) -> list[str]:
    """Texts among the arguments, and the path object that a method belongs to."""
    parts: list[ast.expr] = list(node.args[:2])
    if isinstance(node.func, ast.Attribute):
        parts.append(node.func.value)
    found = [module.values.fold(part) for part in parts]
    return [value for value in found if isinstance(value, str)]


def _judge_read(module: _Module, node: ast.Call, paths: list[str]) -> set[str]:
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


def _judge_write(module: _Module, node: ast.Call, paths: list[str]) -> None:
    for path in paths:
        if "\n" in path:
            continue
        if names.FOREIGN_KEYS.search(path):
            module.tell("code.foreign-key", node, path)
        elif names.PERSISTENCE.search(path):
            module.tell("code.persistence", node, path)
        if names.AGENT_MEMORY.search(f" {path}"):
            module.tell("agent.writes-memory", node, path)


def _mode(module: _Module, node: ast.Call, name: str) -> str:
    if not name.endswith("open"):
        return ""
    at = 0 if isinstance(node.func, ast.Attribute) and name not in {"io.open", "codecs.open"} else 1
    given = [one.value for one in node.keywords if one.arg == "mode"] or node.args[at : at + 1]
    value = module.values.fold(given[0]) if given else "r"
    return value if isinstance(value, str) and len(value) < 5 else ""


def _taken(module: _Module, line: int, name: str) -> Marks:
    """What a person types in secret, or what their screen and microphone show."""
    if name == "getpass.getpass":
        return frozenset({"typed"})
    module.where.did("secret-file", line, name)
    return frozenset({"secret"})


def _judge_shown(module: _Module, node: ast.Call, name: str, marks: Marks) -> None:
    """An address with private data in it that is printed or opened, so that something loads it."""
    shows = name == "print" and any("://" in text for text in _texts(node))
    private = marks & PRIVATE or any(one.startswith(("key:", "own-settings")) for one in marks)
    if private and (shows or name.startswith("webbrowser.open")):
        module.tell("code.secret-sent", node, severity=Severity.WARN)


def _judge_other(module: _Module, node: ast.Call, name: str, marks: Marks) -> Marks:
    line = module.line(node)
    if name == "os.dup2":
        module.kinds_called.add("dup2")
    if _IS["serialises"].match(name) and "environment" in marks:
        module.where.can("secrets", line)
        module.where.did("environment-dump", line, name)
    if any(mark.startswith("key:") for mark in marks):
        module.where.can("secrets", line)
    if _IS["key_store"].match(name):
        module.where.can("secrets", line)
        module.where.did("secret-file", line, name)
        module.tell("code.secret-read", node)
        return frozenset({"secret"})
    if (
        _IS["native"].search(name)
        or _IS["libraries"].match(name)
        and "/" in _first_text(module, node)
    ):
        module.tell("code.native", node)
    if name == "getpass.getpass" or _IS["captures"].search(name):
        return _taken(module, line, name)
    _judge_shown(module, node, name, marks)
    if _IS["starts"].match(name) and name != "atexit.register":
        module.tell("code.persistence", node)
    if name in {"pip.main", "pip._internal.main", "ensurepip.bootstrap"}:
        module.where.can("installs", line)
        words = module.values.fold(node.args[0]) if node.args else None
        if isinstance(words, list) and all(isinstance(one, str) for one in words):
            judge_words(["pip", *map(str, words)], module.where, line)
    return NOTHING
