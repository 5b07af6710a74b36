"""What a shell's words come to without running anything: quotes, escapes and plain variables."""

import re
from collections.abc import Mapping

from tree_sitter import Node

UNKNOWN = "\0"
"""Stands for a part that only a running shell knows."""

_ANSI_C = re.compile(
    r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|.)", re.DOTALL
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b",
            "f": "\f", "v": "\v"}  # fmt: skip
_STANDARD = {"HOME": "~", "IFS": " ", "PWD": ".", "USER": UNKNOWN, "SHELL": "sh", "BASH": "bash"}
_SUBSTITUTIONS = {"command_substitution", "process_substitution"}


def raw(node: Node) -> str:
    """The node as it stands in the text."""
    return (node.text or b"").decode("utf-8", "replace")


def value(node: Node, variables: Mapping[str, str]) -> str:
    """The word that the node comes to; UNKNOWN where a running shell would have to say."""
    match node.type:
        case "raw_string":
            return raw(node)[1:-1]
        case "ansi_c_string":
            return unescape(raw(node)[2:-1])
        case "word" | "string_content" | "heredoc_content" | "variable_name" | "number":
            return _unquote(raw(node), in_string=node.type == "string_content")
        case "simple_expansion":
            return lookup(raw(node)[1:], variables)
        case "expansion":
            return _expansion(node, variables)
        case kind if kind in _SUBSTITUTIONS or kind == "arithmetic_expansion":
            return printed(node) if kind == "command_substitution" else UNKNOWN
        case "string" | "translated_string" | "concatenation" | "command_name":
            return _parts(node, variables)
    return _parts(node, variables) if node.named_child_count else raw(node)


def printed(node: Node) -> str:
    """What `$(echo word)` or `$(printf word)` prints when its words are plain; else UNKNOWN."""
    text = raw(node).strip("`$() \n")
    found = re.fullmatch(r"(?:echo|printf)\s+(?:-[neE]+\s+)?(['\"]?)([^'\"`$|;&<>]*)\1", text)
    return unescape(found[2]) if found else UNKNOWN


def unescape(text: str) -> str:
    """Backslash escapes as `$'…'` and `printf` read them."""
    return _ANSI_C.sub(_escape, text)


def lookup(name: str, variables: Mapping[str, str]) -> str:
    if name in variables:
        return variables[name]
    # "$@", "$*" and unset positional parameters come to nothing inside a word.
    return "" if name in {"@", "*", "!"} or name.isdigit() else _STANDARD.get(name, UNKNOWN)


def _parts(node: Node, variables: Mapping[str, str]) -> str:
    """Children joined, with the plain text that stands between them."""
    source, start = node.text or b"", node.start_byte
    out, at = [], node.start_byte
    quoted = node.type in {"string", "translated_string"}
    for child in node.named_children:
        out.append(_between(source[at - start : child.start_byte - start], quoted=quoted))
        out.append(value(child, variables))
        at = child.end_byte
    out.append(_between(source[at - start :], quoted=quoted))
    return "".join(out)


def _between(text: bytes, *, quoted: bool) -> str:
    plain = text.decode("utf-8", "replace")
    return plain.replace('"', "").lstrip("$") if quoted else _unquote(plain, in_string=False)


def _unquote(text: str, *, in_string: bool) -> str:
    if "\\" not in text:
        return text
    if in_string:
        return re.sub(r"\\([$`\"\\])|\\\n", r"\1", text)
    return re.sub(r"\\\n|\\(.)", lambda found: found[1] or "", text)


def _expansion(node: Node, variables: Mapping[str, str]) -> str:
    text = raw(node)[2:-1]
    found = re.match(r"!?([A-Za-z_]\w*|[@*0-9])(.*)", text, re.DOTALL)
    if not found:
        return UNKNOWN
    name, rest = found[1], found[2]
    if text.startswith("!"):
        return lookup(lookup(name, variables), variables)
    known = lookup(name, variables)
    if not rest:
        return known
    if default := re.match(r":?[-=](.*)", rest, re.DOTALL):
        return known if known != UNKNOWN else default[1].strip("\"'")
    if sliced := re.match(r":\s*(\d+)(?::\s*(\d+))?$", rest):
        start = int(sliced[1])
        return known[start : start + int(sliced[2])] if sliced[2] else known[start:]
    if replaced := re.match(r"//?([^/]+)/?(.*)$", rest):
        return known.replace(replaced[1], replaced[2])
    return UNKNOWN


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else UNKNOWN
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return _LETTERS.get(code, code)
