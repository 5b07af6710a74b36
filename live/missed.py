"""What could not be announced while Valkey was away.

The first failure opens the gap: from then on a topic is only noted, at no cost to the act that
wanted to announce it. When Valkey answers again every noted topic is told to back-fill.
"""

import logging
import os
import threading
from collections.abc import Callable
from functools import cache

from live import valkey, wire
from live.later import later

log = logging.getLogger(__name__)

FIRST_RETRY_SECONDS = 0.2
LAST_RETRY_SECONDS = 2.0
MOST_NOTES = 10_000

Act = Callable[[], None]


class Missed:
    """The gap of one process: open from the first failure until Valkey answers again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: dict[wire.Control, Act] = {}
        self.is_open = False

    def note(self, control: wire.Control, act: Act | None = None) -> None:
        """`control` is sent when Valkey is back; with `act`, that is done instead. A newer note
        with the same words takes the older one's place."""
        with self._lock:
            self._notes[control] = act or (lambda: wire.send_controls([control]))
            if len(self._notes) > MOST_NOTES:
                # Too much was missed to know it all: every tab asks again.
                self._notes = {EVERYTHING: lambda: wire.send_controls(ALL)}
            if self.is_open:
                return
            self.is_open = True
        log.warning("Valkey does not answer; tabs will back-fill when it is back")
        self._try_in(FIRST_RETRY_SECONDS)

    def _try_in(self, seconds: float) -> None:
        later(seconds, lambda: self._try(seconds))

    def _try(self, waited: float) -> None:
        with self._lock:
            notes = dict(self._notes)
        try:
            for act in notes.values():
                act()
        except valkey.DOWN:
            self._try_in(min(waited * 2, LAST_RETRY_SECONDS))
            return
        with self._lock:
            done = {control for control, act in notes.items() if self._notes.get(control) is act}
            self._notes = {k: act for k, act in self._notes.items() if k not in done}
            self.is_open = bool(self._notes)
        if self.is_open:
            self._try_in(FIRST_RETRY_SECONDS)
        else:
            log.info("Valkey answers again; %d notes were sent", len(notes))


EVERYTHING: wire.Control = ("resync", "*")
ALL: list[wire.Control] = [EVERYTHING, ("recheck", "*")]


def missed() -> Missed:
    """The one of this process; a forked child begins without a gap."""
    return _missed(os.getpid())


@cache
def _missed(process: int) -> Missed:
    return Missed()
