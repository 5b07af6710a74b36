"""Find the agent files of some places and read them, each file once as long as it is unchanged."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agents.library import names, reading
from agents.library.definition import AgentDefinition, Dialect
from agents.library.places import Place
from agents.library.warning import warn
from outside.sentences import phrase as _

MAX_DEPTH = 12
MAX_FILES = 10_000  # in one place
_SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".venv"})

_SETTLED_NS = 100_000_000  # clocks of file systems are coarse

_Signature = tuple[int, int, int, int]
_Key = tuple[str, Dialect | None, Path]


@dataclass(frozen=True, slots=True)
class Found:
    """A definition and where it was found; `relative` is its path below the place's folder."""

    definition: AgentDefinition
    place: Place
    relative: str


class Loader:
    """Remembers what it read by path, and reads again what has another time, size or inode.

    A file that changed just before it was read is not remembered: its next change could carry
    the same time. May be shared by threads and conversations.
    """

    def __init__(self, *, remembers: int = 50_000) -> None:
        self._remembers = remembers
        self._known: dict[_Key, tuple[_Signature, AgentDefinition]] = {}

    def load(self, places: Iterable[Place]) -> tuple[Found, ...]:
        """Every `.md` file of the places, in the order of the places and of sorted paths.

        What cannot be read is there too, as a skipped definition that says why. A folder that
        does not exist holds nothing.
        """
        return tuple(
            Found(self._read(place, path), place, names.readable(relative))
            for place in places
            for relative, path in agent_files(place.folder, root=place.root)
        )

    def _read(self, place: Place, path: str) -> AgentDefinition:
        key = (path, place.dialect, place.root)
        try:
            signature = _signature(path)
        except OSError as fault:
            return _unreadable(path, place.dialect, fault.strerror or _("no such file"))
        known = self._known.get(key)
        if known is not None and known[0] == signature:
            return known[1]
        started_ns = time.time_ns()
        definition = _read_inside(path, place)
        if started_ns - signature[1] > _SETTLED_NS:
            self._remember(key, (signature, definition))
        return definition

    def _remember(self, key: _Key, entry: tuple[_Signature, AgentDefinition]) -> None:
        while len(self._known) >= self._remembers:
            self._known.pop(next(iter(self._known), key), None)
        self._known[key] = entry


def _signature(path: str) -> _Signature:
    status = os.stat(path)  # noqa: PTH116 (once for each file of each dispatch)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def agent_files(folder: Path, *, root: Path | None = None) -> Iterator[tuple[str, str]]:
    """(path below the folder, whole path) of each Markdown file, sorted.

    Links to folders are followed once each, after real folders, and never out of `root`
    (default: the folder itself).
    """
    limit = os.path.realpath(root or folder)
    found: list[tuple[str, str]] = []
    waiting = [("", str(folder), 0)]
    visited: set[str] = set()
    while waiting and len(found) <= MAX_FILES:
        relative, path, depth = waiting.pop()
        for entry in _entries(path, visited, limit):
            below = f"{relative}{entry.name}"
            if not _is_folder(entry):
                if entry.name.lower().endswith(".md"):
                    found.append((below, entry.path))
            elif depth < MAX_DEPTH and entry.name not in _SKIPPED_FOLDERS:
                place = 0 if entry.is_symlink() else len(waiting)
                waiting.insert(place, (f"{below}/", entry.path, depth + 1))
    yield from sorted(found)[:MAX_FILES]


def read_file(path: str, *, dialect: Dialect | None = None, real: str = "") -> AgentDefinition:
    """The file at `path` as a definition, a skipped one when it cannot be read. `real` is where
    it truly lies, when links were resolved: a link put in its place since is not followed.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if real else 0)
    try:
        with os.fdopen(os.open(real or path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return _unreadable(path, dialect, _("not a regular file"))
            data = file.read(reading.MAX_BYTES + 1)
    except (OSError, ValueError) as fault:
        return _unreadable(path, dialect, getattr(fault, "strerror", None) or str(fault))
    return reading.read_bytes(data, path=names.readable(path), dialect=dialect)


def _read_inside(path: str, place: Place) -> AgentDefinition:
    """The file, unless it is a link that leads out of the place's root."""
    real = os.path.realpath(path)
    if not _is_inside(real, os.path.realpath(place.root)):
        return _unreadable(path, place.dialect, _("a link that leads out of its folder"))
    return read_file(path, dialect=place.dialect, real=real)


def _is_inside(real: str, root: str) -> bool:
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def _entries(path: str, visited: set[str], limit: str) -> list[os.DirEntry[str]]:
    """What a folder holds; nothing when it lies outside, was visited or cannot be read."""
    real = os.path.realpath(path)
    if real in visited or not _is_inside(real, limit):
        return []
    visited.add(real)
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _unreadable(path: str, dialect: Dialect | None, reason: str) -> AgentDefinition:
    empty = AgentDefinition(dialect or Dialect.NONE, path=names.readable(path))
    return empty.skipped(
        warn("unreadable", _("The file cannot be read: %(reason)s.") % {"reason": reason})
    )
