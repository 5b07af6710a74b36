"""How what stands on disk relates to the lock and to the rows, told and enforced."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from .lockfile import State
from .scanning import File


@dataclass(frozen=True, slots=True)
class Standing:
    """`problem` is "" when the lock was read; else a sentence, and no skill may be read.
    `states`: by name, everything that the lock, the rows or the disk know."""

    problem: str
    states: Mapping[str, State]


def look(workspace_id: UUID) -> Standing:
    """Of the bound workspace, in full: each skill's files are read and compared."""
    raise NotImplementedError


def checked(workspace_id: UUID, slug: str) -> Mapping[str, File]:
    """The files of one skill, read once and found to be those of lock and row: what a reader may
    use. Raises lockfile.LockUnreadable or lockfile.LockMismatch, and then nothing may be read."""
    raise NotImplementedError
