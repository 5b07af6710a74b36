"""Scans in a process with limits: whatever goes wrong there is a refusal here.

A `Scanner` starts one process of `helper`, which alone loads the parsers and the patterns.
Time-out, crash, lack of memory, a malformed answer and an answer about other bytes all end as
`refusal`.
"""

import json
import os
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
from .limits import LIMITS, MIB, Limits
from .refusing import over_limits, refusal
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
        # Too much is known without a worker, and is not worth copying to one.
        if verdict := over_limits(files, limits):
            return verdict
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
        "from skills.scanning.helper import serve; serve()"
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
