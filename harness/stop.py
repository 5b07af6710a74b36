"""`Stop`: one token a run. Asking it to stop wakes whatever the run waits for, at once."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum

from harness import errors


class StopReason(StrEnum):
    CANCEL = "cancel"  # a person: the run ends cancelled
    PAUSE = "pause"  # a person: the run parks
    STOPPED_BY_MODEL = "stopped_by_model"  # a parent agent's task stop
    MAX_TIME = "max_time"
    SILENCE = "silence"  # the watchdog
    BUDGET = "budget"
    RELEASE = "release"  # the worker shuts down or lost the lease


class Stop:
    """Thread-safe. `request` may come from any thread, any number of times; the first one holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = threading.Event()
        self._closers: list[Callable[[], None]] = []
        self.reason: StopReason | None = None
        self.note = ""

    def request(self, reason: StopReason, note: str = "") -> None:
        """After this every wait of the run returns: sockets are shut down, tools are killed."""
        with self._lock:
            if self.reason is not None:
                return
            self.reason, self.note = reason, note
            closers = list(self._closers)
            self._asked.set()
        for close in closers:
            # A closer that fails must not keep the others from closing.
            with suppress(Exception):
                close()

    def check(self) -> None:
        """Raises the end that the stop asks for; returns when nobody asked."""
        if self.reason is not None:
            raise self.ended()

    def wait(self, seconds: float) -> None:
        """Waits, or raises at once when asked to stop meanwhile."""
        self._asked.wait(seconds)
        self.check()

    @contextmanager
    def closing(self, close: Callable[[], None]) -> Iterator[None]:
        """While inside, a stop calls `close` (from the asking thread). Closes at once if late."""
        with self._lock:
            late = self.reason is not None
            if not late:
                self._closers.append(close)
        if late:
            with suppress(Exception):
                close()
        try:
            yield
        finally:
            with self._lock:
                if close in self._closers:
                    self._closers.remove(close)

    def ended(self) -> errors.RunEnded:
        match self.reason:
            case StopReason.PAUSE:
                return errors.Parked("pause", summary=self.note)
            case StopReason.MAX_TIME:
                return errors.MaxTime(self.note)
            case StopReason.SILENCE:
                return errors.Silent(self.note)
            case StopReason.BUDGET:
                return errors.BudgetSpent(self.note)
            case StopReason.STOPPED_BY_MODEL:
                return errors.Cancelled(self.note, reason=errors.TerminalReason.STOPPED_BY_MODEL)
            case StopReason.RELEASE:
                return errors.Released(self.note)
            case _:
                return errors.Cancelled(self.note)
