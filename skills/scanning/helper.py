"""The process that scans: it has read the rules and holds no environment.

For each skill it forks a worker with ceilings on memory, processor time, files and output; the
worker reads the bytes, writes one JSON answer and ends. Whoever wants a verdict asks `child`.
"""

import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from .child import CHUNK, HEADER, LONGEST_ANSWER, Ceilings
from .gate import scan
from .limits import Limits
from .ruleset import version
from .values import File, Source


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
