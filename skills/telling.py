"""How far a job is: what it does, how many of how many, how much came over the wire.

Written down at most once a second, so that every open page shows it and a sweep knows that the
worker lives. Nothing is guessed: without a known end there is no percentage.
"""

import time
from collections.abc import Callable

from outside.sentences import Sentence, phrase

STEP_SECONDS = 1.0
Write = Callable[[str, int | None], None]


class Telling:
    """`write` keeps the stage and the percentage (None: no known end); it raises when the job was
    given to somebody else or stopped."""

    def __init__(self, write: Write) -> None:
        self._write, self._told = write, 0.0
        self._stage, self._received, self._before = Sentence(""), 0, 0
        self._done, self._most = 0, 0

    def stage(self, text: Sentence, *, most: int = 0) -> None:
        """Something else is done from now on; `most` of it when that is known."""
        self._stage, self._done, self._most = text, 0, most
        self._before, self._told = self._received, 0.0
        self.tick()

    def done(self, count: int) -> None:
        self._done = count
        self.tick()

    def received(self, size: int) -> None:
        """So many bytes came since the job began. Only noted: `tick` tells it."""
        self._received = size

    def tick(self) -> None:
        if time.monotonic() - self._told < STEP_SECONDS:
            return
        self._told = time.monotonic()
        percent = min(100, 100 * self._done // self._most) if self._most else None
        self._write(self._words(), percent)

    def _words(self) -> Sentence:
        if self._most and self._done:
            counted = phrase("%(stage)s: %(done)s of %(most)s")
            return counted % {"stage": self._stage, "done": self._done, "most": self._most}
        if size := self._received - self._before:
            return phrase("%(stage)s: %(size)s so far") % {
                "stage": self._stage, "size": in_words(size),
            }  # fmt: skip
        return self._stage


def in_words(size: int) -> str:
    """`340 KB`, `1.2 MB`."""
    if size < 1000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{size // 1000} KB"
    return f"{size / 1_000_000:.1f} MB"
