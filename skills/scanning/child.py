"""Scans in a process with limits: whatever goes wrong there is a refusal here.

A `Scanner` starts one helper process that has read the rules and holds no environment. For each
skill the helper forks a worker with ceilings on memory, processor time, files and output; the
worker reads the bytes, writes one JSON answer and ends. Time-out, crash, lack of memory, a
malformed answer and an answer about other bytes all end as `refusal`.
"""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .digest import digest
from .gate import refusal, scan
from .limits import LIMITS, MIB, Limits
from .ruleset import version
from .values import File, Source, Verdict

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 1 << 20
HEADER = 8
LONGEST_ANSWER = 32 * MIB


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What one worker may use: seconds of wall clock and of processor, bytes of address space."""

    seconds: float = 45.0
    cpu_seconds: int = 15
    memory: int = 1024 * MIB
    start_seconds: float = 30.0


class Scanner:
    """A helper process for scans, restarted when it dies. Use it as a context, from one thread."""

    def __init__(
        self, ceilings: Ceilings | None = None, *, command: Sequence[str] | None = None
    ) -> None:
        self._ceilings = ceilings or Ceilings()
        self._command = list(command or _command())
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Scanner":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def scan(
        self, files: Mapping[str, File], source: Source | None = None, *, limits: Limits = LIMITS
    ) -> Verdict:
        """The verdict over exactly these bytes; never raises for what bytes or helper do."""
        started = time.monotonic()
        total = sum(len(file.data) for file in files.values())
        if total > limits.total or len(files) > limits.files:
            # Too much is known without a worker, and is not worth copying to one.
            return scan(files, source, limits=limits)
        try:
            answer = self._ask(_request(files, source or Source(), limits, self._ceilings))
            verdict = Verdict.from_json(answer["verdict"])
        except _NoAnswer as failure:
            return refusal(files, str(failure), seconds=time.monotonic() - started)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.close()
            return refusal(
                files, "the scanner's answer is malformed", seconds=time.monotonic() - started
            )
        if verdict.digest != digest(files) or verdict.ruleset != version():
            self.close()
            return refusal(files, "the scanner answered about something else")
        return verdict

    def close(self) -> None:
        """Ends the helper and everything it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.wait()

    def _ask(self, request: bytes) -> dict[str, Any]:
        fresh = self._process is None or self._process.poll() is not None
        if fresh:
            self.close()
            self._start()
        allowed = self._ceilings.seconds + 2 + (self._ceilings.start_seconds if fresh else 0)
        try:
            reply = self._exchange(request, time.monotonic() + allowed)
        except _NoAnswer:
            self.close()
            raise
        answer = json.loads(reply)
        if not isinstance(answer, dict) or "failure" in answer:
            raise _NoAnswer(
                str(answer.get("failure", "malformed")) if isinstance(answer, dict) else "malformed"
            )
        return answer

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, env={}, cwd="/", start_new_session=True, bufsize=0,
            )  # fmt: skip
        except OSError as error:
            raise _NoAnswer(f"the scanner does not start: {error.strerror}") from error

    def _exchange(self, request: bytes, deadline: float) -> bytes:
        """Writes the request and reads one framed reply, both before the deadline."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        out, back = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(out, False)
        left, reply = memoryview(request), bytearray()
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise _NoAnswer("the scan took too long")
            readable, writable, _ = select.select([back], [out] if left else [], [], remaining)
            try:
                if writable:
                    left = left[os.write(out, left[:CHUNK]) :]
                piece = os.read(back, CHUNK) if readable else None
            except OSError as error:
                raise _NoAnswer("the scanner died") from error
            if piece == b"":
                raise _NoAnswer("the scanner died")
            reply += piece or b""
            if len(reply) >= HEADER:
                length = int.from_bytes(reply[:HEADER], "big")
                if length > LONGEST_ANSWER:
                    raise _NoAnswer("the scanner's answer is malformed")
                if len(reply) >= HEADER + length:
                    return bytes(reply[HEADER : HEADER + length])


class _NoAnswer(Exception):
    """The helper gave no verdict; the text says why."""


def scan_once(
    files: Mapping[str, File], source: Source | None = None, *, ceilings: Ceilings | None = None
) -> Verdict:
    """One scan in a process of its own."""
    with Scanner(ceilings) as scanner:
        return scanner.scan(files, source)


def _command() -> list[str]:
    """Isolated Python: no environment, no user site, nothing written beside the sources."""
    start = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r});"
        "from skills.scanning.child import serve; serve()"
    )
    return [sys.executable, "-I", "-B", "-c", start]


def _request(
    files: Mapping[str, File], source: Source, limits: Limits, ceilings: Ceilings
) -> bytes:
    head = json.dumps(
        {
            "folder": source.folder,
            "limits": asdict(limits),
            "ceilings": asdict(ceilings),
            "files": [[path, file.mode, len(file.data)] for path, file in files.items()],
        }
    ).encode()
    return b"".join(
        (
            len(head).to_bytes(HEADER, "big"),
            sum(len(file.data) for file in files.values()).to_bytes(HEADER, "big"),
            head,
            *(file.data for file in files.values()),
        )
    )


# The helper's side ----------------------------------------------------------------------------


def serve() -> None:
    """Answers requests from standard input until it closes."""
    version()
    while sizes := _read(2 * HEADER):
        head = json.loads(_read(int.from_bytes(sizes[:HEADER], "big")))
        body = _read(int.from_bytes(sizes[HEADER:], "big"))
        answer = _in_worker(head, body)
        os.write(1, len(answer).to_bytes(HEADER, "big"))
        _write(1, answer)


def _in_worker(head: dict[str, Any], body: bytes) -> bytes:
    """Forks a worker for one skill; returns its answer or why there is none."""
    ceilings = Ceilings(**head["ceilings"])
    back, out = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(back)
        _work(head, body, out, ceilings)
    os.close(out)
    answer, in_time = _collect(back, time.monotonic() + ceilings.seconds)
    os.close(back)
    if not in_time:
        os.kill(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    if in_time and os.waitstatus_to_exitcode(status) == 0 and answer:
        return answer
    return json.dumps({"failure": _reason(in_time, status)}).encode()


def _work(head: dict[str, Any], body: bytes, out: int, ceilings: Ceilings) -> None:
    """The worker: scans and leaves, whatever happens."""
    code = 1
    try:
        _limit(ceilings)
        verdict = scan(
            _files(head["files"], body), Source(head["folder"]), limits=Limits(**head["limits"])
        )
        _write(out, json.dumps({"verdict": verdict.as_json()}).encode())
        code = 0
    except MemoryError:
        code = 3
    finally:
        os._exit(code)


def _limit(ceilings: Ceilings) -> None:
    for what, most in (
        (resource.RLIMIT_AS, ceilings.memory),
        (resource.RLIMIT_CPU, ceilings.cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        ceiling = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # macOS refuses a limit on address space; the other limits and the clock still hold there.
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (ceiling, ceiling))


def _files(listed: list[tuple[str, int, int]], body: bytes) -> dict[str, File]:
    files, at = {}, 0
    for path, mode, size in listed:
        files[path] = File(mode, body[at : at + size])
        at += size
    return files


def _collect(back: int, deadline: float) -> tuple[bytes, bool]:
    answer = bytearray()
    while (remaining := deadline - time.monotonic()) > 0 and len(answer) < LONGEST_ANSWER:
        readable, _, _ = select.select([back], [], [], remaining)
        if readable:
            piece = os.read(back, CHUNK)
            if not piece:
                return bytes(answer), True
            answer += piece
    return b"", False


def _reason(in_time: bool, status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if not in_time or code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "the scan took too long"
    if code in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGILL):
        return "the scan crashed or ran out of memory"
    return "the scan ran out of memory" if code == 3 else "the scan failed"


def _read(size: int) -> bytes:
    """Exactly so many bytes of standard input; nothing at its end."""
    out = bytearray()
    while len(out) < size:
        piece = os.read(0, min(CHUNK, size - len(out)))
        if not piece:
            sys.exit(0)
        out += piece
    return bytes(out)


def _write(target: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(target, left[:CHUNK]) :]
