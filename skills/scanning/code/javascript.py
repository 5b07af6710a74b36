"""JavaScript by its own grammar: what is evaluated, started, read, sent and written."""

import re
from collections.abc import Iterator

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from ..ruleset import PLACES, load
from ..values import Severity
from . import names
from .commands import judge_words
from .consequences import is_strange
from .javascript_values import Values
from .shell_words import UNKNOWN, raw
from .where import Where

_LANGUAGE = Language(tree_sitter_javascript.language())
_PARSER = Parser(_LANGUAGE)
_TELLING = Query(
    _LANGUAGE,
    """[(call_expression) (new_expression) (variable_declarator value: (_)) (assignment_expression)
        (augmented_assignment_expression) (import_statement)] @node""",
)
_IS = {name: re.compile(pattern) for name, pattern in load("javascript.yaml").items()}
_WORTH = re.compile(
    rb"require|import|eval|Function|fetch|XMLHttp|WebSocket|sendBeacon|process|child_process|atob"
    rb"|fromCharCode|Deno|Bun|constructor|globalThis|\\x|\\u00|setTimeout|setInterval|axios|\$\."
    rb"|document\.cookie|localStorage|sessionStorage"
)
_STORED = re.compile(r"document\.cookie|JSON\.stringify\((local|session)Storage\)")
_OWN = re.compile(r"document\.cookie|(local|session)Storage\b")
_MEMBER_CALLS = re.compile(r"\.(get|post|put|patch|request|send)$")
Marks = frozenset[str]
PRIVATE = frozenset({"secret", "environment"})


def read(text: str, where: Where) -> None:
    """Reports what a JavaScript or TypeScript text would do."""
    data = _TYPES.sub(r"\1 =", text).encode("utf-8", "replace")
    if _WORTH.search(data):
        _Script(where).walk(_PARSER.parse(data).root_node)
        if all(one in data for one in _SHELL_AWAY):
            where.tell("code.reverse-shell", where.line, "a shell joined to a socket")


# `const url: string = …` is not JavaScript; without the type it is.
_TYPES = re.compile(r"(\b(?:const|let|var)\s+\w+)\s*:\s*[\w<>\[\]|., ]{1,80}?\s*=(?![=>])")
_SHELL_AWAY = (b"child_process", b"net", b".stdin", b".stdout", b".pipe(", b".connect(")


class _Script:
    def __init__(self, where: Where) -> None:
        self.where = where
        self.values = Values()
        self.marks: dict[str, Marks] = {}

    def walk(self, root: Node) -> None:
        """Names first, since what is bound where does not matter for what it may do; then acts."""
        nodes = QueryCursor(_TELLING).captures(root).get("node", [])
        nodes.sort(key=lambda node: node.start_byte)
        self._gather(nodes)
        for node in nodes:
            if node.type in {"call_expression", "new_expression"}:
                self._judge(node)
            elif node.type == "assignment_expression":
                self._assigned(node)

    def _gather(self, nodes: list[Node]) -> None:
        for node in nodes:
            if node.type == "variable_declarator":
                self._bind(node.child_by_field_name("name"), node.child_by_field_name("value"))
            elif node.type == "assignment_expression":
                self._bind(node.child_by_field_name("left"), node.child_by_field_name("right"))
            elif node.type == "augmented_assignment_expression":
                self._append(node)
            elif node.type == "import_statement":
                self._import(node)

    def _bind(self, target: Node | None, value: Node | None) -> None:
        if target is None or value is None:
            return
        dotted = self.values.dotted(value)
        if target.type == "object_pattern":
            for child in target.named_children:
                self._bind_property(child, dotted, self._carried(value))
            return
        if target.type != "identifier":
            return
        name = raw(target)
        text, items = self.values.text(value), self.values.array(value)
        if text is not None:
            self.values.texts[name] = text
        if items is not None:
            self.values.arrays[name] = items
        if dotted and dotted != name and dotted.count("()") < 4:
            self.values.aliases[name] = dotted
            if self.values.is_odd(value):
                self.marks[name] = self.marks.get(name, frozenset()) | {"odd"}
        self.marks[name] = self.marks.get(name, frozenset()) | self._carried(value)

    def _append(self, node: Node) -> None:
        target = node.child_by_field_name("left")
        if target is not None and target.type == "identifier":
            more = self.values.text(node.child_by_field_name("right"))
            old = self.values.texts.get(raw(target), UNKNOWN)
            self.values.texts[raw(target)] = old + (UNKNOWN if more is None else more)

    def _bind_property(self, child: Node, dotted: str, marks: Marks) -> None:
        if child.type == "pair_pattern":
            key, target = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and target is not None and target.type == "identifier":
                self.values.aliases[raw(target)] = f"{dotted}.{raw(key)}" if dotted else raw(key)
                self.marks[raw(target)] = marks
        elif child.type == "shorthand_property_identifier_pattern":
            if dotted:
                self.values.aliases[raw(child)] = f"{dotted}.{raw(child)}"
            keyed = frozenset({f"key:{raw(child)}"})
            self.marks[raw(child)] = keyed if dotted == "process.env" else marks

    def _import(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        module = (self.values.text(source) or "").removeprefix("node:")
        for child in _in_order(node):
            if child.type == "import_specifier":
                name = child.child_by_field_name("name")
                alias = child.child_by_field_name("alias") or name
                if name is not None and alias is not None:
                    self.values.aliases[raw(alias)] = f"{module}.{raw(name)}"
            elif child.type in {"import_clause", "namespace_import"}:
                for inner in child.named_children:
                    if inner.type == "identifier":
                        self.values.aliases[raw(inner)] = module

    # -----------------------------------------------------------------------------------------

    def _carried(self, node: Node) -> Marks:
        """What an expression's parts carry."""
        marks: set[str] = set()
        for part in _in_order(node, limit=400):
            if part.type == "identifier":
                marks |= self.marks.get(raw(part), frozenset()) - {"odd"}
            elif self._is_environment(part):
                marks |= self._environment(part)
            elif part.type in {"call_expression", "new_expression"}:
                marks |= self._result(part)
        return frozenset(marks)

    def _is_environment(self, node: Node) -> bool:
        if node.type == "member_expression":
            return raw(node).endswith("process.env")
        if node.type != "subscript_expression":
            return False
        holder, index = (node.child_by_field_name(name) for name in ("object", "index"))
        return (
            holder is not None
            and raw(holder).endswith("process")
            and (self.values.text(index) == "env")
        )

    def _environment(self, node: Node) -> Marks:
        parent = node.parent
        if parent is not None and parent.type == "member_expression":
            return frozenset({f"key:{raw(parent).rpartition('.')[2]}"})
        if parent is not None and parent.type == "subscript_expression":
            return frozenset({f"key:{self.values.text(parent.child_by_field_name('index'))}"})
        if parent is not None and parent.type in {"spread_element", "pair"}:
            key = parent.child_by_field_name("key")
            if parent.type == "pair" and key is not None and raw(key) != "env":
                return frozenset({"environment"})
            # `{ ...process.env, A: 1 }` is how a child process gets its environment.
            holder = parent.parent.parent if parent.parent is not None else None
            if parent.type == "pair" or holder is not None and holder.type == "pair":
                return frozenset()
        return frozenset({"environment"})

    def _result(self, node: Node) -> Marks:
        name = self._name(node)
        if name in {"Deno.env.toObject", "Bun.env"}:
            return frozenset({"environment"})
        if (
            _IS["decodes"].match(name)
            or _IS["decodes"].match(f"{name}$text")
            and self._is_coded(node)
        ):
            return frozenset({"decoded"})
        if _IS["network"].match(name):
            return frozenset({"downloaded"})
        if _IS["opens"].match(name):
            path = self._first(node)
            if path and names.SECRETS.search(path):
                return frozenset({"secret"})
        return frozenset()

    def _is_coded(self, node: Node) -> bool:
        given = self.values.arguments(node)
        return len(given) > 1 and (self.values.text(given[1]) or "").startswith(("base64", "hex"))

    def _name(self, node: Node) -> str:
        if node.type == "new_expression":
            return f"new {self.values.dotted(node.child_by_field_name('constructor'))}"
        return self.values.dotted(node.child_by_field_name("function"))

    def _first(self, node: Node) -> str:
        given = self.values.arguments(node)
        return (self.values.text(given[0]) if given else None) or ""

    # -----------------------------------------------------------------------------------------

    def _judge(self, node: Node) -> None:
        name = self._name(node)
        if raw(node.child_by_field_name("function") or node).endswith(".constructor.constructor"):
            self.tell("code.obfuscated", node)
        if not name:
            return
        timer = name in {"setTimeout", "setInterval"} and self._first(node)
        self._judge_handed_over(node, name)
        if _IS["evaluates"].search(f"{name}$text" if timer else name):
            self._judge_evaluation(node)
        elif _IS["shell"].match(name) or _IS["process"].match(name):
            self._judge_process(node, name)
        elif _IS["network"].match(name) or self._is_web_method(name, node):
            self._judge_network(node, name)
        else:
            self._judge_files(node, name)

    def _judge_evaluation(self, node: Node) -> None:
        given = self.values.arguments(node)
        carried = (
            frozenset().union(*(self._carried(one) for one in given)) if given else frozenset()
        )
        function = node.child_by_field_name("function")
        if self._is_odd(function):
            self.tell("code.obfuscated", node)
        if "downloaded" in carried:
            self.tell("code.download-run", node)
        elif "decoded" in carried:
            self.tell("code.decode-run", node)
        elif given and given[-1].type != "string":
            self.tell("code.download-run" if self._is_callback_of_network(node) else
                      "code.dynamic-run", node)  # fmt: skip
        code = self.values.text(given[-1]) if given else None
        if code and UNKNOWN not in code:
            self.where.read_inside("javascript", code, self.line(node))

    def _is_callback_of_network(self, node: Node) -> bool:
        """Whether the evaluation stands in a function that a request was given."""
        above = node.parent
        while above is not None:
            if above.type == "call_expression" and _IS["network"].match(self._name(above)):
                return True
            above = above.parent
        return False

    def _judge_handed_over(self, node: Node, name: str) -> None:
        """`.then(eval)` runs what comes; `import("https://…")` and `Reflect.construct(Function, …)`
        do the same by another door."""
        given = self.values.arguments(node)
        handed = [self.values.dotted(one) for one in given[:2]]
        runs = any(one and _IS["evaluates"].match(one) for one in handed)
        if runs and name.startswith("Reflect."):
            self.tell("code.dynamic-run", node)
        elif runs:
            fetched = _IS["network"].search(raw(node)[:400]) or "fetch(" in raw(node)[:400]
            self.tell("code.download-run" if fetched else "code.dynamic-run", node)
        if name in {"process.binding", "process._linkedBinding"}:
            self.tell("code.dynamic-run", node)
        if name.startswith("WebAssembly.") and any(
            "downloaded" in self._carried(one) for one in given
        ):
            self.tell("code.download-run", node)
        if name == "import" and "://" in self._first(node):
            self.tell("code.download-run", node)
        elif name == "import" and self._first(node).startswith("data:"):
            self.tell("code.dynamic-run", node)

    def _is_odd(self, function: Node | None) -> bool:
        if function is None:
            return False
        by_alias = function.type == "identifier" and "odd" in self.marks.get(raw(function), ())
        return by_alias or self.values.is_odd(function)

    def _judge_process(self, node: Node, name: str) -> None:
        line, given = self.line(node), self.values.arguments(node)
        self.where.can("shell", line)
        if self._is_odd(node.child_by_field_name("function")):
            self.tell("code.obfuscated", node)
        tagged = node.child_by_field_name("arguments")
        if tagged is not None and tagged.type == "template_string":
            given = [tagged]
        if not given:
            return
        carried = self._carried(given[0])
        if "downloaded" in carried:
            self.tell("code.download-run", node)
        elif "decoded" in carried:
            self.tell("code.decode-run", node)
        command = self.values.text(given[0])
        if command is None:
            return
        if _IS["shell"].match(name):
            self.where.read_inside("shell", command.replace(UNKNOWN, "$x"), line)
            return
        rest = self._arguments_of(given[1]) if len(given) > 1 else None
        judge_words([command, *(rest or [])], self.where, line)

    def _arguments_of(self, node: Node) -> list[str] | None:
        """The words of `spawn("sh", ["-c", …])` and `new Deno.Command("sh", { args: […] })`."""
        if node.type != "object":
            return self.values.array(node)
        for pair in node.named_children:
            key = pair.child_by_field_name("key")
            if key is not None and raw(key) == "args":
                return self.values.array(pair.child_by_field_name("value"))
        return None

    def _is_web_method(self, name: str, node: Node) -> bool:
        return bool(_MEMBER_CALLS.search(name)) and "://" in self._first(node)

    def _judge_network(self, node: Node, name: str) -> None:
        line, address = self.line(node), self._first(node)
        self.where.can("network", line)
        if address and names.is_local(address) and "://" in address:
            return
        self.where.did("network", line, address or name)
        carried: set[str] = set()
        for one in self.values.arguments(node):
            carried |= self._carried(one)
        given = self.values.arguments(node)
        in_address = bool(given) and _OWN.search(raw(given[0]))
        beacon = name.endswith("sendBeacon") and _OWN.search(raw(node))
        if carried & PRIVATE or _STORED.search(raw(node)[:2000]):
            self.tell("code.secret-sent", node)
        elif is_strange(address) and (in_address or beacon):
            self.tell("code.secret-sent", node, severity=Severity.WARN)
        if _IS["lookups"].match(name) and re.match(f"{UNKNOWN}\\S*\\.\\w", address):
            self.tell("code.name-lookup", node)
        for mark in sorted(carried):
            if mark.startswith("key:"):
                self._judge_key(mark[4:], address, node)

    def _judge_key(self, variable: str, address: str, node: Node) -> None:
        service, host = variable.upper().split("_")[0], names.host(address) if address else ""
        known: dict[str, list[str]] = PLACES["known_keys"]
        self.where.can("secrets", self.line(node))
        is_told = service in known and bool(host) and UNKNOWN not in host
        if is_told and not any(part in host for part in known[service]):
            self.tell("code.key-elsewhere", node, f"{variable} → {host}")

    def _judge_files(self, node: Node, name: str) -> None:
        line, path = self.line(node), self._first(node)
        if _IS["opens"].match(name) and names.SECRETS.search(path):
            self.where.can("secrets", line)
            self.where.did("secret-file", line, path)
            self.tell("code.secret-read", node, path)
        if _IS["writes"].match(name):
            self.where.can("writes", line)
            paths = [self.values.text(one) or "" for one in self.values.arguments(node)[:2]]
            for target in paths:
                self._judge_write(target, node)
        if _IS["deletes"].match(name):
            self.where.can("deletes", line)
            if path in {"/", "~", "~/", "/home", "/usr", "/etc"}:
                self.tell("code.destructive", node)
        if name in {"JSON.stringify", "Object.entries", "Object.assign", "Object.keys"}:
            given = self.values.arguments(node)
            if given and "environment" in self._carried(given[0]):
                self.where.did("environment-dump", line, name)

    def _judge_write(self, path: str, node: Node) -> None:
        if "\n" in path:
            return
        if names.FOREIGN_KEYS.search(path):
            self.tell("code.foreign-key", node, path)
        elif names.PERSISTENCE.search(path):
            self.tell("code.persistence", node, path)
        if names.AGENT_MEMORY.search(f" {path}"):
            self.tell("agent.writes-memory", node, path)

    def _assigned(self, node: Node) -> None:
        """`new Image().src = "https://…?" + document.cookie` sends by being assigned."""
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if target is None or value is None:
            return
        exported = raw(target).startswith(("module.exports", "exports."))
        if exported and "environment" in self._carried(value):
            self.where.did("environment-dump", self.line(node), raw(node)[:80])
        if not raw(target).endswith((".src", ".href", "location")):
            return
        text = raw(value)
        if re.search(r"document\.cookie|localStorage|sessionStorage", text):
            self.tell("code.secret-sent", node)

    def line(self, node: Node) -> int:
        return self.where.line + int(node.start_point[0])

    def tell(
        self, rule: str, node: Node, excerpt: str = "", severity: Severity | None = None
    ) -> None:
        self.where.tell(rule, self.line(node), excerpt or raw(node)[:200], severity=severity)


def _in_order(root: Node, limit: int = 1 << 30) -> Iterator[Node]:
    """The named nodes below a node in the order of the text, itself included."""
    stack, seen = [root], 0
    while stack and seen < limit:
        node = stack.pop()
        seen += 1
        yield node
        stack += reversed(node.named_children)
