"""The tabs of this process as rows of the presence: told, repeated as a heartbeat, let go."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from live import presence, valkey
from live.limits import limits
from live.presence import Row
from live.watch import in_thread

log = logging.getLogger(__name__)


class People:
    """Of one process. A process that is killed stops repeating its rows, and they run out."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, dict[str, Row]] = defaultdict(dict)
        self._limits = limits()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        if not self._tasks:
            loops = (self._beat(), self._sweep())
            self._tasks = [asyncio.create_task(loop) for loop in loops]

    async def here(self, scope: str, row: Row) -> None:
        rows = self._rows[scope]
        if row.member in rows and _is_same(rows[row.member], row):
            return
        rows[row.member] = row
        await self._tell(presence.put, scope, [row], self._limits.expiry_seconds)

    async def gone(self, scope: str, member: str) -> None:
        rows = self._rows.get(scope, {})
        if rows.pop(member, None) is None:
            return
        if not rows:
            del self._rows[scope]
        await self._tell(presence.linger, scope, [member], self._limits.linger_seconds)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._limits.heartbeat_seconds)
            for scope, rows in list(self._rows.items()):
                current = list(rows.values())
                await self._tell(presence.put, scope, current, self._limits.expiry_seconds)

    async def _sweep(self) -> None:
        """Of what others left behind: whoever has readers of a scope looks."""
        while True:
            await asyncio.sleep(self._limits.sweep_seconds)
            for scope in list(self._rows):
                await self._tell(presence.sweep, scope)

    async def _tell(self, act: Callable[..., None], *args: Any) -> None:
        try:
            await in_thread(act, *args)
        except valkey.DOWN:
            # The next heartbeat says it again.
            log.debug("presence was not told: Valkey is away")


def now() -> int:
    return time.time_ns() // 1_000_000


def _is_same(old: Row, new: Row) -> bool:
    return (old.state, old.locus, old.typing) == (new.state, new.locus, new.typing)
