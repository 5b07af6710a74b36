"""What is on its way to one open tab. It never makes anybody else wait.

Two bounds, since servers differ: the queue in front of the server, and what the tab has not yet
said to have got (`{"got": count}`, every 32 messages). The second one is needed because Daphne
takes every message at once and keeps it in memory, however slow the tab is.

A tab that goes over a bound is *behind*: its queue is thrown away and nothing is queued until it
has caught up; then it is told to back-fill every topic it listens to.
"""

import asyncio
import logging
import time
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from live.access import JoinGrant
from live.limits import limits
from live.wire import encode

log = logging.getLogger(__name__)

BROKEN = ("broken", 4011)

Send = Callable[[dict[str, Any]], Coroutine[Any, Any, None]]


class Tab:
    def __init__(self, send: Send, *, user_id: str, session_key: str, locale: str) -> None:
        self.user_id, self.session_key, self.locale = user_id, session_key, locale
        self.grants: dict[str, JoinGrant] = {}
        self.behind_since: float | None = None
        self.is_closed = False
        self._send = send
        self._limits = limits()
        self._queue: deque[str] = deque()
        self._queued = 0  # characters
        self._state = ""
        self._flying: deque[int] = deque()  # the lengths of what was sent and not yet got
        self._flown = 0
        self._got = 0
        self._bye: tuple[str, int] | None = None
        self._wake: asyncio.Future[None] | None = None
        self._rest: Coroutine[Any, Any, None] | None = None

    @property
    def is_closing(self) -> bool:
        return self._bye is not None or self.is_closed

    def offer(self, text: str) -> None:
        """The message is queued, or the tab falls behind; returns at once."""
        if self.behind_since is not None or self.is_closing:
            return
        if self._is_idle():
            self._begin_to_send(text)
            return
        self._queue.append(text)
        self._queued += len(text)
        if self._is_overfull():
            self.behind_since = time.monotonic()
            self._drop_queue()
        elif self._wake is not None:
            self._awake()

    def tell(self, text: str) -> None:
        """As `offer`, for a state: a tab that is behind hears the last one when it catches up."""
        self._state = text
        self.offer(text)

    def got(self, count: int) -> bool:
        """The tab has read `count` messages in all. False when that cannot be."""
        fresh = count - self._got
        if not 0 < fresh <= len(self._flying):
            return False
        self._got = count
        for _ in range(fresh):
            self._flown -= self._flying.popleft()
        self._awake()
        return True

    def close(self, reason: str, code: int) -> None:
        """Nothing more is sent but why; then the socket closes with that code."""
        if not self.is_closing:
            self._bye = (reason, code)
            self._drop_queue()
            self.behind_since = None
            self._awake()

    async def write(self) -> None:
        """Sends what is offered until the tab is closed or its socket is gone."""
        try:
            while self._bye is None and not self.is_closed:
                await self._write_queue()
                if not self.is_closing:
                    await self._sleep()
        except Exception as error:  # noqa: BLE001  # an edge: it ends this tab alone
            self._broken(error)
        finally:
            if self._rest is not None:
                self._rest.close()
        if self._bye is not None and not self.is_closed:
            await self._say_goodbye(*self._bye)
        self.is_closed = True

    async def _say_goodbye(self, reason: str, code: int) -> None:
        try:
            await self._send({"type": "websocket.send", "text": encode({"bye": reason})})
            await self._send({"type": "websocket.close", "code": code, "reason": reason})
        except (OSError, RuntimeError):
            log.debug("a tab was gone before it was closed")

    async def _write_queue(self) -> None:
        if self._rest is not None:
            rest, self._rest = self._rest, None
            await rest
        while self._bye is None and self._may_fly():
            if self._queue:
                text = self._queue.popleft()
                self._queued -= len(text)
                await self._fly(text)
            elif self.behind_since is not None:
                self._catch_up()
            else:
                return

    async def _fly(self, text: str) -> None:
        self._flying.append(len(text))
        self._flown += len(text)
        await self._send({"type": "websocket.send", "text": text})

    def _begin_to_send(self, text: str) -> None:
        """Sends without waking the writer, unless the server makes us wait. Almost every send is
        done in its first step, and waking a thousand writers costs a fifth of a broadcast."""
        sending = self._fly(text)
        try:
            waits_for = sending.send(None)
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001  # an edge: it ends this tab alone
            self._broken(error)
            return
        self._rest = _resume(sending, waits_for)
        self._awake()

    def _broken(self, error: Exception) -> None:
        if isinstance(error, OSError | RuntimeError):
            # The socket is gone; the server tells the consumer, which cleans up.
            self.is_closed = True
        else:
            log.error("a tab could not be written to", exc_info=error)
            self.close(*BROKEN)

    def _catch_up(self) -> None:
        self.behind_since = None
        if self._state:
            self.offer(self._state)
        for topic in self.grants:
            self.offer(encode({"resync": topic}))

    def _is_idle(self) -> bool:
        is_asleep = self._wake is not None and not self._wake.done()
        return is_asleep and not self._queue and self._may_fly()

    def _may_fly(self) -> bool:
        return not self._flying or (
            len(self._flying) < self._limits.window_messages
            and self._flown < self._limits.window_bytes
        )

    def _is_overfull(self) -> bool:
        if len(self._queue) == 1:
            return False
        return (
            len(self._queue) > self._limits.queue_messages
            or self._queued > self._limits.queue_bytes
        )

    def _drop_queue(self) -> None:
        self._queue.clear()
        self._queued = 0

    async def _sleep(self) -> None:
        self._wake = asyncio.get_running_loop().create_future()
        try:
            await self._wake
        finally:
            self._wake = None

    def _awake(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


@types.coroutine
def _resume(started: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    """Goes on with a coroutine that has been started by hand and waits for a future."""
    try:
        while True:
            try:
                value = yield waits_for
            except BaseException as error:  # noqa: BLE001  # handed on, not caught
                waits_for = started.throw(error)
            else:
                waits_for = started.send(value)
    except StopIteration:
        return
