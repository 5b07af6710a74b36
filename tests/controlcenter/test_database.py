"""A PostgreSQL that was restarted costs nobody a page."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, connections

from controlcenter.postgresql import pool as pooling
from controlcenter.postgresql.pool import Pool

pytestmark = pytest.mark.django_db
SIZE = 4


@pytest.fixture
def pool(db: None, settings: Any) -> Iterator[Pool]:
    """The application's alias as a web process has it: over a pool."""
    options = connections["default"].settings_dict["OPTIONS"]
    options["pool"] = {"max_size": SIZE, "timeout": 20}
    pooled: Any = connections["default"]
    yield pooled.pool
    pooled.close_pool()
    del options["pool"]


def in_thread(call: Any) -> Any:
    """Each thread has a connection object of its own, as each page thread has."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(call).result()


def at_once(count: int) -> list[int]:
    """The server's processes behind that many connections, all taken at the same moment."""
    together = Barrier(count)

    def pid() -> int:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                [found] = cursor.fetchone()
                together.wait(60)
            return int(found)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(lambda _: pid(), range(count)))


def end(pids: set[int]) -> None:
    with psycopg.connect(**connections["default"].get_connection_params()) as other:
        for pid in pids:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_connections_that_died_in_the_pool_are_given_to_nobody(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_waiting(seconds: float) -> None:
        raise AssertionError(f"{seconds} s of sleep for a dead connection")

    monkeypatch.setattr(time, "sleep", no_waiting)
    dead = set(at_once(SIZE))
    assert set(at_once(SIZE)) == dead
    end(dead)
    fresh = set(at_once(SIZE))
    assert len(fresh) == SIZE
    assert not fresh & dead


def test_what_is_left_open_is_undone_before_the_next_one(pool: Pool) -> None:
    first = pool.getconn()
    first.autocommit = False
    first.execute("SET LOCAL statement_timeout = '7s'")
    pool.putconn(first)
    again = pool.getconn()
    assert again is first
    assert again.execute("SHOW statement_timeout").fetchone() != ("7s",)
    pool.putconn(again)


def test_one_that_broke_is_not_kept(pool: Pool) -> None:
    broken = pool.getconn()
    end({broken.info.backend_pid})
    with pytest.raises(psycopg.OperationalError):
        broken.execute("SELECT 1")
    pool.putconn(broken)
    fresh = pool.getconn()
    assert fresh.execute("SELECT 1").fetchone() == (1,)
    pool.putconn(fresh)


def test_a_page_waits_for_a_database_that_comes_back(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, tried = pool._connect, threading.Event()

    def away() -> Any:
        if tried.is_set():
            return connect()
        tried.set()
        raise psycopg.OperationalError("the database system is starting up")

    monkeypatch.setattr(pool, "_connect", away)
    ours = pool.getconn()
    assert tried.is_set()
    pool.putconn(ours)


def test_a_database_that_stays_away_is_told_and_costs_no_turn(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> Any:
        raise psycopg.OperationalError("connection refused")

    monkeypatch.setattr(pooling, "PATIENCE_SECONDS", 0.0)
    whole = pool._connect
    monkeypatch.setattr(pool, "_connect", away)
    for _ in range(SIZE + 1):
        with pytest.raises(OperationalError, match="connection refused"):
            in_thread(lambda: connection.ensure_connection())
    monkeypatch.setattr(pool, "_connect", whole)
    assert len(set(at_once(SIZE))) == SIZE


def test_who_gets_no_turn_is_told(pool: Pool) -> None:
    pool._timeout = 0.01
    out = [pool.getconn() for _ in range(SIZE)]
    with pytest.raises(psycopg.OperationalError, match=f"all {SIZE} connections are in use"):
        pool.getconn()
    pool.putconn(out.pop())
    out.append(pool.getconn())
    for one in out:
        pool.putconn(one)


def test_what_rested_long_is_closed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = pool.getconn(), pool.getconn()
    pool.putconn(first)
    monkeypatch.setattr(pooling, "IDLE_SECONDS", 0.0)
    pool.putconn(second)
    assert first.closed
    assert second.closed
