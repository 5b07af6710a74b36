"""`Agent(name)` in `permissions` of settings files: who may be started as a subagent, and who is
asked about first.

Read from the organisation's folder, the member's home and the checkouts. A repository's files only
tighten: its `allow` is not read.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from outside.git import folders
from workspaces.models import Principal
from workspaces.tenancy import writable_workspace

from .library.delegates import called_types
from .paths import workspace_directory
from .shelves import home_of
from .surroundings import MOST_CONFIG_BYTES, Project

FILES = tuple(
    f"{vendor}/{name}"
    for vendor in (".fuxi", ".claude")
    for name in ("settings.json", "settings.local.json")
)
ALL = "*"


@dataclass(frozen=True, slots=True)
class AgentRules:
    """Names of definitions, `*` for each. A denied one cannot be started."""

    denied: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()

    def denies(self, name: str) -> bool:
        return bool({name, ALL} & self.denied)

    def asks(self, name: str, *, by_default: bool) -> bool:
        """Whether a person is asked before this one is started."""
        if {name, ALL} & self.asked:
            return True
        return by_default and not {name, ALL} & self.allowed


@dataclass(slots=True)
class _Found:
    words: dict[str, set[str]] = field(
        default_factory=lambda: {"deny": set(), "ask": set(), "allow": set()}
    )

    def take(self, root: Path, *, widens: bool) -> None:
        for name in FILES:
            data = folders.read(root, name, limit=MOST_CONFIG_BYTES)
            permissions = _permissions(data) if data else {}
            for word in ("deny", "ask", "allow"):
                if word != "allow" or widens:
                    self.words[word].update(_names(permissions.get(word)))


def rules_of(member: Principal | None, projects: Sequence[Project]) -> AgentRules:
    """The rules that hold in the bound workspace for this member's work in these checkouts."""
    workspace_id, found = writable_workspace(), _Found()
    found.take(workspace_directory(workspace_id) / "organisation", widens=True)
    if member is not None:
        found.take(home_of(workspace_id, member), widens=True)
    for project in projects:
        found.take(project.root, widens=False)
    return AgentRules(*(frozenset(found.words[word]) for word in ("deny", "ask", "allow")))


def _permissions(data: bytes) -> dict[str, object]:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    found = values.get("permissions") if isinstance(values, dict) else None
    return found if isinstance(found, dict) else {}


def _names(entries: object) -> Iterable[str]:
    """`Agent` and `Task` alone are every name, `Agent(a, b)` these two; other tools are not ours to
    read here."""
    for entry in entries if isinstance(entries, list) else ():
        types = called_types(entry) if isinstance(entry, str) else None
        if types is not None:
            yield from types or (ALL,)
