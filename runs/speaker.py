"""Telling the tabs beside the run: no run waits while its events are rendered and sent.

One thread a process says everything in the order in which it was given. A process that dies in
between leaves a gap in the numbers of the run's topic, and its tabs back-fill with the next event.
"""

import logging
import os
import queue
import threading
from collections.abc import Callable
from functools import cache

log = logging.getLogger(__name__)

Act = Callable[[], None]
FLUSH_SECONDS = 5.0


class Speaker:
    """Does acts one after the other in a thread of its own, which starts with the first."""

    def __init__(self) -> None:
        self._acts: queue.SimpleQueue[Act] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def say(self, act: Act) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._speak, name="speaker", daemon=True)
                self._thread.start()
        self._acts.put(act)

    def flush(self) -> None:
        """All that was given before has been said when it returns, or it has taken too long."""
        said = threading.Event()
        self.say(said.set)
        said.wait(FLUSH_SECONDS)

    def _speak(self) -> None:
        while True:
            act = self._acts.get()
            try:
                act()
            except Exception:
                # The thread speaks for every run of the process: one bad event must not end it.
                log.exception("the tabs could not be told")


def speaker() -> Speaker:
    """The one of this process; a forked child has none yet."""
    return _speaker(os.getpid())


@cache
def _speaker(process: int) -> Speaker:
    return Speaker()
