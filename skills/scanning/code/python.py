"""Python by its own grammar: what flows from keys, decoders and the network into where."""

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress

from ..examination import Examination, Exports, Marks
from ..values import Severity
from . import names
from .python_calls import IS, JUDGES, NOTHING, PRIVATE
from .python_values import DECODERS, MODULE_LOADERS, Constant, Values
from .where import Where

_ANY = re.compile(
    "|".join(f"(?:{pattern.pattern})" for pattern in IS.values())
    + r"|\.(decompress|decrypt)$|compile|dup2|keyring|^pip\b|open$|getpass|^chr$"
    + r"|\.(get|post|put|patch|request|urlopen|fetch|send|delete|stream)$|"
    + "|".join(f"^{re.escape(name)}$" for name in sorted(DECODERS | MODULE_LOADERS))
)
_KEY_WORD = re.compile(r"(?i)^\W?(api|.*_?(key|secret|token|passw\w*|credential\w*|auth))s?\W?$")
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
        Module(where, exports or Exports(), module).run(tree.body)
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
            Module(nobody, exports, module).run(tree.body)


def parse(text: str) -> ast.Module | None:
    """The tree of a Python text, or None where it is not Python 3."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Module:
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
            or (IS["shell"].match(dotted) or IS["evaluates"].match(dotted))
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
        for judge in JUDGES:
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
            self.tell("code.secret-sent", node, severity=Severity.WARN)
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
