"""Telling the tabs beside the run: no run waits while its events are rendered and sent.

One thread a process says everything in the order in which it was given. What is said about one run
within a moment is said together, and a tool call that has ended by then is shown once. A process
that dies in between leaves a gap in the numbers of the run's topic; its tabs then back-fill.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from harness.events import Event

from .models import Run
from .transcript import Entry

log = logging.getLogger(__name__)

Taken = tuple[Event, Entry | None]
Tell = Callable[[Run, list[Taken]], None]
MOMENT_SECONDS = 0.01
MOST_TOGETHER = 100
FLUSH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class News:
    """Events of one run, each with the entry in which it shows itself. Without a run: a mark."""

    run: Run | None
    taken: list[Taken]
    said: threading.Event | None = None

    @property
    def of(self) -> object:
        return self.run.pk if self.run else self


class Speaker:
    """Calls `tell` in a thread of its own, which starts with the first news."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def say(self, run: Run, taken: list[Taken]) -> None:
        self._put(News(run, taken))

    def flush(self) -> None:
        """All that was given before has been said when it returns, or it has taken too long."""
        said = threading.Event()
        self._put(News(None, [], said))
        said.wait(FLUSH_SECONDS)

    def _put(self, news: News) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._speak, name="speaker", daemon=True)
                self._thread.start()
        self._news.put(news)

    def _speak(self) -> None:
        while True:
            for _, group in groupby(self._gathered(), key=lambda news: news.of):
                self._say_together(list(group))

    def _gathered(self) -> list[News]:
        """What has come, and what comes within a moment after it; a mark is not waited with."""
        found = [self._news.get()]
        until = time.monotonic() + MOMENT_SECONDS
        with suppress(queue.Empty):
            while found[-1].said is None and len(found) < MOST_TOGETHER:
                rest = until - time.monotonic()
                found.append(self._news.get(timeout=max(0.0, rest)))
        return found

    def _say_together(self, group: list[News]) -> None:
        run = group[0].run
        try:
            if run is not None:
                self._tell(run, [each for news in group for each in news.taken])
        except Exception:
            # The thread speaks for every run of the process: one bad event must not end it.
            log.exception("the tabs could not be told")
        finally:
            for news in group:
                if news.said is not None:
                    news.said.set()
