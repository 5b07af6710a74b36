"""The ways to write a list of tools, all read to the same entries.

A comma splits entries only outside parentheses; `a b`, `a, b`, `[a, b]`, `["a", "b"]` and a
block list are the same. A map of switches (OpenCode) never widens to every tool.
"""

import re
from dataclasses import dataclass

from agents.library.warning import LoadWarning, warn
from agents.library.yamlread import Value
from outside.sentences import phrase as _

_NAME_ONLY = re.compile(r"[A-Za-z_*][\w.*/:-]*(\([^()]*\))?\Z")
_MAX_ENTRIES = 2_000


@dataclass(frozen=True, slots=True)
class ToolList:
    """The entries as written. `allowed` None: the key is absent or says all.

    `denied` holds what a map switches off. `shape`: `absent`, `text`, `list`, `map`, `empty`
    (the key is there and says nothing) or `other`.
    """

    allowed: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()
    shape: str = "absent"
    warnings: tuple[LoadWarning, ...] = ()


def read(key: str, value: Value, *, present: bool) -> ToolList:
    """The list under `key`. Whatever cannot be understood allows nothing and says so."""
    if not present:
        return ToolList()
    if isinstance(value, dict):
        return _from_map(key, value)
    if isinstance(value, list):
        return _from_list(key, value)
    if isinstance(value, str):
        entries = split_entries(value)
        return ToolList(entries, shape="text" if entries else "empty")
    if value is None:
        return ToolList((), shape="empty")
    sentence = _("`%(key)s` is neither a list nor text: %(value)s names no tool.") % {
        "key": key,
        "value": repr(value),
    }
    return ToolList((), shape="other", warnings=(warn(f"{_code(key)}-wrong-type", sentence),))


def split_entries(text: str) -> tuple[str, ...]:
    """The entries of a comma list, or of words side by side; quotes and brackets fall away."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    entries = [_unquoted(entry) for entry in _split_outside(text, ",\n")]
    if len(entries) == 1:
        words = _split_outside(text, " \t")
        if all(_NAME_ONLY.match(word) for word in words):
            entries = words
    return tuple(entry for entry in entries if entry)[:_MAX_ENTRIES]


def _split_outside(text: str, separators: str) -> list[str]:
    entries, depth, start = [], 0, 0
    for index, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(depth - 1, 0)
        elif char in separators and depth == 0:
            entries.append(text[start:index].strip())
            start = index + 1
    entries.append(text[start:].strip())
    return entries


def _unquoted(entry: str) -> str:
    if len(entry) > 1 and entry[0] == entry[-1] and entry[0] in "\"'`":
        return entry[1:-1].strip()
    return entry


def _from_list(key: str, value: list[Value]) -> ToolList:
    entries = tuple(item.strip() for item in value if isinstance(item, str) and item.strip())
    warnings: tuple[LoadWarning, ...] = ()
    if len(entries) != len(value):
        sentence = _("%(count)s entries of `%(key)s` are no names and match nothing.") % {
            "count": len(value) - len(entries),
            "key": key,
        }
        warnings = (warn(f"{_code(key)}-entry-wrong-type", sentence),)
    return ToolList(entries[:_MAX_ENTRIES], shape="list", warnings=warnings)


def _from_map(key: str, value: dict[str, Value]) -> ToolList:
    """`{read: true, bash: false}`: what is switched on, or all but what is switched off.

    All tools are never the answer: when nothing is switched off, only what is switched on counts.
    """
    on = tuple(name for name, state in value.items() if state is True and name != "*")
    off = tuple(name for name, state in value.items() if state is not True and name != "*")
    only_off = bool(off) and not on and value.get("*", True) is True
    return ToolList(None if only_off else on, off, shape="map")


def _code(key: str) -> str:
    return "tools" if key == "tools" else "disallowed-tools"
