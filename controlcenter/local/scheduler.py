"""The scheduler role: calls every function of `settings.CC_TICKS` at its interval.

However many schedulers run, one of them acts: the one that holds an advisory lock. A slow tick
delays only itself, and a failing one is logged and tried again at its next time.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import psycopg
from django.conf import settings
from django.db import close_old_connections, connections
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

# Any number will do that nobody else uses: the letters "cctick".
LOCK_KEY = 0x63637469636B
THREADS = 4
RETRY_SECONDS = 2.0


@dataclass
class Tick:
    """One function, when it is due next (monotonic seconds), and its call in progress."""

    path: str
    every_seconds: float
    call: Callable[[], object]
    due_at: float = 0.0
    running: Future[None] | None = field(default=None)

    def is_due(self, now: float) -> bool:
        return now >= self.due_at and (self.running is None or self.running.done())


def load(entries: Sequence[tuple[str, float]]) -> list[Tick]:
    """The functions behind the dotted paths; one that is missing is named and left out."""
    ticks = []
    for path, every_seconds in entries:
        try:
            ticks.append(Tick(path, float(every_seconds), import_string(path)))
        except ImportError as error:
            logger.warning("%s of CC_TICKS cannot be imported: %s", path, error)
    return ticks


def run(stop: threading.Event) -> None:
    """Tick until `stop` is set. Survives a database that goes away and comes back."""
    ticks = load(settings.CC_TICKS)
    with ThreadPoolExecutor(THREADS, thread_name_prefix="tick") as pool:
        while not stop.is_set():
            try:
                _while_holding_the_lock(ticks, pool, stop)
            except psycopg.OperationalError as error:
                logger.warning("The scheduler lost the database: %s", str(error).strip())
            stop.wait(RETRY_SECONDS)


def _while_holding_the_lock(
    ticks: list[Tick], pool: ThreadPoolExecutor, stop: threading.Event
) -> None:
    # A connection of its own, not the pool's: the lock lives and dies with it.
    parameters = connections["default"].get_connection_params()
    with psycopg.connect(**parameters, autocommit=True) as connection:
        taken = connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK_KEY]).fetchone()
        if taken != (True,):
            return
        while not stop.is_set():
            connection.execute("SELECT 1")  # raises once the lock is lost with its connection
            start_due(ticks, pool, now=time.monotonic())
            stop.wait(max(0.05, min(tick.due_at for tick in ticks) - time.monotonic()))


def start_due(ticks: list[Tick], pool: ThreadPoolExecutor, *, now: float) -> None:
    """Start what is due and not still running; its next time is counted from now."""
    for tick in ticks:
        if tick.is_due(now):
            tick.due_at = now + tick.every_seconds
            tick.running = pool.submit(_call, tick)


def _call(tick: Tick) -> None:
    try:
        tick.call()
    except Exception:  # one edge of the process: the next tick must come
        logger.exception("%s failed", tick.path)
    finally:
        with suppress(psycopg.Error):
            close_old_connections()
