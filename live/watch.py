"""Whether those who listen still may: asked again when somebody says so, and from time to time.

Three nets, from fast to sure: `live.recheck` reaches every process at once; every 4 s one query
finds the sessions that have ended; every 30 s each tab's topics are asked again.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from channels.db import database_sync_to_async

from live import access
from live.limits import limits
from live.tab import Tab

log = logging.getLogger(__name__)

SIGNED_OUT = ("signed_out", 4001)
ACCESS_CHANGED = ("access", 4003)
TOO_SLOW = ("slow", 4008)

# Few: each may hold a database connection, and pages need theirs.
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="live-access")


async def in_thread(call: Callable[..., Any], *args: Any) -> Any:
    """Calls what may read the database or Valkey, outside of the event loop."""
    run = database_sync_to_async(call, thread_sensitive=False, executor=_threads)
    return await run(*args)


class Watch:
    """Of one hub's tabs."""

    def __init__(self, tabs: Callable[[], Iterable[Tab]]) -> None:
        self._tabs = tabs
        self._limits = limits()
        self._asked: set[str] = set()
        self._has_asked = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        if not self._tasks:
            loops = (self._answer(), self._look_at_sessions(), self._look_at_all())
            self._tasks = [asyncio.create_task(loop) for loop in loops]

    def ask(self, user_id: str) -> None:
        """`user_id` or "*"."""
        self._asked.add(user_id)
        self._has_asked.set()

    async def _answer(self) -> None:
        while True:
            await self._has_asked.wait()
            self._has_asked.clear()
            asked, self._asked = self._asked, set()
            tabs = [tab for tab in self._tabs() if "*" in asked or tab.user_id in asked]
            await self._check(tabs)

    async def _look_at_sessions(self) -> None:
        while True:
            await asyncio.sleep(self._limits.session_seconds)
            tabs = list(self._tabs())
            self._close_slow(tabs)
            keys = {tab.session_key for tab in tabs}
            try:
                open_keys = await in_thread(access.open_sessions, keys) if keys else keys
            except Exception:
                log.exception("live could not ask which sessions are open")
                continue
            for tab in tabs:
                if tab.session_key not in open_keys:
                    tab.close(*SIGNED_OUT)

    async def _look_at_all(self) -> None:
        while True:
            await asyncio.sleep(self._limits.recheck_seconds)
            await self._check(list(self._tabs()))

    async def _check(self, tabs: list[Tab]) -> None:
        """One question for each session, over the topics of all its tabs."""
        sessions: dict[tuple[str, str], list[Tab]] = defaultdict(list)
        for tab in tabs:
            sessions[tab.user_id, tab.session_key].append(tab)
        for (user_id, session_key), group in sessions.items():
            topics = sorted({topic for tab in group for topic in tab.grants})
            try:
                granted = await in_thread(access.still_granted, user_id, session_key, topics)
            except Exception:
                # A database that is away for a moment must not throw everybody out; the next
                # round asks again, and joins, which need an answer, are refused meanwhile.
                log.exception("live could not ask again who may listen")
                continue
            self._act(group, topics, granted)

    def _act(
        self, tabs: list[Tab], topics: list[str], granted: dict[str, access.JoinGrant] | None
    ) -> None:
        if granted is None:
            for tab in tabs:
                tab.close(*SIGNED_OUT)
            return
        lost = set(topics) - set(granted)
        for tab in tabs:
            if lost & set(tab.grants):
                tab.close(*ACCESS_CHANGED)

    def _close_slow(self, tabs: list[Tab]) -> None:
        for tab in tabs:
            since = tab.behind_since
            if since is not None and time.monotonic() - since > self._limits.slow_seconds:
                tab.close(*TOO_SLOW)
