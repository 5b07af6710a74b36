"""One subscription to Valkey for all the tabs of a web process.

A message is read once and handed to the queue of each local tab that listens. When the
connection to Valkey breaks, the tabs are told that they are not live; when it is back, what
was missed cannot be known, and every tab is told to back-fill.
"""

import asyncio
import json
import logging
import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import redis.asyncio

from live import scripts, valkey
from live.limits import limits
from live.tab import Tab
from live.wire import delta, encode, pieces

log = logging.getLogger(__name__)

SUBSCRIBE_AT_ONCE = 500
TABS_AT_ONCE = 50


@dataclass(frozen=True)
class Place:
    """How far a topic is (no epoch: nobody knows), and the texts that are being written in it."""

    epoch: str
    n: int
    blocks: dict[str, bytes]


class Hub:
    """Lives in one event loop. `on_recheck(user_id or "*")` is called for who may have lost access;
    "*" also after each reconnect, since a notice may have been missed."""

    def __init__(self, on_recheck: Callable[[str], None]) -> None:
        self.tabs: set[Tab] = set()
        self.is_live = False
        self._on_recheck = on_recheck
        self._limits = limits()
        self._listeners: dict[str, set[Tab]] = {}
        self._joining: defaultdict[str, dict[Tab, list[str]]] = defaultdict(dict)
        self._confirmed: set[str] = set()
        self._confirmations: defaultdict[str, deque[asyncio.Future[None]]] = defaultdict(deque)
        self._awaited: set[str] = set()
        self._connection: Any = None
        self._was_deaf = False
        self._telling: asyncio.Task[None] | None = None
        self._has_tried = asyncio.Event()
        self._heard_at = 0.0
        self._client = redis.asyncio.Redis(
            connection_pool=valkey.connection_pool(
                socket_timeout=self._limits.patience_seconds, max_connections=4
            )
        )
        self._task: asyncio.Task[None] | None = None

    # --- For the consumer ----------------------------------------------------------------------

    def enter(self, tab: Tab) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="live-hub")
        self.tabs.add(tab)
        tab.tell(encode({"live": self.is_live}))

    async def join(
        self, tab: Tab, topic: str, after: tuple[str, int] | None, *, is_told: bool = False
    ) -> None:
        """The tab hears `joined`, then `resync` if its page is older than the topic or of unknown
        age, then the open block of text, then everything that comes. Subscribed first, then
        asked how far the topic is: nothing falls in between. `is_told`: the caller tells the
        state itself afterwards, and the tab need not fetch it."""
        channel = valkey.channel(topic, tab.locale)
        self._listeners.get(channel, set()).discard(tab)
        held = self._joining[channel].setdefault(tab, [])
        try:
            is_subscribed = await self._subscribe(channel)
            place = await self._place(topic) if is_subscribed else None
        finally:
            self._joining[channel].pop(tab, None)
            if not self._joining[channel]:
                del self._joining[channel]
        if tab not in self.tabs or topic not in tab.grants:
            await self._leave_channel(channel)
            return
        is_current = is_told or (place is not None and after == (place.epoch, place.n))
        for text in [*_welcome(topic, place, is_current), *held]:
            tab.offer(text)
        self._listeners.setdefault(channel, set()).add(tab)

    async def leave(self, tab: Tab, topic: str) -> None:
        channel = valkey.channel(topic, tab.locale)
        self._listeners.get(channel, set()).discard(tab)
        await self._leave_channel(channel)

    async def drop(self, tab: Tab) -> None:
        """The tab is gone."""
        self.tabs.discard(tab)
        for topic in list(tab.grants):
            await self.leave(tab, topic)

    # --- Messages ------------------------------------------------------------------------------

    async def _hear(self, channel: str, text: str) -> None:
        for held in self._joining.get(channel, {}).values():
            held.append(text)
        if channel == valkey.CONTROL:
            await self._obey(json.loads(text))
        # A tab that joins from here on reads a place that has this message already.
        listening = self._listeners.get(channel, set())
        tabs = list(listening)
        for start in range(0, len(tabs), TABS_AT_ONCE):
            for tab in tabs[start : start + TABS_AT_ONCE]:
                if tab in listening:
                    tab.offer(text)
            # What was offered leaves the process while the next are offered. It is also the pause
            # in which tabs write that had to wait: a burst is read without one otherwise.
            await asyncio.sleep(0)

    async def _obey(self, control: dict[str, str]) -> None:
        match control:
            case {"recheck": user_id}:
                self._on_recheck(user_id)
            case {"resync": "*"}:
                self._resync_all()
            case {"resync": topic}:
                for locale in valkey.locales():
                    await self._hear(valkey.channel(topic, locale), encode({"resync": topic}))

    def _resync_all(self) -> None:
        for tab in self.tabs:
            for topic in tab.grants:
                tab.offer(encode({"resync": topic}))

    def _tell_all(self, is_live: bool) -> None:
        self.is_live = is_live
        for tab in self.tabs:
            tab.tell(encode({"live": is_live}))

    # --- The connection ------------------------------------------------------------------------

    async def _run(self) -> None:
        wait = self._limits.backoff_seconds
        while True:
            connection = valkey.lone_connection()
            try:
                await self._listen(connection)
            except valkey.DOWN as error:
                log.warning("the hub has no Valkey: %s", error)
            finally:
                if self._connection is not None:
                    wait = self._limits.backoff_seconds
                self._lost()
                await connection.disconnect(nowait=True)
            await asyncio.sleep(wait * random.uniform(0.5, 1.5))
            wait = min(wait * 2, self._limits.backoff_max_seconds)

    async def _listen(self, connection: Any) -> None:
        async with asyncio.timeout(self._limits.join_seconds):
            await connection.connect()
        self._connection = connection
        self._awaited = self._wanted()
        self._has_tried.set()
        await self._send_subscriptions(connection, self._awaited)
        pinging = asyncio.create_task(self._ping(connection))
        try:
            while True:
                answer = await connection.read_response(disconnect_on_error=False)
                self._heard_at = asyncio.get_running_loop().time()
                await self._take(answer)
        finally:
            pinging.cancel()

    async def _take(self, answer: list[bytes]) -> None:
        match answer:
            case [b"message", channel, payload]:
                await self._hear(channel.decode(), payload.decode())
            case [b"subscribe", channel, _]:
                await self._confirm(channel.decode())
            case [b"unsubscribe", channel, _]:
                self._confirmed.discard(channel.decode())

    async def _confirm(self, channel: str) -> None:
        self._confirmed.add(channel)
        if waiting := self._confirmations.get(channel):
            future = waiting.popleft()
            if future.done():
                # Its join gave up waiting: what came meanwhile went past it.
                await self._hear(channel, encode({"resync": valkey.topic(channel)}))
            else:
                future.set_result(None)
            if not waiting:
                del self._confirmations[channel]
        if self._awaited:
            self._awaited.discard(channel)
            if not self._awaited:
                self._found()

    def _found(self) -> None:
        self._tell_all(is_live=True)
        if self._was_deaf:
            self._was_deaf = False
            self._resync_all()
            self._on_recheck("*")
            self._telling = asyncio.create_task(self._tell_texts())

    async def _tell_texts(self) -> None:
        """What is being written now: a fetch does not bring that."""
        for topic in {topic for tab in self.tabs for topic in tab.grants}:
            place = await self._place(topic)
            for text in _texts(topic, place):
                for locale in valkey.locales():
                    await self._hear(valkey.channel(topic, locale), text)

    def _lost(self) -> None:
        self._connection = None
        self._was_deaf = True
        self._has_tried.set()
        self._confirmed.clear()
        self._awaited.clear()
        for waiting in self._confirmations.values():
            for future in waiting:
                if not future.done():
                    future.set_exception(ConnectionError("the hub lost Valkey"))
        self._confirmations.clear()
        if self.is_live:
            self._tell_all(is_live=False)

    async def _ping(self, connection: Any) -> None:
        """A connection that has gone dead without a word is found within two intervals."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._limits.ping_seconds)
            if loop.time() - self._heard_at > 2 * self._limits.ping_seconds:
                await connection.disconnect(nowait=True)
                return
            await connection.send_command("PING")

    # --- Channels ------------------------------------------------------------------------------

    def _wanted(self) -> set[str]:
        return {valkey.CONTROL, *self._listeners, *self._joining}

    async def _subscribe(self, channel: str) -> bool:
        """True when Valkey has confirmed it; False when it is away: the reconnect brings it."""
        if channel in self._confirmed:
            return True
        await self._has_tried.wait()
        if self._connection is None:
            return False
        confirmed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._confirmations[channel].append(confirmed)
        try:
            await self._send_subscriptions(self._connection, [channel])
            await asyncio.wait_for(confirmed, self._limits.join_seconds)
        except (*valkey.DOWN, TimeoutError):
            return False
        return True

    async def _leave_channel(self, channel: str) -> None:
        if self._listeners.get(channel) or channel in self._joining:
            return
        self._listeners.pop(channel, None)
        self._confirmed.discard(channel)
        if self._connection is not None:
            try:
                await self._connection.send_command("UNSUBSCRIBE", channel)
            except valkey.DOWN:
                log.debug("a channel was left together with its connection")

    async def _send_subscriptions(self, connection: Any, channels: Iterable[str]) -> None:
        names = list(channels)
        for start in range(0, len(names), SUBSCRIBE_AT_ONCE):
            await connection.send_command("SUBSCRIBE", *names[start : start + SUBSCRIBE_AT_ONCE])

    async def _place(self, topic: str) -> Place | None:
        where = self._client.register_script(scripts.WHERE)
        keys = [valkey.counter(topic), valkey.BOOT, valkey.open_blocks(topic)]
        try:
            epoch, n, *texts = await where(keys=keys, args=[valkey.text(topic, "")])
        except valkey.DOWN:
            return None
        blocks = {name.decode(): text for name, text in zip(texts[::2], texts[1::2], strict=True)}
        return Place(epoch.decode(), int(n), blocks)


def _welcome(topic: str, place: Place | None, is_current: bool) -> list[str]:
    """`joined` names the open blocks, so that a tab forgets those that ended while it was away."""
    joined: dict[str, Any] = {"joined": topic}
    if place is not None:
        joined["blocks"] = list(place.blocks)
    if place is not None and place.epoch:
        joined |= {"epoch": place.epoch, "n": place.n}
    texts = [encode(joined)]
    if not is_current:
        texts.append(encode({"resync": topic}))
    if place is None:
        # The fetch does not bring what is being written: the tab asks again for that.
        texts.append(encode({"error": "unavailable", "topic": topic}))
    return [*texts, *_texts(topic, place)]


def _texts(topic: str, place: Place | None) -> list[str]:
    blocks = {} if place is None else place.blocks
    return [
        delta(topic, block, at, piece)
        for block, text in blocks.items()
        for at, piece in pieces(0, text)
    ]
