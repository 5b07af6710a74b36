"""Read a shell line into its simple commands, however they are nested, without running anything.

Loops, branches, functions, substitutions and process substitutions all count as run. What only a
running shell knows (`$x`, `$(…)`, `*`) is a None in the words. What cannot be parsed raises, so
that the caller can be strict about it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter
import tree_sitter_bash

from guardrails.actions import Word, Words

MOST_BYTES = 65_536

_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_JOINED = re.compile(rb"[^\s\\]\\\n\S")
# The grammar looks letters up in a table of 256 and reads beyond it for others, which can take the
# process down; so it gets those letters spelled, as a word that means nothing to a shell.
_FAR = re.compile(r"[^\x00-\xff]")
_SPELLED = re.compile(r",x([0-9a-f]{3,6}),")
_GLOB = re.compile(r"(?<!\\)[*?\[]")
_BRACES = re.compile(r"\{[^{}]*(,|\.\.)[^{}]*\}")
_SKIPPED = frozenset({"variable_assignment", "file_redirect", "herestring_redirect",
                      "heredoc_redirect", "comment"})  # fmt: skip


class UnreadableLine(ValueError):
    """The line is no shell that we understand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """`words` without assignments and redirections; `stdin` is the text of a here-document."""

    words: Words
    assigned: tuple[str, ...] = ()
    stdin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Every simple command of a line in the order of its text, and every file it redirects to."""

    commands: tuple[SimpleCommand, ...]
    writes: tuple[Word, ...]


def read(line: str) -> Script:
    """The commands of a line. Raises UnreadableLine."""
    if _CONTROL.search(line):
        raise UnreadableLine("A control character.")
    try:
        source = line.encode()
    except UnicodeEncodeError as error:
        raise UnreadableLine("Not valid text.") from error
    if len(source) > MOST_BYTES:
        raise UnreadableLine("Too long.")
    if _SPELLED.search(line):
        raise UnreadableLine("It looks like one of our own marks.")
    source = _FAR.sub(lambda found: f",x{ord(found[0]):x},", line).encode()
    # A parser keeps state while it works, so each call has its own: threads read at once.
    tree = tree_sitter.Parser(_LANGUAGE).parse(source)
    if tree.root_node.has_error:
        raise UnreadableLine("Not valid shell.")
    if any(_splits_a_word(tree.root_node, found) for found in _JOINED.finditer(source)):
        raise UnreadableLine("A line is continued inside a word.")
    nodes = list(_walk(tree.root_node))
    return Script(
        commands=tuple(_command(node) for node in nodes if node.type in _COMMANDS),
        writes=tuple(_write_targets(nodes)),
    )


def _splits_a_word(root: tree_sitter.Node, found: re.Match[bytes]) -> bool:
    """The parser sees two words where a shell would see one; inside quotes it does no harm."""
    at = found.start() + 1
    node = root.descendant_for_byte_range(at, at + 1)
    return node is None or node.type not in _QUIET


_QUIET = frozenset({"string_content", "string", "raw_string", "heredoc_body", "comment"})
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})


def _walk(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _command(node: tree_sitter.Node) -> SimpleCommand:
    words: list[Word] = []
    assigned: list[str] = []
    for child in node.children:
        if child.type == "variable_assignment":
            assigned.append(_text(child.children[0]))
        if child.type == "command_name":
            words.append("[" if _text(child) == "[" else _word(child.children[0]))
        elif child.type not in _SKIPPED:
            words.append(_word(child))
    return SimpleCommand(words=tuple(words), assigned=tuple(assigned), stdin=_stdin(node))


def _stdin(node: tree_sitter.Node) -> str | None:
    for child in node.children:
        if child.type == "herestring_redirect":
            return _word(child.children[-1])
    statement = node.parent
    if statement is None or statement.type != "redirected_statement":
        return None
    for redirect in statement.children:
        bodies = [part for part in redirect.children if part.type == "heredoc_body"]
        if redirect.type == "heredoc_redirect" and bodies:
            return _text(bodies[0])
    return None


def _write_targets(nodes: list[tree_sitter.Node]) -> Iterator[Word]:
    for node in nodes:
        if node.type == "file_redirect" and any(
            ">" in child.type for child in node.children if not child.is_named
        ):
            target = node.child_by_field_name("destination")
            if target is not None and target.type != "number":
                yield _word(target)


# ---------------------------------------------------------------- words


def _word(node: tree_sitter.Node) -> Word:
    """What the shell would make of it, or None when only the shell can know."""
    text = _text(node)
    match node.type:
        case "raw_string":
            return text[1:-1]
        case "ansi_c_string":
            return _decode_ansi(text[2:-1])
        case "string":
            return None if _expands(node) else _unquote(text[1:-1])
        case "concatenation":
            parts = [_word(child) for child in node.children]
            return None if None in parts or _BRACES.search(text) else "".join(map(str, parts))
        case "word" | "number" | "variable_name":
            return _bare(text)
    # Operators and keywords such as `export` are their own text.
    return text if not node.is_named or node.type in _LITERAL else None


_LITERAL = frozenset({"special_character", "test_operator", "{", "}"})


def _bare(text: str) -> Word:
    if _GLOB.search(text) or _BRACES.search(text):
        return None
    return re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""), flags=re.DOTALL)


def _unquote(text: str) -> str:
    return re.sub(r'\\([$`"\\])', r"\1", text.replace("\\\n", ""))


def _expands(node: tree_sitter.Node) -> bool:
    return any(child.is_named and child.type != "string_content" for child in node.children)


def _decode_ansi(text: str) -> Word:
    if re.search(r"\\[cCeE]", text):
        return None
    try:
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except UnicodeDecodeError:
        return None


def _text(node: tree_sitter.Node) -> str:
    text = (node.text or b"").decode()
    return _SPELLED.sub(lambda found: chr(int(found[1], 16)), text)
