"""Bringing back what the lock names: on a fresh machine, or after files were lost or changed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from workspaces.models import Principal

RESTORE = "skills.tasks.restore"


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one entry of the lock: `kept`, `restored`, or `failed` with a sentence."""

    name: str
    outcome: str
    sentence: str = ""


def ask_restore(*, by: Principal, names: Collection[str] = ()) -> None:
    """On commit the named skills (or all that do not match) are brought back in the background."""
    raise NotImplementedError


def restore(workspace_id: UUID, *, names: Collection[str] = ()) -> Sequence[Restored]:
    """Each skill of the lock stands again with exactly the locked bytes, fetched at the locked
    commit and through the same gate; what cannot be had is left out and said.

    Raises lockfile.LockUnreadable.
    """
    raise NotImplementedError
