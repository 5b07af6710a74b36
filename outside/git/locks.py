"""One writer at a time in a git directory, across the processes of the file node."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import Busy


@contextmanager
def exclusive(git_dir: Path, *, seconds: float = 120) -> Iterator[None]:
    """Within: no other server process writes to this git directory.

    The lock lies beside the directory and dies with its holder. Raises Busy after `seconds`.
    """
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    path = git_dir.with_name(f"{git_dir.name}.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _take(descriptor, time.monotonic() + seconds)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Busy() from None
            time.sleep(0.05)
        else:
            return
