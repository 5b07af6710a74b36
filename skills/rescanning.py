"""New rules judge again what is installed."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from workspaces.models import Principal

from .models import Skill

RESCAN = "skills.tasks.rescan"


@dataclass(frozen=True, slots=True)
class Change:
    """A skill whose standing changed: what it was and is (`Skill.Decision`, or how its files differ
    from the lock)."""

    skill: Skill
    before: str
    now: str


def ask_rescan(*, by: Principal) -> None:
    """On commit everything installed is scanned again in the background."""
    raise NotImplementedError


def rescan(workspace_id: UUID, *, everything: bool = False) -> Sequence[Change]:
    """Skills that were judged by other rules than today's (or all) are scanned again; one that now
    fails is unlinked at once. An acceptance by a person holds for the findings it was given for."""
    raise NotImplementedError


def accept(skill: Skill, *, by: Principal, note: str) -> None:
    """An admin lets an installed skill that new rules hold or refuse go on, on record.

    Raises holds.CannotDecide when nobody may.
    """
    raise NotImplementedError
