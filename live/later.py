"""One thread of the process for what is due in a moment."""

import heapq
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable
from functools import cache

from django.db import connections

log = logging.getLogger(__name__)


class Later:
    """Calls acts after their delay, one after the other; starts its thread with the first."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def call(self, seconds: float, act: Callable[[], None]) -> None:
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._order), act))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="live-later", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _work(self) -> None:
        while True:
            self._do(self._next())

    def _next(self) -> Callable[[], None]:
        with self._changed:
            while not self._due or self._due[0][0] > time.monotonic():
                wait = self._due[0][0] - time.monotonic() if self._due else None
                self._changed.wait(wait)
            return heapq.heappop(self._due)[2]

    def _do(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception:
            # The thread serves every topic of the process: one bad render must not end it.
            log.exception("a delayed act of live failed")
        finally:
            connections.close_all()


def later(seconds: float, act: Callable[[], None]) -> None:
    """`act` is called in this process after `seconds`, in a thread of its own; an error of it is
    logged. Database connections that it opened are given back."""
    _later(os.getpid()).call(seconds, act)


@cache
def _later(process: int) -> Later:
    # Threads do not survive a fork: a child starts its own.
    return Later()
