"""Keeps children alive: shows their lines, starts again what crashed, stops all in order.

It has one thread and no connection of its own, so that it can fork at any time.
"""

import os
import selectors
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from controlcenter.local import processes
from controlcenter.local.console import Console
from controlcenter.local.janitor import Janitor
from controlcenter.local.processes import Running

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
# A child that lived this long is taken to have started well.
STEADY_SECONDS = 60.0
GRACE_SECONDS = 6.5
ROUND_SECONDS = 0.2


@dataclass
class Job:
    """One child to keep alive. `start` gets the descriptor for its output."""

    name: str
    start: Callable[[int], Running]
    stop: Callable[[Running], object] | None = None
    running: Running | None = None
    started_at: float = 0.0
    restart_at: float | None = None
    pause_seconds: float = field(default=FIRST_PAUSE_SECONDS)


class Supervisor:
    """Runs jobs until it is told to stop by INT or TERM."""

    def __init__(self, console: Console, janitor: Janitor) -> None:
        self.console = console
        self._janitor = janitor
        self._jobs: list[Job] = []
        self._selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = os.pipe()
        self.stopping = False
        self._impatient = False
        self._listen_to_signals()

    @property
    def has_started(self) -> bool:
        return bool(self._jobs)

    @property
    def descriptors(self) -> list[int]:
        """What belongs to us alone and a forked child closes."""
        pipes = [key.fd for key in self._selector.get_map().values() if isinstance(key.data, Job)]
        own = [self._selector_descriptor(), self._wake_reader, self._wake_writer]
        return [*own, *pipes, self._janitor.descriptor]

    def start(self, job: Job) -> Running:
        """The job's child runs; from now on it is kept alive."""
        if job not in self._jobs:
            self._jobs.append(job)
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self._selector.register(reader, selectors.EVENT_READ, job)
        try:
            job.running = job.start(writer)
        finally:
            os.close(writer)
        job.started_at, job.restart_at = time.monotonic(), None
        self._janitor.child(job.running.pid)
        return job.running

    def run(self, each_round: Callable[[], object]) -> None:
        """Until INT or TERM; `each_round` is called a few times a second."""
        while not self.stopping:
            self.pump(ROUND_SECONDS)
            self._look_after_jobs()
            each_round()

    def finish(self, job: Job) -> int:
        """Wait for a child that ends by itself; it is not kept alive. Returns its exit code."""
        running = job.running or self.start(job)
        while (code := running.poll()) is None and not self.stopping:
            self.pump(0.05)
        if code is None:
            code = processes.stop(running, grace_seconds=1.0)
        self.pump(0)
        self._jobs.remove(job)
        self._janitor.gone(running.pid)
        return code

    def stop_all(self) -> None:
        """Roles first, together; then the engines, in the reverse order of their start."""
        self.stopping = True
        roles = [job for job in self._jobs if job.stop is None]
        for job in roles:
            if job.running:
                job.running.send_signal(signal.SIGTERM)
        self._await_end(roles)
        for job in reversed(self._jobs):
            if job.stop and job.running:
                job.stop(job.running)
        self.pump(0)

    def pump(self, seconds: float) -> None:
        """Show what the children say, for at most this long or until a signal comes."""
        for key, _ in self._selector.select(seconds):
            if not isinstance(key.data, Job):
                with suppress(BlockingIOError):
                    os.read(self._wake_reader, 4096)
                continue
            with suppress(BlockingIOError):
                if data := os.read(key.fd, 65536):
                    self.console.feed(key.data.name, data)
                    continue
                self._selector.unregister(key.fd)
                os.close(key.fd)
                self.console.end(key.data.name)

    def _look_after_jobs(self) -> None:
        now = time.monotonic()
        for job in self._jobs:
            if job.restart_at is not None:
                if now >= job.restart_at:
                    self.start(job)
            elif job.running and (code := job.running.poll()) is not None:
                self._plan_restart(job, code, now=now)

    def _plan_restart(self, job: Job, code: int, *, now: float) -> None:
        if job.running:
            self._janitor.gone(job.running.pid)
        if now - job.started_at >= STEADY_SECONDS:
            job.pause_seconds = FIRST_PAUSE_SECONDS
        self.console.say(
            f"{job.name} ended ({_ending(code)}); starting it again in {job.pause_seconds:g} s."
        )
        job.running, job.restart_at = None, now + job.pause_seconds
        job.pause_seconds = min(job.pause_seconds * 2, LONGEST_PAUSE_SECONDS)

    def _await_end(self, jobs: Iterable[Job]) -> None:
        left = [job for job in jobs if job.running and job.running.poll() is None]
        deadline = time.monotonic() + GRACE_SECONDS
        while left and time.monotonic() < deadline and not self._impatient:
            self.pump(0.05)
            left = [job for job in left if job.running and job.running.poll() is None]
        for job in left:
            if job.running:
                self.console.say(f"{job.name} does not end; it is killed.")
                processes.kill_group(job.running.pid)
                job.running.wait()

    def _listen_to_signals(self) -> None:
        for descriptor in (self._wake_reader, self._wake_writer):
            os.set_blocking(descriptor, False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only to wake up

    def _on_signal(self, _number: int, _frame: object) -> None:
        # A second Ctrl-C while we stop means: now.
        self._impatient = self.stopping
        self.stopping = True

    def _selector_descriptor(self) -> int:
        descriptor = getattr(self._selector, "fileno", None)
        return int(descriptor()) if descriptor else self._wake_reader


def _ending(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
