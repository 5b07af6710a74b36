"""How what stands on disk relates to the lock and to the rows, told and enforced."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from outside.sentences import phrase as _
from skills.scanning import File

from . import glances, install
from .lockfile import NAME, Lock, LockMismatch, LockUnreadable, State
from .models import Skill

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """`problem` is "" when the lock was read; else a sentence, and no skill may be read.
    `states`: by name, everything that the lock, the rows or the disk know."""

    problem: str = ""
    states: Mapping[str, State] = field(default_factory=dict)

    @property
    def is_sound(self) -> bool:
        return not self.problem and set(self.states.values()) <= {State.MATCHED}


@dataclass(frozen=True, slots=True)
class Readable:
    """What a reader may use: the files of each skill that is exactly what was accepted; and for
    each other one a sentence that says why not."""

    files: Mapping[str, Mapping[str, File]]
    withheld: Mapping[str, str]


def look(workspace_id: UUID, *, in_full: bool = False) -> Standing:
    """Of the bound workspace, for people. `in_full` reads all bytes; else what looks untouched
    since it was read is not read again (`glances`), which no reader of skills relies on."""
    digests = dict(Skill.objects.values_list("slug", "digest"))
    try:
        lock = install.read_lock(workspace_id)
    except LockUnreadable as error:
        return Standing(unreadable(error))
    names = {*digests, *lock.pins, *_folders(workspace_id)}
    return Standing(
        states={
            name: _state(workspace_id, name, lock, digests.get(name), in_full=in_full)
            for name in sorted(names)
        }
    )


def readable(workspace_id: UUID, slugs: Collection[str]) -> Readable:
    """The named skills of the bound workspace, as far as they may be read now."""
    rows = {row.slug: row for row in Skill.objects.filter(slug__in=slugs)}
    files: dict[str, Mapping[str, File]] = {}
    withheld: dict[str, str] = {}
    try:
        lock = install.read_lock(workspace_id) if rows else Lock()
    except LockUnreadable as error:
        log.warning("the skills of %s are not read: %s", workspace_id, error)
        return Readable({}, dict.fromkeys(slugs, unreadable(error)))
    for slug in slugs:
        if (row := rows.get(slug)) is None or not row.is_usable:
            withheld[slug] = sentence(slug, None if row is None else "held")
            continue
        try:
            files[slug] = _require(workspace_id, row, lock)
        except LockMismatch as error:
            log.warning("the skill %s of %s is not read: %s", slug, workspace_id, error.state)
            withheld[slug] = sentence(slug, error.state)
    return Readable(files, withheld)


def checked(workspace_id: UUID, slug: str) -> Mapping[str, File]:
    """The files of one skill, read once and found to be those of lock and row: what a reader may
    use. Raises LockUnreadable or LockMismatch, and then nothing may be read."""
    row = Skill.objects.filter(slug=slug).first()
    lock = install.read_lock(workspace_id)
    if row is None or not row.is_usable:
        raise LockMismatch(slug, State.UNRECORDED)
    return _require(workspace_id, row, lock)


def sentence(slug: str, state: "State | str | None") -> str:
    """Why a skill is not read, for people and for the run's journal."""
    return {
        None: _("There is no skill %(name)s in this workspace."),
        "held": _("The skill %(name)s is not used: its last verdict is not accepted."),
        State.DRIFTED: _(
            "The skill %(name)s is not used: its files are not those that were scanned. Restore or "
            "uninstall it."
        ),
        State.MISSING: _(
            "The skill %(name)s is not used: its files are gone. Restore or uninstall it."
        ),
        State.UNLISTED: _(
            "The skill %(name)s is not used: the lock does not name it. Install it again."
        ),
        State.UNRECORDED: _(
            "The skill %(name)s is not used: lock and workspace disagree about it. Restore it."
        ),
    }[state] % {"name": slug}


def unreadable(error: LockUnreadable) -> str:
    """What is said of a lock that cannot be read."""
    return _(
        "%(file)s cannot be read, so no skill is used: %(problem)s. Put the file back, or rebuild "
        "it with restore_skills --rebuild-lock."
    ) % {"file": NAME, "problem": str(error)[:200]}


def _require(workspace_id: UUID, row: Skill, lock: Lock) -> Mapping[str, File]:
    pin = lock.pins.get(row.slug)
    if pin is not None and pin.digest != row.digest:
        raise LockMismatch(row.slug, State.UNRECORDED)
    files = _read(workspace_id, row.slug)
    lock.require(row.slug, files)
    assert files is not None
    return files


def _state(
    workspace_id: UUID, name: str, lock: Lock, recorded: str | None, *, in_full: bool
) -> State:
    pin = lock.pins.get(name)
    if pin is not None and pin.digest != recorded:
        return State.UNRECORDED
    if in_full:
        return lock.state(name, _read(workspace_id, name))
    try:
        return lock.state_of(name, glances.digest_of(install.root(workspace_id) / name))
    except OSError:
        return lock.state_of(name, "")


def _read(workspace_id: UUID, name: str) -> Mapping[str, File] | None:
    """The files on disk; a directory that cannot be read counts as changed."""
    try:
        return install.read(install.root(workspace_id) / name)
    except OSError:
        return {}


def _folders(workspace_id: UUID) -> set[str]:
    """What lies beside the lock, without our own working directories."""
    try:
        names = {entry.name for entry in install.root(workspace_id).iterdir()}
    except FileNotFoundError:
        return set()
    return {name for name in names if name != NAME and not name.startswith(install.WORK)}
