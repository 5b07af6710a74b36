"""Connections that wait for the next request.

One that the server has closed is seen without asking it, and replaced by whoever wanted it: after
a restart nobody gets a dead one. psycopg's own pool asks each time, a round trip a request; it
sleeps for one second, two, four … for each dead one that it finds, and as long after an attempt
that failed, so that who comes when the database is back waits all the same.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from workspaces.standby import IDLE_SECONDS, lives

Open = psycopg.Connection[Any]

# A database that is started again is back within this time: until then one waits, then one is told.
PATIENCE_SECONDS = 2.0
RETRY_SECONDS = 0.05


class Pool:
    """At most `max_size` are out at once; who gets no turn within `timeout` seconds is told.

    Its methods have the names by which Django calls those of psycopg's pool.
    """

    def __init__(self, connect: Callable[[], Open], *, max_size: int, timeout: float) -> None:
        self._connect = connect
        self._size = max_size
        self._timeout = timeout
        self._turns = threading.BoundedSemaphore(max_size)
        # With the time since when it rests; the last one rests least.
        self._free: list[tuple[float, Open]] = []

    def open(self) -> None:
        """Nothing is opened before somebody asks."""

    def getconn(self) -> Open:
        """A connection that lives; raises psycopg.OperationalError when there is none."""
        began_at = time.monotonic()
        if not self._turns.acquire(timeout=self._timeout):
            raise psycopg.OperationalError(f"all {self._size} connections are in use")
        try:
            ours = self._rested() or self._new(until=began_at + PATIENCE_SECONDS)
        except BaseException:
            self._turns.release()
            raise
        ours._pool = self  # type: ignore[assignment]
        return ours

    def putconn(self, ours: Open) -> None:
        """The next one finds no transaction in it."""
        try:
            now = time.monotonic()
            if _is_clean(ours):
                self._free.append((now, ours))
            self._dismiss(until=now - IDLE_SECONDS)
        finally:
            self._turns.release()

    def close(self) -> None:
        """No connection is left that is not in use."""
        self._dismiss(until=time.monotonic())

    def _rested(self) -> Open | None:
        with suppress(IndexError):
            while True:
                since, ours = self._free.pop()
                if lives(ours) and time.monotonic() - since < IDLE_SECONDS:
                    return ours
                ours.close()
        return None

    def _new(self, *, until: float) -> Open:
        while True:
            try:
                return self._connect()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
            time.sleep(RETRY_SECONDS)

    def _dismiss(self, *, until: float) -> None:
        with suppress(IndexError):
            while self._free[0][0] <= until:
                self._free.pop(0)[1].close()


def _is_clean(ours: Open) -> bool:
    """Nothing is under way in it any more; what cannot be ended so is closed."""
    if ours.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        with suppress(psycopg.Error):
            ours.rollback()
    if ours.info.transaction_status == TransactionStatus.IDLE:
        return True
    ours.close()
    return False
