"""Notices that may come in bursts: the first goes out at once, then at most one a window."""

import os
import threading
import time
from functools import cache

from live.later import later
from live.limits import limits
from live.publish import Render, after_commit, publish_rendered


class Bursts:
    """For each notice when it went out last, and what waits for the end of its window."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: dict[tuple[str, str, str], float] = {}
        self._waiting: dict[tuple[str, str, str], Render] = {}

    def come(self, notice: tuple[str, str, str], render: Render) -> None:
        window = limits().notice_seconds
        with self._lock:
            rest = self._until.get(notice, 0) - time.monotonic()
            if rest > 0:
                if notice not in self._waiting:
                    later(rest, lambda: self._end(notice))
                self._waiting[notice] = render
                return
            self._until[notice] = time.monotonic() + window
            # The window is forgotten when it is over, or the table would only grow.
            later(window, lambda: self._over(notice))
        self._send(notice, render)

    def _end(self, notice: tuple[str, str, str]) -> None:
        with self._lock:
            render = self._waiting.pop(notice, None)
        if render is not None:
            self.come(notice, render)

    def _over(self, notice: tuple[str, str, str]) -> None:
        with self._lock:
            if self._until.get(notice, 0) <= time.monotonic():
                self._until.pop(notice, None)

    def _send(self, notice: tuple[str, str, str], render: Render) -> None:
        topic, kind, _ = notice
        publish_rendered(topic, kind, render)


def publish_soon(topic: str, kind: str, render: Render, *, key: str = "") -> None:
    """As `publish_rendered`, for notices that repeat: of those with the same topic, kind and key
    one goes out at once and then one about every 100 ms, rendered when it is sent, so that the
    last one always shows the state after the last commit."""
    after_commit(lambda: _bursts(os.getpid()).come((topic, kind, key), render))


@cache
def _bursts(process: int) -> Bursts:
    return Bursts()
