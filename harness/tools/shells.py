"""Shell commands: started, watched, ended. One command is one process group (and, in the sandbox,
one pid namespace), so that ending it ends everything it started."""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox import Sandbox
from harness.stop import Stop
from harness.text import readable

MARK = "CC_CALL"  # environment variable that marks every process of a call
LOOK_SECONDS = 0.05  # how late the end of a command may be noticed that left its output open
SHOW_EVERY_SECONDS = 0.1
CHUNK = 65_536
UNREAD = 2**20


@dataclass(frozen=True)
class Ended:
    """How a command ended. `code` is None when it was ended by us."""

    code: int | None
    output: "Captured"
    seconds: float
    timed_out: bool = False


class Captured:
    """Output of any size in bounded memory: head and tail; the whole in a file, up to a limit."""

    def __init__(self, file: Path, *, shown: int, stored: int = 64 * 2**20) -> None:
        self._half = shown // 2
        self._file_path = file
        self._file_limit = stored
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0
        self.artefact: Path | None = None

    def add(self, data: bytes) -> None:
        self.size += len(data)
        if self.artefact or self.size > 2 * self._half:
            self._store(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail = (self._tail + data)[-self._half :]

    def _store(self, data: bytes) -> None:
        if self.artefact is None:
            self.artefact = self._file_path
            self._file_path.parent.mkdir(parents=True, exist_ok=True)
            data = bytes(self._head + self._tail) + data
        with self.artefact.open("ab") as file:
            file.write(data[: max(0, self._file_limit - file.tell())])

    def text(self) -> str:
        """Head and tail as readable text, and between them what is missing and where it is."""
        left_out = self.size - len(self._head) - len(self._tail)
        if left_out <= 0:
            return readable(bytes(self._head + self._tail))
        where = f"; all of it is in {self.artefact}" if self.artefact else ""
        gap = f"\n[… {left_out:,} of {self.size:,} bytes left out{where} …]\n"
        return readable(bytes(self._head)) + gap + readable(bytes(self._tail))


class Background:
    """A command that goes on while the agent does other things. A thread takes in its output, so
    that a full pipe never stops it."""

    def __init__(
        self, id: str, command: str, process: "subprocess.Popen[bytes]", captured: Captured
    ) -> None:
        self.id = id
        self.command = command
        self.process = process
        self.captured = captured
        self._unread = bytearray()
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._take_in, name=id, daemon=True)
        self._reader.start()

    def _take_in(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            while data := os.read(pipe.fileno(), CHUNK):
                with self._lock:
                    self.captured.add(data)
                    self._unread = (self._unread + data)[-UNREAD:]

    def news(self) -> str:
        """What it has printed since the last time, at most the last megabyte of it."""
        with self._lock:
            data, self._unread = bytes(self._unread), bytearray()
        return readable(data)

    def finish(self, call_id: str, *, is_closed: bool) -> bool:
        """Ends it; says whether it was still running."""
        was_running = self.process.poll() is None
        end(self.process, call_id, is_closed=is_closed)
        self.process.wait()
        self._reader.join(timeout=2)
        return was_running


class Shells:
    """The shell commands of one attempt of a run."""

    def __init__(self, sandbox: Sandbox, artefacts: Path, *, shown: int) -> None:
        self._sandbox = sandbox
        self._artefacts = artefacts
        self._shown = shown
        self._background: dict[str, tuple[str, Background]] = {}

    def run(
        self,
        command: str,
        *,
        directory: Path,
        call_id: str,
        seconds: float,
        stop: Stop,
        show: Callable[[str], None],
    ) -> Ended:
        """Runs the command to its end, its time-out or the stop; afterwards none of it lives on."""
        started = time.monotonic()
        captured = self._captured(call_id)
        process = self._start(command, directory, call_id)
        is_closed = self._sandbox.is_closed
        with stop.closing(lambda: end(process, call_id, is_closed=is_closed)), process:
            try:
                timed_out = not _watch(process, captured, started + seconds, show)
            finally:
                end(process, call_id, is_closed=is_closed)
            code = process.wait()
        stop.check()
        spent = time.monotonic() - started
        return Ended(None if timed_out else code, captured, spent, timed_out)

    def begin(self, command: str, *, directory: Path, call_id: str) -> Background:
        """Starts a command that stays; `finish_all` ends it at the latest."""
        process = self._start(command, directory, call_id)
        number = len(self._background) + 1
        shell = Background(f"shell-{number}", command, process, self._captured(call_id))
        self._background[shell.id] = (call_id, shell)
        return shell

    def find(self, shell_id: str) -> Background | None:
        found = self._background.get(shell_id)
        return found[1] if found else None

    def finish(self, shell_id: str) -> bool:
        """Ends one; says whether it was still running."""
        call_id, shell = self._background[shell_id]
        return shell.finish(call_id, is_closed=self._sandbox.is_closed)

    def finish_all(self) -> list[Background]:
        """Ends every background command and says which were still running."""
        running = [shell for _, shell in self._background.values() if self.finish(shell.id)]
        self._background.clear()
        return running

    def _captured(self, call_id: str) -> Captured:
        safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in call_id)[:100]
        return Captured(self._artefacts / f"{safe}.txt", shown=self._shown)

    def _start(self, command: str, directory: Path, call_id: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self._sandbox.line(command, directory),
            env={**self._sandbox.environment(), MARK: call_id},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )


def end(process: "subprocess.Popen[bytes]", call_id: str, *, is_closed: bool) -> None:
    """Afterwards nothing of the command runs; harmless when it has ended already."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    if not is_closed:
        for pid in _strays(call_id):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _strays(call_id: str) -> Iterator[int]:
    """Processes of the call that left its group: they carry its mark in their environment."""
    mark = f"{MARK}={call_id}".encode()
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        yield int(entry.name)


def _watch(
    process: "subprocess.Popen[bytes]",
    captured: Captured,
    deadline: float,
    show: Callable[[str], None],
) -> bool:
    """Takes in the output until the command ends (True) or the deadline passes (False)."""
    assert process.stdout is not None
    pipe, is_open = process.stdout.fileno(), True
    poller = select.poll()
    poller.register(pipe, select.POLLIN | select.POLLHUP)
    shower = _Shower(show)
    while (left := deadline - time.monotonic()) > 0:
        wait = min(left, LOOK_SECONDS)
        if is_open and poller.poll(wait * 1000):
            data = os.read(pipe, CHUNK)
            is_open = bool(data)
            captured.add(data)
            shower.add(data)
        elif process.poll() is not None:
            # Only a process it left behind can still hold the pipe; that one is ended now.
            shower.flush()
            return True
        elif not is_open:
            with suppress(subprocess.TimeoutExpired):
                process.wait(wait)
    return False


class _Shower:
    """Passes output on at most ten times a second."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._waiting = bytearray()
        self._last = 0.0

    def add(self, data: bytes) -> None:
        self._waiting += data[-4096:]
        if time.monotonic() - self._last >= SHOW_EVERY_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            self._show(readable(bytes(self._waiting)))
            self._waiting.clear()
            self._last = time.monotonic()
