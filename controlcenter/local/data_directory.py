"""The data directory: ours alone, writable, with room on the disk, and used by one start only."""

import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controlcenter.local import processes
from controlcenter.local.errors import StartError

NEEDED_MEGABYTES = 200
# What a killed start may still need to clean up behind it.
CLEAN_UP_SECONDS = 10.0


def prepare(data: Path) -> None:
    """The directory exists with mode 0700 afterwards, can be written, and is not nearly full."""
    with explaining(data):
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (data / "secrets").mkdir(mode=0o700, exist_ok=True)
        probe = data / ".writable"
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
    free_megabytes = shutil.disk_usage(data).free // 2**20
    if free_megabytes < NEEDED_MEGABYTES:
        raise StartError(
            f"Only {free_megabytes} MB are free on the disk of {data}; at least "
            f"{NEEDED_MEGABYTES} MB are needed. Free some, or choose another place with --data."
        )


@contextmanager
def explaining(data: Path) -> Iterator[None]:
    """An OSError of this directory becomes a StartError that says what to do."""
    try:
        yield
    except OSError as error:
        raise StartError(_explanation(error, data)) from error


def _explanation(error: OSError, data: Path) -> str:
    if error.errno == errno.ENOSPC:
        return f"The disk of {data} is full. Free some space, or choose another place with --data."
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return (
            f"{data} cannot be written by this user ({error.strerror}). Change its owner, or "
            "choose another place with --data or CC_DATA_DIR."
        )
    if error.errno in {errno.ENOTDIR, errno.EEXIST}:
        return f"{data} is not a directory. Choose another place with --data or CC_DATA_DIR."
    return f"{data} cannot be used: {error}"


class Lock:
    """Held by one start for as long as anything of it lives.

    The kernel holds it (flock), so a crash leaves nothing to remove. The janitor inherits it:
    it is free again only when the last child of a killed start is gone.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / "lock"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + CLEAN_UP_SECONDS
        while not self._take():
            holder = self._holder()
            if holder is None or processes.is_alive(holder["pid"]):
                raise StartError(_already_running(data, holder))
            if time.monotonic() > deadline:
                raise StartError(
                    f"What an earlier start left behind still uses {data}. Try again shortly."
                )
            time.sleep(0.1)
        self.announce("")

    def announce(self, address: str) -> None:
        """Write down who holds the lock and where it can be reached."""
        facts = json.dumps({"pid": os.getpid(), "address": address}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, facts, 0)

    def fileno(self) -> int:
        return self._file

    def _take(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _holder(self) -> dict[str, int] | None:
        try:
            facts: dict[str, int] = json.loads(self._path.read_text())
        except ValueError:
            return None
        return facts if "pid" in facts else None


def _already_running(data: Path, holder: dict[str, int] | None) -> str:
    facts = holder or {}
    where = f" at {facts['address']}" if facts.get("address") else ""
    return (
        f"Control Center already runs on {data}{where} (process {facts.get('pid', 'unknown')}). "
        "Stop that one first, or choose another directory with --data."
    )
