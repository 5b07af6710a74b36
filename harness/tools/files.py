"""Files an agent may reach: its working directory, its checkouts, and what it may only read.

A path is resolved with all its links first and must then lie in one of the places. It is opened
step by step from that place without following any link, so that a link put there in between
cannot lead out.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.seam import RunSpec

MAX_READ_BYTES = 16 * 2**20


class OutOfReach(Exception):
    """The path leads where the agent may not go; the text is a sentence for the model."""


@dataclass(frozen=True)
class Place:
    path: Path  # resolved
    writable: bool
    shown: str  # how the agent writes it
    is_worktree: bool = False


@dataclass(frozen=True)
class Found:
    """A path that was resolved: `place` holds it, `parts` lead to it from there."""

    place: Place
    parts: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.place.path.joinpath(*self.parts)

    @property
    def shown(self) -> str:
        return "/".join(part for part in (self.place.shown, *self.parts) if part) or "."

    @property
    def in_worktree(self) -> str | None:
        """The path inside its checkout; None when it lies in no checkout."""
        return "/".join(self.parts) if self.place.is_worktree else None


class Files:
    def __init__(self, spec: RunSpec) -> None:
        self.here = Path(os.path.realpath(spec.working_directory))
        may_write = spec.mode == "chat"
        places = [
            Place(_real(root.path), may_write and root.writable, f"repos/{root.name}", True)
            for root in spec.roots
        ]
        places.append(Place(self.here, may_write, ""))
        places += [Place(_real(path), False, str(path)) for path in spec.skill_directories]
        places.append(Place(_real(spec.artefact_directory), False, str(spec.artefact_directory)))
        # The innermost place decides, so that a checkout inside another one keeps its own rights.
        self.places = sorted(places, key=lambda place: len(place.path.parts), reverse=True)
        self.roots = tuple(place for place in places if place.is_worktree)

    def find(self, path: str) -> Found:
        """Where the path leads with every link resolved. Raises OutOfReach."""
        if "\0" in path:
            raise OutOfReach("A path cannot contain a NUL character.")
        if len(path) > 4096:
            raise OutOfReach("The path is too long.")
        resolved = Path(os.path.realpath(self.here / self._spelled(path)))
        for place in self.places:
            if resolved == place.path or place.path in resolved.parents:
                return Found(place, resolved.relative_to(place.path).parts)
        raise OutOfReach(
            f"{path} is outside the working directory and the checkouts; it cannot be reached."
        )

    def _spelled(self, path: str) -> str:
        """`repos/<name>/…` works also where the working directory has no link of that name."""
        for root in self.roots:
            if path == root.shown or path.startswith(f"{root.shown}/"):
                return str(root.path) + path[len(root.shown) :]
        return path or "."

    def read(self, found: Found, *, limit: int = MAX_READ_BYTES) -> bytes:
        """The bytes of a regular file. Raises OutOfReach for anything else, OSError as usual."""
        with self._opened(found, os.O_RDONLY | os.O_NONBLOCK) as handle:
            status = os.fstat(handle)
            if stat.S_ISDIR(status.st_mode):
                raise OutOfReach(f"{found.shown} is a directory.")
            if not stat.S_ISREG(status.st_mode):
                raise OutOfReach(f"{found.shown} is not a regular file.")
            if status.st_size > limit:
                raise OutOfReach(
                    f"{found.shown} has {status.st_size:,} bytes, more than can be read at once."
                    " Use grep, or read a part of it with the shell."
                )
            with os.fdopen(os.dup(handle), "rb") as file:
                return file.read(limit + 1)

    def write(self, found: Found, data: bytes) -> None:
        """Afterwards the file holds exactly `data`, or nothing has changed. Makes directories."""
        if not found.place.writable:
            raise OutOfReach(f"{found.shown} is read-only here.")
        if not found.parts or any(part.lower() == ".git" for part in found.parts):
            raise OutOfReach(f"{found.shown} belongs to git; use the git tools.")
        with self._parent(found, make=True) as parent:
            name, twin = found.parts[-1], f".cc-{secrets.token_hex(6)}"
            mode = _mode_for(parent, name, found)
            handle = os.open(
                twin, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=parent
            )
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    os.fchmod(file.fileno(), mode)
                os.replace(twin, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                os.unlink(twin, dir_fd=parent)
                raise

    @contextmanager
    def _opened(self, found: Found, flags: int) -> Iterator[int]:
        if not found.parts:
            raise OutOfReach(f"{found.shown} is a directory.")
        with self._parent(found) as parent:
            handle = _open(found.parts[-1], flags | os.O_NOFOLLOW, parent, found)
            try:
                yield handle
            finally:
                os.close(handle)

    @contextmanager
    def _parent(self, found: Found, *, make: bool = False) -> Iterator[int]:
        handle = os.open(found.place.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in found.parts[:-1]:
                if make:
                    _make_directory(part, handle)
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                inner = _open(part, flags, handle, found)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)


def _open(name: str, flags: int, parent: int, found: Found) -> int:
    try:
        return os.open(name, flags, dir_fd=parent)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise OutOfReach(f"{found.shown} turned into a link meanwhile.") from problem
        raise


def _make_directory(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        return


def _mode_for(parent: int, name: str, found: Found) -> int:
    """Permissions of the file as it is, or those of a new one."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    if not stat.S_ISREG(status.st_mode):
        raise OutOfReach(f"{found.shown} is not a regular file.")
    return stat.S_IMODE(status.st_mode)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
