"""Reading and writing below a folder that agents can change: no link is followed, at any level."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ELOOP
from pathlib import Path

from .errors import Busy, Damaged

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def is_folder(path: Path) -> bool:
    """Whether this is a directory and not a link to one."""
    with suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False


def read(root: Path, name: str, *, limit: int = 4096) -> bytes | None:
    """The beginning of a regular file below `root`, or None when there is no such file."""
    try:
        with _folder_of(root, name) as (folder, base):
            descriptor = os.open(base, _FILE, dir_fd=folder)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(limit)


def put(root: Path, name: str, content: bytes | Path, *, mode: int = 0o644) -> None:
    """Afterwards the file below `root` has this content; readers see the old or the new one.

    The new file is written as `<name>.lock`, as git does it itself, so a git at work there keeps us
    out: raises Busy. Raises Damaged when a folder on the way is a link or a file.
    """
    try:
        with _folder_of(root, name, make=True) as (folder, base):
            _replace(folder, base, content, mode)
    except FileExistsError:
        raise Busy() from None
    except (NotADirectoryError, IsADirectoryError) as error:
        raise Damaged(f"In this checkout {name} is not where git keeps it.") from error
    except OSError as error:
        if error.errno == ELOOP:
            raise Damaged(f"In this checkout {name} leads elsewhere.") from error
        raise


def remove(root: Path, name: str) -> None:
    """Afterwards there is no file of this name below `root`."""
    with suppress(FileNotFoundError, NotADirectoryError), _folder_of(root, name) as (folder, base):
        os.unlink(base, dir_fd=folder)


def _replace(folder: int, base: str, content: bytes | Path, mode: int) -> None:
    fresh = f"{base}.lock"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(fresh, flags, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in _chunks(content):
                file.write(chunk)
        os.replace(fresh, base, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=folder)
        raise


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as source:
        while chunk := source.read(1 << 20):
            yield chunk


@contextmanager
def _folder_of(root: Path, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that holds `name`, opened step by step without following links."""
    *parts, base = name.split("/")
    current = os.open(root, _FOLDER)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
            inner = os.open(part, _FOLDER, dir_fd=current)
            os.close(current)
            current = inner
        yield current, base
    finally:
        os.close(current)
