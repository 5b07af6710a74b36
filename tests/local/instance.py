"""A started Control Center with the small project, as a person would start it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from controlcenter.local import processes

ROOT = Path(__file__).parents[2]
GONE_SECONDS = 3.0


class Instance:
    """Reads what the start prints, line by line; asks its page for facts."""

    def __init__(self, data: Path, *arguments: str, **environment: str) -> None:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CC_", "DATABASE_", "REDIS_", "PYTEST_"))
        }
        settings = {"DJANGO_SETTINGS_MODULE": "tests.local.small_settings"}
        self.data = data
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "controlcenter.local", "up", "--data", str(data), *arguments],
            cwd=ROOT,
            env=inherited | settings | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for(self, words: str) -> str:
        """The next line with these words; fails with all lines when the output ends first."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if words in line:
                return self.lines[-1]
        raise AssertionError(f"{words!r} was never said:\n{self.said}")

    @property
    def said(self) -> str:
        return "\n".join(self.lines)

    @property
    def address(self) -> str:
        line = next(line for line in self.lines if "is ready after" in line)
        return line.split()[-1]

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.address}{path}", timeout=30)

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = self.get("/facts").json()
        return facts

    def pids(self) -> list[int]:
        """Every process of this instance, the supervisor first."""
        return processes.descendants_of([self.process.pid])

    def pid_of_engine(self, program: str) -> int:
        return next(
            pid
            for pid in self.pids()
            if f"/{program} " in f"{processes.command_of(pid)} "
            and processes.command_of(pid).count(str(self.data))
        )

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop; returns its exit code once its output has ended."""
        self.process.send_signal(number)
        rest, _ = self.process.communicate()
        self.lines += rest.splitlines()
        return self.process.returncode


@contextmanager
def started(data: Path, *arguments: str, **environment: str) -> Iterator[Instance]:
    """An instance that answers; gone afterwards."""
    instance = Instance(data, *arguments, "--no-browser", **environment)
    try:
        instance.wait_for("is ready after")
        yield instance
    finally:
        pids = instance.pids()
        if instance.process.returncode is None:
            instance.process.kill()
            instance.process.communicate()
        assert processes.wait_gone(pids, seconds=GONE_SECONDS) == []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def refused(data: Path, *arguments: str, **environment: str) -> str:
    """What a start says that must not come to be."""
    instance = Instance(data, *arguments, "--no-browser", **environment)
    words, _ = instance.process.communicate(timeout=60)
    assert instance.process.returncode == 1
    return words
