"""Keeping leases: one thread a worker process speaks for all runs that the process executes.

It renews the leases, hears that a run is to stop or was taken away, notes its output and shows what
its agent does. A process that cannot reach the database for as long as a lease lasts stops its runs
by itself, because somebody else may have them by then.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db import Error, connection

from harness.stop import Stop, StopReason
from outside.sentences import phrase as _
from workspaces.tenancy import across_workspaces

from . import broadcast
from .models import Run

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.4
REASONS = {
    "cancel": StopReason.CANCEL,
    "pause": StopReason.PAUSE,
    "silence": StopReason.SILENCE,
    "max_time": StopReason.MAX_TIME,
    "budget": StopReason.BUDGET,
}
Doing = Literal["thinking", "running"]

LOOK = """
SELECT r.id, r.fence, r.state, r.stop_reason, p.handle,
       r.stop_requested_at IS NOT NULL OR r.pause_requested_at IS NOT NULL
FROM runs_run r LEFT JOIN workspaces_principal p ON p.id = r.stop_requested_by_id
WHERE r.id = ANY(%s)
"""
RENEW = """
UPDATE runs_run r SET lease_until = clock_timestamp() + make_interval(secs => %s)
FROM unnest(%s::uuid[], %s::bigint[]) AS mine(id, fence)
WHERE r.id = mine.id AND r.fence = mine.fence AND r.state = 'running'
"""
# Text that grows is output too, and no event says so until its block stands.
NOTE_OUTPUT = """
UPDATE runs_runcursor c SET last_output_at = clock_timestamp()
FROM unnest(%s::uuid[], %s::bigint[]) AS mine(id, fence)
WHERE c.run_id = mine.id AND c.fence = mine.fence
"""


def owner() -> str:
    """This process, as a lease names it."""
    return f"{socket.gethostname()}:{os.getpid()}"


def do_nothing() -> None:
    """What a run wants done from time to time, when it wants nothing."""


@dataclass(slots=True)
class Held:
    """A run that this process executes. `run` is as it was claimed; `tick` is called by the keeper
    each time it looks."""

    run: Run
    stop: Stop = field(default_factory=Stop)
    renewed: float = field(default_factory=time.monotonic)
    doing: Doing = "running"
    shown: Doing = "running"
    had_output: bool = False
    tick: Callable[[], None] = do_nothing

    @property
    def is_ours(self) -> bool:
        """Whether the lease can still last: nobody else has the run before it has run out."""
        return time.monotonic() - self.renewed < settings.LEASE_SECONDS


class Keeper:
    """The leases of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[UUID, Held] = {}
        self._threads: dict[str, threading.Thread] = {}
        self.is_closing = False

    @contextmanager
    def holding(self, run: Run) -> Iterator[Held]:
        """Within: the run's lease is renewed, and its stop token hears of what is asked."""
        held = Held(run)
        with self._lock:
            self._held[run.pk] = held
            self._start("keeper", self._keep)
            self._start("lease clock", self._watch_the_time)
        if self.is_closing:
            held.stop.request(StopReason.RELEASE)
        try:
            yield held
        finally:
            with self._lock:
                if self._held.get(run.pk) is held:
                    del self._held[run.pk]

    def _start(self, name: str, work: Callable[[], None]) -> None:
        known = self._threads.get(name)
        if known is None or not known.is_alive():
            self._threads[name] = threading.Thread(target=work, name=name, daemon=True)
            self._threads[name].start()

    def close(self) -> None:
        """The process ends: it claims nothing more, and its runs stop at their next event."""
        self.is_closing = True
        for held in self._all():
            held.stop.request(StopReason.RELEASE, "The worker stops.")

    def _all(self) -> list[Held]:
        with self._lock:
            return list(self._held.values())

    def _keep(self) -> None:
        beat = 0.0
        while held := self._still_held("keeper"):
            try:
                self._look(held)
                if time.monotonic() - beat >= settings.LEASE_BEAT_SECONDS:
                    beat = time.monotonic()
                    self._renew(held)
                self._show(held)
            except Error as error:
                log.warning("the leases could not be looked at: %s", error)
            except Exception:
                # Every run of the process hangs on this thread: one bad row must not end it.
                log.exception("the leases could not be looked at")
            finally:
                with suppress(Error):
                    connection.close()
            time.sleep(LOOK_SECONDS)

    def _watch_the_time(self) -> None:
        """Apart from the thread that asks the database: a database that hangs stops only that."""
        while held := self._still_held("lease clock"):
            self._give_up_late(held)
            time.sleep(LOOK_SECONDS)

    def _still_held(self, name: str) -> list[Held]:
        with self._lock:
            if not self._held:
                self._threads.pop(name, None)
            return list(self._held.values())

    def _look(self, held: list[Held]) -> None:
        with across_workspaces(), connection.cursor() as cursor:
            cursor.execute(LOOK, [[each.run.pk for each in held]])
            rows = {row[0]: row[1:] for row in cursor.fetchall()}
        for each in held:
            fence, state, reason, by, is_asked = rows.get(each.run.pk, (None, None, "", "", False))
            if fence != each.run.fence or state != Run.State.RUNNING:
                each.stop.request(StopReason.RELEASE, "Somebody else has the run.")
            elif is_asked:
                why = REASONS.get(reason, StopReason.CANCEL)
                each.stop.request(why, in_words(why, by=by))

    def _renew(self, held: list[Held]) -> None:
        now = time.monotonic()  # before the database's own clock is read
        wrote = [each for each in held if each.had_output]
        for each in wrote:
            each.had_output = False
        with across_workspaces(), connection.cursor() as cursor:
            cursor.execute(RENEW, [settings.LEASE_SECONDS, *_keys(held)])
            if wrote:
                cursor.execute(NOTE_OUTPUT, _keys(wrote))
        for each in held:
            each.renewed = now
            self._show_one(each)

    def _show(self, held: list[Held]) -> None:
        for each in held:
            each.tick()
            if each.doing != each.shown:
                self._show_one(each)

    def _show_one(self, held: Held) -> None:
        held.shown = held.doing
        broadcast.show_presence(held.run, held.shown)

    def _give_up_late(self, held: list[Held]) -> None:
        for each in held:
            if not each.is_ours:
                each.stop.request(StopReason.RELEASE, "The lease could not be renewed.")


def in_words(reason: StopReason, *, by: str | None = None) -> str:
    """Why a run was stopped, as its last line says it."""
    if reason is StopReason.SILENCE:
        return _("The run gave no output for so long that the silence watchdog ended it.")
    if reason is StopReason.MAX_TIME:
        return _("The run has used all its time.")
    if reason is StopReason.BUDGET:
        return _("The run has used all its budget.")
    return _("Stopped by @%(handle)s.") % {"handle": by} if by else _("Stopped.")


def _keys(held: list[Held]) -> list[Any]:
    return [[each.run.pk for each in held], [each.run.fence for each in held]]


keeper = Keeper()


def give_up_all() -> None:
    """On TERM every run of this process stops at its next event and goes on in another."""
    keeper.close()
