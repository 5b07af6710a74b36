"""Keeping leases: one thread a worker process speaks for all runs that the process executes.

It renews the leases, hears that a run is to stop or was taken away, and repeats the presence. A
process that cannot reach the database for as long as a lease lasts stops its runs by itself,
because somebody else may have them by then.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.db import Error, connection

from harness.stop import Stop, StopReason
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

LOOK = """
SELECT r.id, r.fence, r.state, r.stop_reason,
       r.stop_requested_at IS NOT NULL OR r.pause_requested_at IS NOT NULL
FROM runs_run r WHERE r.id = ANY(%s)
"""
RENEW = """
UPDATE runs_run r SET lease_until = clock_timestamp() + make_interval(secs => %s)
FROM unnest(%s::uuid[], %s::bigint[]) AS mine(id, fence)
WHERE r.id = mine.id AND r.fence = mine.fence AND r.state = 'running'
"""


def owner() -> str:
    """This process, as a lease names it."""
    return f"{socket.gethostname()}:{os.getpid()}"


@dataclass(slots=True)
class Held:
    """A run that this process executes."""

    run_id: UUID
    workspace_id: UUID
    fence: int
    stop: Stop
    renewed: float = field(default_factory=time.monotonic)


class Keeper:
    """The leases of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[UUID, Held] = {}
        self._thread: threading.Thread | None = None
        self.is_closing = False

    @contextmanager
    def holding(self, run: Run) -> Iterator[Stop]:
        """Within: the run's lease is renewed, and its stop token hears of what is asked."""
        held = Held(run.pk, run.workspace_id, run.fence, Stop())
        with self._lock:
            self._held[run.pk] = held
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)
                self._thread.start()
        if self.is_closing:
            held.stop.request(StopReason.RELEASE)
        try:
            yield held.stop
        finally:
            with self._lock:
                if self._held.get(run.pk) is held:
                    del self._held[run.pk]

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
        while True:
            held = self._all()
            with self._lock:
                if not self._held:
                    self._thread = None
                    return
            try:
                self._look(held)
                if time.monotonic() - beat >= settings.LEASE_BEAT_SECONDS:
                    self._renew(held)
                    beat = time.monotonic()
            except Error as error:
                log.warning("the leases could not be looked at: %s", error)
                self._give_up_late(held)
            finally:
                connection.close()
            time.sleep(LOOK_SECONDS)

    def _look(self, held: list[Held]) -> None:
        with across_workspaces(), connection.cursor() as cursor:
            cursor.execute(LOOK, [[each.run_id for each in held]])
            rows = {row[0]: row[1:] for row in cursor.fetchall()}
        for each in held:
            fence, state, reason, is_asked = rows.get(each.run_id, (None, None, "", False))
            if fence != each.fence or state != Run.State.RUNNING:
                each.stop.request(StopReason.RELEASE, "Somebody else has the run.")
            elif is_asked:
                each.stop.request(REASONS.get(reason, StopReason.CANCEL))

    def _renew(self, held: list[Held]) -> None:
        ids, fences = [each.run_id for each in held], [each.fence for each in held]
        with across_workspaces():
            with connection.cursor() as cursor:
                cursor.execute(RENEW, [settings.LEASE_SECONDS, ids, fences])
            runs = list(Run.objects.select_related("agent", "space").filter(pk__in=ids))
        for each in held:
            each.renewed = time.monotonic()
        for run in runs:
            broadcast.show_presence(run)

    def _give_up_late(self, held: list[Held]) -> None:
        for each in held:
            if time.monotonic() - each.renewed > settings.LEASE_SECONDS:
                each.stop.request(StopReason.RELEASE, "The lease could not be renewed.")


keeper = Keeper()
