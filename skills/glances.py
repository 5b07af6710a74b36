"""The digest of a skill's directory for a page: read once, then again when anything below it has
another name, kind, size, time or inode.

A glance decides nothing: whoever uses a skill's bytes reads and compares them (`standing.readable`,
`standing.checked`). So do the restore, the rescan and `check_skills`.
"""

import os
import threading
import time
from pathlib import Path

from skills.scanning import LIMITS, digest

from . import install

REMEMBERED = 5_000  # directories of all workspaces
MOST_ENTRIES = 2 * LIMITS.files
SETTLED_NS = 100_000_000  # clocks of file systems are coarse

Signature = tuple[tuple[str, int, int, int, int, int], ...]
_known: dict[str, tuple[Signature, str]] = {}
_lock = threading.Lock()


def digest_of(folder: Path) -> str | None:
    """The digest of what stands there; None when nothing does. Raises OSError."""
    key, seen = str(folder), _signature(folder)
    known = _known.get(key)
    if seen is not None and known is not None and known[0] == seen:
        return known[1]
    started = time.time_ns()
    files = install.read(folder)
    if files is None:
        return None
    found = digest(files)
    # What changed just before or while it was read is not remembered.
    if seen and _newest(seen) < started - SETTLED_NS and _signature(folder) == seen:
        _remember(key, seen, found)
    return found


def _remember(key: str, seen: Signature, found: str) -> None:
    with _lock:
        _known.pop(key, None)
        while len(_known) >= REMEMBERED:
            _known.pop(next(iter(_known)))
        _known[key] = (seen, found)


def _newest(seen: Signature) -> int:
    return max(max(mtime, ctime) for _name, _mode, _size, mtime, ctime, _inode in seen)


def _signature(folder: Path) -> Signature | None:
    """Everything at and below the folder, links as links; None when it is no plain directory or
    holds more than any skill may."""
    try:
        if folder.is_symlink() or not folder.is_dir():
            return None
        found, waiting = [_line("", folder.lstat())], [str(folder)]
        while waiting:
            here = waiting.pop()
            with os.scandir(here) as entries:
                for entry in entries:
                    found.append(_line(entry.path, entry.stat(follow_symlinks=False)))
                    if len(found) > MOST_ENTRIES:
                        return None
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    except OSError:
        return None
    return tuple(sorted(found))


def _line(path: str, status: os.stat_result) -> tuple[str, int, int, int, int, int]:
    times = status.st_mtime_ns, status.st_ctime_ns
    return (path, status.st_mode, status.st_size, *times, status.st_ino)
