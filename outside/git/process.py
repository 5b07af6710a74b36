"""Runs one git command in a process group of its own: bounded in time, output and disk."""

import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from outside.sentences import phrase

from . import credentials
from .command import Command
from .errors import DiskFull, TimedOut, TooLarge, explain

TICK_SECONDS = 0.25
STDERR_BYTES = 64 * 1024
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a transfer as git tells it: what it does, and how far it is (0..1 or None)."""

    stage: str
    fraction: float | None
    note: str = ""


OnProgress = Callable[[Progress], None]
Watch = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Output:
    code: int
    stdout: bytes
    stderr: str
    truncated: bool = False

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")


def run(
    command: Command,
    *,
    stdin: bytes | BinaryIO | None = None,
    stdout: BinaryIO | None = None,
    seconds: float = 60,
    output_bytes: int = 32 * 1024 * 1024,
    truncate: bool = False,
    ok: tuple[int, ...] = (0,),
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
) -> Output:
    """The command's output. Its whole process group is gone when this returns or raises.

    `stdout` takes the output instead of memory; `watch` is called several times a second and may
    raise to stop the command. Raises the GitError that git's words mean, TimedOut, or TooLarge when
    the output passes `output_bytes` and may not be cut.
    """
    with (
        credentials.one_shot(command.credential) as (environment, handed),
        _source(stdin) as source,
    ):
        process = subprocess.Popen(
            command.argv(),
            stdin=source,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            env=command.environ() | environment,
            cwd="/",
            pass_fds=handed,
            start_new_session=True,
        )
        reading = _Reading(process, output_bytes, on_progress)
        try:
            reading.until(time.monotonic() + seconds, watch)
        except TimedOut as late:
            raise TimedOut(detail=reading.stderr) from late
        finally:
            _end(process)
    if reading.truncated and not truncate:
        raise TooLarge(f"The answer of git {command.verb} is larger than {output_bytes} bytes.")
    if process.returncode not in ok and not reading.truncated:
        raise explain(reading.stderr, had_credential=command.credential is not None)
    return Output(process.returncode, bytes(reading.stdout), reading.stderr, reading.truncated)


@dataclass(slots=True)
class _Reading:
    """Reads both outputs of a process as they come."""

    process: subprocess.Popen[bytes]
    output_bytes: int
    on_progress: OnProgress | None
    stdout: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    _said: bytearray = field(default_factory=bytearray)
    _line: bytearray = field(default_factory=bytearray)

    @property
    def stderr(self) -> str:
        return self._said.decode("utf-8", "replace")

    def until(self, deadline: float, watch: Watch | None) -> None:
        """Returns when the process has ended or the output is full. Raises TimedOut."""
        with selectors.DefaultSelector() as selector:
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ)
            while selector.get_map() and not self.truncated:
                if time.monotonic() > deadline:
                    raise TimedOut()
                for key, _ in selector.select(TICK_SECONDS):
                    if not self._take(key.fd, is_error=key.fileobj is self.process.stderr):
                        selector.unregister(key.fileobj)
                if watch:
                    watch()
                if self.process.poll() is not None and not selector.select(0):
                    break
        self._wait(deadline)

    def _wait(self, deadline: float) -> None:
        if self.truncated:
            return
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimedOut() from None

    def _take(self, descriptor: int, *, is_error: bool) -> bool:
        chunk = os.read(descriptor, 65536)
        if is_error:
            self._hear(chunk)
        else:
            room = self.output_bytes - len(self.stdout)
            self.stdout += chunk[:room]
            self.truncated = len(chunk) > room
        return bool(chunk)

    def _hear(self, chunk: bytes) -> None:
        self._line += chunk
        *lines, rest = _LINE_END.split(bytes(self._line))
        self._line = bytearray(rest[-4096:])
        for line in lines:
            if not self._report(line.decode("utf-8", "replace")):
                self._said += line + b"\n"
        if not chunk:
            self._said += self._line
        del self._said[: max(0, len(self._said) - STDERR_BYTES)]

    def _report(self, line: str) -> bool:
        """Whether the line was a step of progress, which is told and not kept."""
        step = read_progress(line)
        if step and self.on_progress:
            self.on_progress(step)
        return step is not None


def read_progress(line: str) -> Progress | None:
    """The step that a line of git's progress tells, read by GitPython; None for any other line."""
    if "%" not in line and not line.endswith("done."):
        return None
    from git import RemoteProgress  # starts a process at import, so only when a transfer talks

    found: list[Progress] = []

    class Listener(RemoteProgress):
        def update(
            self,
            op_code: int,
            cur_count: str | float,
            max_count: str | float | None = None,
            message: str = "",
        ) -> None:
            done = float(cur_count or 0) / float(max_count) if max_count else None
            stage = line.removeprefix("remote: ").partition(":")[0].strip()
            found.append(Progress(stage, done, message))

    Listener().new_message_handler()(line)
    return found[0] if found else None


@contextmanager
def _source(stdin: bytes | BinaryIO | None) -> Iterator[BinaryIO | int]:
    if stdin is None:
        yield subprocess.DEVNULL
    elif isinstance(stdin, bytes):
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            yield file
    else:
        yield stdin


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the process group and reaps the leader."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def directory_bytes(path: Path) -> int:
    """What the files below a directory take, without following links."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                total += Path(folder, name).lstat().st_size
    return total


def bounded(path: Path, *, max_bytes: int, spare_bytes: int, tick: Watch | None = None) -> Watch:
    """A watch that stops a transfer into `path` before it passes its size or fills the disk."""
    checked = 0.0

    def watch() -> None:
        nonlocal checked
        if tick:
            tick()
        if time.monotonic() - checked < 1:
            return
        checked = time.monotonic()
        if directory_bytes(path) > max_bytes:
            words = phrase("The repository is larger than the %(mb)d MB that this server takes.")
            raise TooLarge(words % {"mb": max_bytes // 2**20})
        left = os.statvfs(path)
        if left.f_bavail * left.f_frsize < spare_bytes:
            raise DiskFull()

    return watch
