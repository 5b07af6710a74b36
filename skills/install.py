"""The only writer of skill files: exactly the bytes that a verdict was given on.

Directory, lock entry, row and links change together inside the caller's bound transaction, one
workspace at a time (`turn`). The new directory is complete and on disk before it takes its place in
one step; when the transaction fails, also at its commit, everything is put back. A process that is
killed leaves a `.work-…` directory beside the skills, from which `recovery` tells what to do.
"""

import ctypes
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from outside.crashpoint import crashpoint
from skills.scanning import LIMITS, Decision, File, digest
from workspaces.files import replace_file, sync_folder
from workspaces.models import HANDLE
from workspaces.tenancy import on_rollback, writable_workspace
from workspaces.turns import take_turn

from . import lockfile
from .models import Skill

WORK = ".work-"
LINK = 0o120000
_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotThoseBytes(RuntimeError):
    """What is to be written is not what the verdict was given on."""


def turn() -> None:
    """Until the transaction ends nobody else changes the skills of the bound workspace."""
    take_turn("skills")


def put(skill: Skill, files: Mapping[str, File]) -> None:
    """The skill stands in the workspace: directory, lock entry, row and links say the same.

    Raises NotThoseBytes unless the row says that exactly these bytes were accepted. Then, and on
    any other error, nothing has changed once the transaction has rolled back.
    """
    assert skill.workspace_id in {None, writable_workspace()}
    if digest(files) != skill.digest or not skill.is_usable:
        raise NotThoseBytes(skill.slug)
    turn()
    workspace_id = writable_workspace()
    lock = read_lock(workspace_id)
    _replace_directory(directory(workspace_id, skill.slug), files)
    crashpoint("skill-directory")
    write_lock(workspace_id, lock.with_pin(skill.slug, pin_of(skill)))
    crashpoint("skill-lock")
    skill.save()
    tell_links([skill.slug])
    crashpoint("skill-row")


def take_away(skill: Skill) -> None:
    """Directory, lock entry, row and links of the skill are gone, together."""
    turn()
    workspace_id = writable_workspace()
    lock = read_lock(workspace_id)
    place = directory(workspace_id, skill.slug)
    if place.is_symlink() or place.exists():
        work = _work(place, wanted="")
        _step(place.rename, work / "old", undo=lambda: _rename(work / "old", place))
    crashpoint("skill-directory")
    write_lock(workspace_id, lock.without(skill.slug))
    slug = skill.slug
    skill.delete()
    tell_links([slug])


def tell_links(slugs: Collection[str]) -> None:
    """Whoever links these skills does so as their verdicts say now."""
    import_string(settings.CC_SKILLS_CHANGED)(slugs)


def root(workspace_id: UUID) -> Path:
    return settings.DATA_DIR / "workspaces" / str(workspace_id) / "skills"


def directory(workspace_id: UUID, slug: str) -> Path:
    """Where a skill of the workspace stands."""
    if not HANDLE.match(slug):
        raise ValueError(f"{slug!r} is not a name that a directory may have.")
    return root(workspace_id) / slug


# -- the lock ----------------------------------------------------------------------------------


def read_lock(workspace_id: UUID) -> lockfile.Lock:
    """The lock of the bound workspace. Raises lockfile.LockUnreadable, also when the file is gone
    while the workspace has skills: a lock is never taken for an empty one."""
    file = root(workspace_id) / lockfile.NAME
    try:
        data = _read_file(file, lockfile.LARGEST + 1)
    except FileNotFoundError:
        if Skill.objects.exists():
            raise lockfile.LockUnreadable(f"{lockfile.NAME} is missing") from None
        return lockfile.Lock()
    except OSError as error:
        raise lockfile.LockUnreadable(f"{lockfile.NAME}: {error.strerror}") from error
    return lockfile.parse(data)


def write_lock(workspace_id: UUID, lock: lockfile.Lock) -> None:
    """The lock file says this; it says what it said before when the transaction fails."""
    file = root(workspace_id) / lockfile.NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    before = None
    with suppress(OSError):  # nothing there, or no file: then there is nothing to bring back
        before = _read_file(file, lockfile.LARGEST + 1)

    def undo() -> None:
        if before is None:
            file.unlink(missing_ok=True)
        else:
            replace_file(file, before, prefix=f"{WORK}lock-")

    on_rollback(undo)
    replace_file(file, lockfile.dump(lock), prefix=f"{WORK}lock-")


def pin_of(skill: Skill) -> lockfile.Pin:
    """The lock entry of a row."""
    folder = f"{skill.path}/" if skill.path else ""
    return lockfile.Pin(
        source=_source(skill),
        source_type=skill.source_type or lockfile.LOCAL,
        source_url=skill.source_address,
        ref=skill.ref,
        skill_path=f"{folder}{skill.skill_file}",
        commit=skill.commit,
        tree_sha=skill.tree_sha,
        digest=skill.digest,
        computed_hash=skill.computed_hash,
        previous_digest=skill.previous_digest,
        verdict=lockfile.Given(
            Decision.ACCEPTED, skill.ruleset, skill.scanned_at, skill.accepted_by_name or "rule"
        ),
    )


def _source(skill: Skill) -> str:
    """What the public command line takes as a source: `owner/name`, else the address."""
    if skill.origin != Skill.Origin.SOURCE:
        return f"control-center:{skill.origin}"
    return skill.source_name if skill.source_type == "github" else skill.source_address


# -- directories -------------------------------------------------------------------------------


def read(folder: Path) -> dict[str, File] | None:
    """What stands in a skill's directory, links as links, read without following any; None when
    there is no directory. Reading stops above the scanner's ceilings, which no lock matches."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return {folder.name: File(LINK, b"")}
    files: dict[str, File] = {}
    total = 0
    for current, names, entries in os.walk(folder):
        links = [name for name in names if (Path(current) / name).is_symlink()]
        for name in sorted([*entries, *links]):
            path = Path(current) / name
            file = _read_entry(path)
            files[path.relative_to(folder).as_posix()] = file
            total += len(file.data)
            if total > LIMITS.total or len(files) > LIMITS.files:
                return files
    return files


def write_files(folder: Path, files: Mapping[str, File], *, lasting: bool = True) -> None:
    """A new directory holds exactly these files, `lasting` ones safe from a loss of power. Links
    come last, so that no file is written through one."""
    folder.mkdir(mode=0o755)
    for path, file in sorted(files.items(), key=lambda one: (one[1].is_link, one[0])):
        _write_one(folder, path, file, lasting=lasting)
        crashpoint("skill-file")
    if lasting:
        for current, _, _ in os.walk(folder, topdown=False):
            sync_folder(Path(current))


def _write_one(folder: Path, path: str, file: File, *, lasting: bool) -> None:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or {"..", "."} & set(path.split("/")) or "\0" in path:
        raise NotThoseBytes(path[:80])
    place = folder
    for part in parts[:-1]:
        place = place / part
        place.mkdir(mode=0o755, exist_ok=True)
        if place.is_symlink():
            raise NotThoseBytes(path[:80])
    place = place / parts[-1]
    if file.is_link:
        place.symlink_to(os.fsdecode(file.data))
        return
    if file.is_submodule:
        raise NotThoseBytes(path[:80])
    descriptor = os.open(place, _FILE, 0o755 if file.is_executable else 0o644)
    with os.fdopen(descriptor, "wb") as out:
        out.write(file.data)
        if lasting:
            out.flush()
            os.fsync(out.fileno())


def _replace_directory(place: Path, files: Mapping[str, File]) -> None:
    """The new directory takes its place in one step; what stood there is gone with the commit."""
    work = _work(place, wanted=digest(files))
    new = work / "new"
    write_files(new, files)
    crashpoint("skill-written")
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        _step(place.rename, work / "odd", undo=lambda: _rename(work / "odd", place))
    if place.exists():
        _step(lambda to: swap(new, to), place, undo=lambda: swap(new, place))
    else:
        _step(new.rename, place, undo=lambda: _rename(place, new))
    sync_folder(place.parent)


def wanted(work: Path) -> str:
    """The digest of what a working directory was made to write; "" for an uninstall."""
    try:
        return (work / "wanted").read_text()
    except FileNotFoundError:
        return ""


def _work(place: Path, *, wanted: str) -> Path:
    """A directory of our own beside the skills, gone with the end of the transaction. It says what
    is to stand in the end, for who finds it after a kill."""
    place.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{WORK}{place.name}-", dir=place.parent))
    on_rollback(lambda: shutil.rmtree(work, ignore_errors=True))
    transaction.on_commit(lambda: shutil.rmtree(work, ignore_errors=True))
    (work / "wanted").write_text(wanted)
    return work


def _step(act: Callable[[Path], object], to: Path, *, undo: Callable[[], None]) -> None:
    act(to)
    on_rollback(undo)


def _rename(old: Path, new: Path) -> None:
    old.rename(new)


def swap(one: Path, other: Path) -> None:
    """Two directories change places: in one step where the system has it, else in three, which
    `recovery` can tell apart."""
    if _swap_at_once(one, other):
        return
    aside = one.with_name("aside")
    other.rename(aside)
    crashpoint("skill-aside")
    one.rename(other)
    aside.rename(one)


def _swap_at_once(one: Path, other: Path) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    a, b = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return bool(library.renamex_np(a, b, 2) == 0)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return bool(library.renameat2(-100, a, -100, b, 2) == 0)
    return False


def _read_entry(path: Path) -> File:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return File(LINK, os.fsencode(path.readlink()))
    if not stat.S_ISREG(found.st_mode):
        return File(LINK, b"")
    return File(0o100755 if found.st_mode & 0o111 else 0o100644, _read_file(path, LIMITS.total + 1))


def _read_file(path: Path, most: int) -> bytes:
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path.name} is no file")
        return file.read(most)
