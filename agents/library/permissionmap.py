"""OpenCode's `permission`, as far as it says which tools an agent has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.library.yamlread import Value

_COVERS = {"edit": ("edit", "write")}  # every change of a file goes by the name `edit`
_GUARDS = frozenset({"external_directory", "doom_loop"})  # they ask before an act, whatever tool
_OPEN = ("allow", "ask")


@dataclass(frozen=True, slots=True)
class PermissionMap:
    """`allowed` None: all that `denied` does not name. `patterns`: keys with rules for single
    commands or files, which say nothing about the tool as a whole.
    """

    allowed: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


def read(rules: Value) -> PermissionMap:
    """What the value under `permission` leaves; anything but a word or a map says nothing."""
    if not isinstance(rules, dict):
        return PermissionMap(allowed=() if rules == "deny" else None)
    denied = tuple(name for key in _tools(rules) if _denies(rules[key]) for name in _covered(key))
    return PermissionMap(
        allowed=_opened(rules) if _denies(rules.get("*")) else None,
        denied=denied,
        patterns=tuple(key for key, rule in rules.items() if _is_pattern(key, rule)),
    )


def _opened(rules: Mapping[str, Value]) -> tuple[str, ...]:
    """The tools that stand open behind a `*` that denies: the last word counts."""
    keys = list(rules)
    behind = keys[keys.index("*") + 1 :]
    open_keys = (key for key in _tools(rules) if key in behind and _opens(rules[key]))
    return tuple(dict.fromkeys(name for key in open_keys for name in _covered(key)))


def _tools(rules: Mapping[str, Value]) -> Iterator[str]:
    return (key for key in rules if key != "*" and " " not in key and key not in _GUARDS)


def _covered(key: str) -> tuple[str, ...]:
    return _COVERS.get(key, (key,))


def _denies(rule: Value) -> bool:
    if isinstance(rule, dict):
        return rule.get("*") == "deny" and all(answer == "deny" for answer in rule.values())
    return rule == "deny"


def _opens(rule: Value) -> bool:
    return rule in _OPEN or (isinstance(rule, dict) and not _denies(rule))


def _is_pattern(key: str, rule: Value) -> bool:
    return " " in key or (isinstance(rule, dict) and not _denies(rule))
