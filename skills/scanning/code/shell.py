"""Shell text by bash's grammar: which commands would run, joined how, over which files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from .shell_words import UNKNOWN, raw, value

_PARSER = Parser(Language(tree_sitter_bash.language()))
# The grammar looks letters up in a table of 256 and may crash on others.
_FAR = re.compile(r"[^\x00-\xff]")
_BRACES = re.compile(r"(?m)(^|[;&|(]\s*)\{([^\s{}]+(?:,[^\s{}]+)+)\}")
_CUT_WORD = re.compile(r"(?<=[\w'\"])\\\r?\n(?=[\w'\"])")
_NESTED = {"command_substitution", "process_substitution"}


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command: evaluated words, the text as typed, and what runs inside its words."""

    words: tuple[str, ...]
    text: str
    line: int
    typed_name: str = ""
    inner: tuple["Pipeline", ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    fed: str = ""
    assigned: tuple[tuple[str, str], ...] = ()
    called: tuple["Pipeline", ...] = ()


Pipeline = tuple[Command, ...]


@dataclass(slots=True)
class _Reader:
    first_line: int
    variables: dict[str, str] = field(default_factory=dict)
    origins: dict[str, tuple[Pipeline, ...]] = field(default_factory=dict)
    functions: dict[str, tuple[Pipeline, ...]] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)

    def pipelines(self, root: Node) -> Iterator[Pipeline]:
        """Every pipeline below a node, outermost first, without those inside words."""
        stack = [root]
        while stack:
            node = stack.pop()
            match node.type:
                case "pipeline":
                    yield tuple(
                        command for part in node.named_children for command in self._stage(part)
                    )
                    stack += [
                        child for part in reversed(node.named_children)
                        for child in reversed(part.named_children)
                        if part.type not in {"command", "redirected_statement"}
                    ]  # fmt: skip
                case "command" | "declaration_command" | "redirected_statement":
                    stages = tuple(self._stage(node))
                    if stages:
                        yield stages
                    if node.type == "redirected_statement":
                        stack += [
                            child
                            for child in reversed(node.named_children)
                            if child.type not in {"command", "pipeline"}
                            and not child.type.endswith("_redirect")
                        ]
                case "variable_assignment":
                    self._assign(node)
                    yield from self._inside(node)
                case "function_definition":
                    self._define(node)
                    stack += reversed(node.named_children)
                case "for_statement":
                    self._loop(node)
                    stack += reversed(node.named_children)
                case _:
                    stack += reversed(node.named_children)

    def _stage(self, node: Node) -> Iterator[Command]:
        """The commands that one part of a pipeline stands for."""
        if node.type in {"command", "declaration_command"}:
            yield self._command(node)
        elif node.type == "redirected_statement":
            yield from self._redirected(node)
        elif node.type in {"subshell", "compound_statement", "negated_command", "pipeline"}:
            for child in node.named_children:
                yield from self._stage(child)

    def _redirected(self, node: Node) -> Iterator[Command]:
        writes: list[str] = []
        reads: list[str] = []
        fed = ""
        for child in node.named_children:
            if child.type == "file_redirect":
                into = reads if raw(child).lstrip("0123456789").startswith("<") else writes
                into += [
                    value(one, self.variables)
                    for one in child.named_children
                    if one.type != "file_descriptor"
                ]
            elif child.type == "heredoc_redirect":
                fed += "".join(
                    raw(one) for one in child.named_children if one.type == "heredoc_body"
                )
            elif child.type == "herestring_redirect" and child.named_children:
                fed += value(child.named_children[-1], self.variables)
        body = node.child_by_field_name("body")
        stages = list(self._stage(body)) if body is not None else []
        # `curl x > f | sh` inside a heredoc line hangs the rest of the pipe on the redirect.
        for child in node.named_children:
            if child.type == "heredoc_redirect":
                for part in child.named_children:
                    stages += self._stage(part)
        if not stages:
            stages = [Command((), raw(node), self._line(node))]
        for at, command in enumerate(stages):
            yield Command(
                words=command.words,
                text=command.text,
                line=command.line,
                typed_name=command.typed_name,
                inner=command.inner,
                writes=command.writes + tuple(writes if at == len(stages) - 1 else ()),
                reads=command.reads + tuple(reads if at == 0 else ()),
                fed=command.fed + (fed if at == 0 else ""),
                assigned=command.assigned,
                called=command.called,
            )

    def _command(self, node: Node) -> Command:
        words, assigned, typed, fed = [], [], "", ""
        for child in node.named_children:
            if child.type == "variable_assignment":
                assigned.append(self._assign(child))
            elif child.type == "herestring_redirect" and child.named_children:
                fed += value(child.named_children[-1], self.variables)
            elif child.type not in {"comment", "file_redirect"}:
                typed = typed or raw(child)
                words += self._split(child)
        if node.type == "declaration_command":
            words.insert(0, (node.children[0].text or b"").decode("utf-8", "replace"))
        if words[:1] == ["alias"]:
            self._alias(words[1:])
        words[:1] = self.aliases.get(words[0], words[:1]) if words else []
        called = self.functions.get(words[0], ()) if words else ()
        return Command(
            tuple(words), raw(node)[:2000], self._line(node), typed, tuple(self._inside(node)),
            fed=fed, assigned=tuple(assigned), called=called,
        )  # fmt: skip

    def _split(self, node: Node) -> list[str]:
        """An unquoted variable or name that holds blanks is several words to a shell."""
        word = value(node, self.variables)
        kind = node.named_children[0].type if node.named_child_count == 1 else node.type
        bare = kind in {"simple_expansion", "expansion", "concatenation", "command_substitution"}
        return word.split() or [word] if bare and " " in word else [word]

    def _assign(self, node: Node) -> tuple[str, str]:
        name = node.child_by_field_name("name")
        content = node.child_by_field_name("value")
        if name is None:
            return "", ""
        pair = raw(name), value(content, self.variables) if content is not None else ""
        self.variables[pair[0]] = pair[1]
        self.origins[pair[0]] = tuple(self._inside(node))
        return pair

    def _define(self, node: Node) -> None:
        """A function's pipelines run wherever its name is called; calls in it are not followed."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            known, self.functions = self.functions, {}
            known[raw(name)] = tuple(self.pipelines(body))[:20]
            self.functions = known

    def _alias(self, words: list[str]) -> None:
        for word in words:
            name, _, meant = word.partition("=")
            if meant.strip():
                self.aliases[name] = meant.split()

    def _loop(self, node: Node) -> None:
        """The loop's variable stands for all that it goes through."""
        name = node.child_by_field_name("variable")
        if name is not None:
            gone_through = [
                value(one, self.variables) for one in node.children_by_field_name("value")
            ]
            self.variables[raw(name)] = " ".join(gone_through)[:2000] or UNKNOWN

    def _inside(self, node: Node) -> Iterator[Pipeline]:
        """Pipelines of the substitutions in a node's words, also by way of a variable."""
        stack = list(node.named_children)
        while stack:
            child = stack.pop()
            if child.type in _NESTED:
                yield from self.pipelines(child)
            elif child.type == "variable_name" and child.parent is not None:
                if child.parent.type in {"simple_expansion", "expansion"}:
                    yield from self.origins.get(raw(child), ())
            else:
                stack += child.named_children

    def _line(self, node: Node) -> int:
        return self.first_line + int(node.start_point[0])


def read(text: str, first_line: int = 1) -> Iterator[Pipeline]:
    """The pipelines of a shell text, those inside `$(…)` only as part of their command."""
    text = _CUT_WORD.sub("", text)
    text = _BRACES.sub(lambda found: found[1] + found[2].replace(",", " "), text)
    text = _FAR.sub("\u00bf", text)
    root = _PARSER.parse(text.encode("utf-8", "replace")).root_node
    yield from _Reader(first_line).pipelines(root)


def is_unknown(word: str) -> bool:
    return UNKNOWN in word
