"""The one-command app on a folder of its own, as a user starts it."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
READY = re.compile(r"ready after .*?(http://\S+)")
START_SECONDS = 120
STOP_SECONDS = 30


@dataclass
class App:
    """A running instance: its address, its data, what it printed, its process."""

    address: str
    data: Path
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def worker_pids(self) -> list[int]:
        """The processes that execute runs."""
        return self.pids("cc-worker:runs")

    def pids(self, name: str) -> list[int]:
        """The app's own children of this name, as `ps -o comm` shows it."""
        found = subprocess.run(
            ["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True, check=True
        ).stdout
        rows = (line.split() for line in found.splitlines()[1:])
        own = str(self.process.pid)
        return [int(row[0]) for row in rows if row[1:] == [own, name]]


@contextmanager
def started(data: Path, **environment: str) -> Iterator[App]:
    """`python -m controlcenter.local up` on this folder and a free port, until the end."""
    command = [sys.executable, "-m", "controlcenter.local", "up", "--data", str(data)]
    outer = {key: value for key, value in os.environ.items() if not key.startswith(LOCAL)}
    process = subprocess.Popen(
        [*command, "--port", "0"],
        cwd=ROOT,
        env={**outer, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines: list[str] = []
    ready = threading.Event()
    address: list[str] = []

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if match := READY.search(line):
                address.append(match[1])
                ready.set()
        ready.set()

    threading.Thread(target=listen, daemon=True).start()
    ready.wait(START_SECONDS)
    assert address, "the app did not start:\n" + "\n".join(lines[-40:])
    try:
        yield App(address[0], data, process, lines)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


# The suite's own engines are not those of an app that is started by a user.
LOCAL = ("DATABASE_", "REDIS_URL", "CC_DB_POOL", "CC_DATA_DIR", "DJANGO_", "CC_SUITE")
