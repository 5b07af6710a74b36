"""Connections that stay with the process, for single calls that are made all the time.

A connection of the pool is taken out, set up and put back around each use; that costs more than
most calls. One that stays is looked at without a word: what the server has closed can be read from,
and is replaced. Nothing is bound in it between two calls.
"""

import os
import select
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import psycopg
from django.db import connection

KEPT, MOST = 2, 8
# Behind many a firewall a connection that is silent for minutes is dead, and nobody says so.
IDLE_SECONDS = 60.0

Open = psycopg.Connection[Any]


class Standby:
    """Who asks has a connection of its own for as long as that takes; at most MOST ask at once."""

    def __init__(self) -> None:
        self._turns = threading.BoundedSemaphore(MOST)
        self._free: list[tuple[float, Open]] = []

    def ask(self, statement: str, parameters: Sequence[Any]) -> Any:
        """The one value of the statement, which is a transaction by itself.

        Raises django.db.Error; when the connection broke, nobody knows whether it was carried out.
        """
        with self._turns, connection.wrap_database_errors:
            ours = self._take()
            try:
                [value] = ours.execute(statement, parameters).fetchone() or [None]
            except BaseException:
                ours.close()
                raise
            self._put(ours)
            return value

    def close(self) -> None:
        """No connection is left that is not in use."""
        while self._free:
            self._free.pop()[1].close()

    def _take(self) -> Open:
        with suppress(IndexError):
            while True:
                since, ours = self._free.pop()
                if lives(ours) and time.monotonic() - since < IDLE_SECONDS:
                    return ours
                ours.close()
        return _connect()

    def _put(self, ours: Open) -> None:
        self._free.append((time.monotonic(), ours))
        with suppress(IndexError):
            while len(self._free) > KEPT:
                self._free.pop(0)[1].close()


def lives(ours: Open) -> bool:
    """A server that says something unasked says goodbye."""
    asking = select.poll()
    asking.register(ours.fileno(), select.POLLIN)
    return not asking.poll(0)


def _connect() -> Open:
    # Parameters travel apart from the statement: with Django's own cursor they are written into it.
    own: dict[str, Any] = {"cursor_factory": psycopg.Cursor, "autocommit": True}
    return psycopg.connect(**(connection.get_connection_params() | own))


def standby() -> Standby:
    """The one of this process; a forked child opens its own."""
    return _standby(os.getpid(), str(connection.settings_dict["NAME"]))


@cache
def _standby(process: int, database: str) -> Standby:
    return Standby()
