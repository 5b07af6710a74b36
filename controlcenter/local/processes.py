"""Children that cannot outlive their parent, and stopping them in order."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Protocol

PR_SET_PDEATHSIG = 1
HAS_PROC = Path("/proc/self/stat").exists()
# Resolved once, here: between fork and exec nothing may be imported or looked up.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Running(Protocol):
    """What is needed of a child to stop it: an engine's `Popen` or a forked role."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: IO[bytes] | int | None = None,
    dies_by: signal.Signals | None = signal.SIGTERM,
    own_group: bool = True,
) -> subprocess.Popen[bytes]:
    """Start a child that gets `dies_by` when the thread that called us ends (on Linux).

    None leaves its end to the janitor, which finds what it started only while it lives.

    With `own_group` the child leads a process group of its own, so that a Ctrl-C in the
    terminal reaches the supervisor alone, which then stops its children in order.
    """
    return subprocess.Popen(
        argv,
        env=dict(env) if env is not None else None,
        cwd=cwd,
        stdin=subprocess.DEVNULL if own_group else None,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        process_group=0 if own_group else None,
        preexec_fn=partial(die_with_parent, dies_by, parent=os.getpid()) if dies_by else None,
    )


def die_with_parent(dies_by: signal.Signals, *, parent: int) -> None:
    """Called in a fresh child: the kernel sends `dies_by` when our parent ends (on Linux)."""
    if _libc is None:
        return
    _libc.prctl(PR_SET_PDEATHSIG, int(dies_by))
    if os.getppid() != parent:  # it died between fork and prctl
        os.kill(os.getpid(), signal.SIGKILL)


def call_ourselves(name: str) -> None:
    """`ps -o comm` and `top` show this process as cc-NAME (on Linux, 15 letters)."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(f"cc-{name}"[:15])


def stop(
    process: Running,
    *,
    first: signal.Signals = signal.SIGTERM,
    grace_seconds: float = 8.0,
) -> int:
    """Ask the child to end, wait, then kill its whole group. Returns its exit code."""
    if process.poll() is None:
        process.send_signal(first)
        try:
            process.wait(timeout=grace_seconds)
        except subprocess.TimeoutExpired:
            kill_group(process.pid)
    return process.wait()


def kill_group(pid: int) -> None:
    """SIGKILL the process group that `pid` leads; the process alone when it leads none."""
    try:
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def is_alive(pid: int) -> bool:
    """Whether a process with this id exists and is more than a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state_of(pid) != "Z"


def wait_gone(pids: Sequence[int], *, seconds: float) -> list[int]:
    """Wait until none of the processes is left; returns those that still are."""
    deadline = time.monotonic() + seconds
    left = [pid for pid in pids if is_alive(pid)]
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [pid for pid in left if is_alive(pid)]
    return left


def command_of(pid: int) -> str:
    """The command line of a process, or an empty string when it cannot be read."""
    if HAS_PROC:
        with suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        return ""
    listed = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return listed.stdout.strip()


def descendants_of(pids: Sequence[int]) -> list[int]:
    """The given processes and everything below them, parents first (Linux; else as given)."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found = list(pids)
    for pid in found:
        found.extend(child for child in children.get(pid, []) if child not in found)
    return found


def _state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "?"
