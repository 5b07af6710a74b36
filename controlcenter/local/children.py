"""Children made by fork from the loaded program: they start at once and share its memory."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from subprocess import TimeoutExpired
from typing import NoReturn

from controlcenter.local import processes


class Forked:
    """A child that runs one function and ends with it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutExpired("role", timeout or 0)
            time.sleep(0.02)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)


def fork(
    program: Callable[[], object], *, name: str, output: int, closing: Iterable[int]
) -> Forked:
    """Run `program` in a child that leads its own group and gets TERM when we die.

    `name` is what `ps -o comm` and `top` show of it, where the system lets a process say so.
    `output` becomes its standard output and error; the descriptors in `closing` are ours alone.
    The caller must have one thread and no open connection.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(program, name=name, parent=parent, output=output, closing=closing)
    return Forked(pid)


def _become(
    program: Callable[[], object],
    *,
    name: str,
    parent: int,
    output: int,
    closing: Iterable[int],
) -> NoReturn:
    code = 1
    try:
        processes.call_ourselves(name)
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        processes.die_with_parent(signal.SIGTERM, parent=parent)
        _replace_standard_streams(output)
        for descriptor in closing:
            os.close(descriptor)
        program()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else bool(ending.code)
    except BaseException:  # noqa: BLE001  # the edge of the process: say it, then end
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _replace_standard_streams(output: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for descriptor in (nowhere, output):
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
