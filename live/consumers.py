"""The socket of one tab. What both sides may say, and the close codes, stand in `README.md`.

A handshake without a signed-in session is refused before any frame. Nothing here touches the
database but the question whether a topic may be joined.
"""

import asyncio
import logging
import secrets
import time
from typing import Any
from urllib.parse import parse_qs

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.conf import settings
from django.http.cookie import parse_cookie

from live import access, presence, valkey, words
from live.access import JoinGrant
from live.house import House, house
from live.limits import Limits, limits
from live.people import now
from live.presence import Row
from live.tab import Tab
from live.watch import in_thread
from live.wire import encode

log = logging.getLogger(__name__)

# Codes of an application begin at 4000: Daphne sends no others but 1000.
TOO_LARGE = ("too_large", 4009)
TOO_MANY = ("too_many", 4008)
TOO_OFTEN = ("rate", 4008)

MALFORMED_COSTS = 5


class Allowance:
    """How much a tab may still say: a burst, then so many messages a second."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = float(limits.message_burst)
        self._at = time.monotonic()

    def takes(self, cost: int) -> bool:
        now = time.monotonic()
        earned = (now - self._at) * self._limits.messages_per_second
        self._left = min(self._left + earned, self._limits.message_burst) - cost
        self._at = now
        return self._left >= 0


class LiveConsumer(AsyncConsumer):  # type: ignore[misc]
    tab: Tab
    house: House

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._leave()

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Channels' own version hops to a thread for each message to close database connections.
        match message["type"]:
            case "websocket.connect":
                await self._connect()
            case "websocket.receive":
                await self._receive(message.get("text"))
            case "websocket.disconnect":
                raise StopConsumer

    async def _connect(self) -> None:
        session_key = _session_key(self.scope)
        user_id = await self._signed_in(session_key)
        if user_id is None:
            await self.send({"type": "websocket.close"})
            return
        self.house = house()
        self.limits = limits()
        self.allowance = Allowance(self.limits)
        self.tab = Tab(
            self.base_send, user_id=user_id, session_key=session_key, locale=_locale(self.scope)
        )
        self.name = secrets.token_hex(8)
        self.here = words.Here("", typing=False, idle=False)
        self.scopes: dict[str, Row] = {}
        await self.send({"type": "websocket.accept"})
        self.writer = asyncio.create_task(self.tab.write())
        if self.house.tabs_of(user_id) >= self.limits.tabs_per_user:
            self.tab.close(*TOO_MANY)
        else:
            self.house.enter(self.tab)

    async def _signed_in(self, session_key: str) -> str | None:
        if not session_key:
            return None
        try:
            user_id: str | None = await in_thread(access.signed_in, session_key)
        except Exception:
            log.exception("live could not ask whose session it is")
            return None
        return user_id

    async def _leave(self) -> None:
        """Whatever ended the socket: nothing of the tab stays behind."""
        if not hasattr(self, "writer"):
            return
        self.writer.cancel()
        self.tab.is_closed = True
        await self.house.hub.drop(self.tab)
        for scope, row in self.scopes.items():
            await self.house.people.gone(scope, row.member)

    async def _receive(self, text: str | None) -> None:
        if self.tab.is_closing:
            return
        if text is not None and len(text) > self.limits.message_bytes:
            self.tab.close(*TOO_LARGE)
            return
        try:
            word = words.read(text or "")
        except words.Malformed:
            self._answer({"error": "malformed"}, cost=MALFORMED_COSTS)
            return
        # What the tab says to have got is bounded by what it was sent.
        is_credit = isinstance(word, words.Got) and self.tab.got(word.count)
        if is_credit:
            return
        if not self.allowance.takes(1):
            self.tab.close(*TOO_OFTEN)
            return
        await self._act(word)

    async def _act(self, word: words.Word) -> None:
        match word:
            case words.Join(topic, after):
                await self._join(topic, after)
            case words.Leave(topic):
                await self._leave_topic(topic)
            case words.Ping(token):
                self.tab.offer(encode({"pong": token}))
            case words.Here():
                self.here = word
                await self._show()

    async def _join(self, topic: str, after: tuple[str, int] | None) -> None:
        grant = await self._granted(topic)
        if grant is None or self.tab.is_closing:
            return
        self.tab.grants[topic] = grant
        is_presence = bool(grant.scope) and topic == presence.topic(grant.scope)
        await self.house.hub.join(self.tab, topic, after, is_told=is_presence)
        await self._show()
        if is_presence:
            entries = presence.public(await in_thread(presence.snapshot, grant.scope))
            for part in presence.parts(entries):
                self.tab.offer(encode({"topic": topic, "kind": "presence", "data": part}))

    async def _granted(self, topic: str) -> JoinGrant | None:
        is_full = (
            topic not in self.tab.grants and len(self.tab.grants) >= self.limits.topics_per_tab
        )
        if is_full or not words.is_topic(topic):
            self._answer({"denied": topic})
            return None
        try:
            grant: JoinGrant | None = await in_thread(
                access.may_join, self.tab.user_id, self.tab.session_key, topic
            )
        except Exception:
            log.exception("live could not ask who may join a topic")
            self._answer({"error": "unavailable", "topic": topic})
            return None
        if grant is None:
            self._answer({"denied": topic})
            await self._leave_topic(topic)
        return grant

    async def _leave_topic(self, topic: str) -> None:
        if self.tab.grants.pop(topic, None) is not None:
            await self.house.hub.leave(self.tab, topic)
            await self._show()

    async def _show(self) -> None:
        """Each scope that the tab reads sees the person, at a place only if the tab reads that."""
        grants = self.tab.grants
        place = grants.get(self.here.locus)
        principals = {g.scope: g.principal for g in grants.values() if g.scope and g.principal}
        for scope, row in list(self.scopes.items()):
            if scope not in principals:
                del self.scopes[scope]
                await self.house.people.gone(scope, row.member)
        for scope, principal in principals.items():
            is_here = place is not None and place.scope == scope
            row = Row(
                "human",
                principal,
                self.name,
                "idle" if self.here.idle else "online",
                locus=self.here.locus if is_here else "",
                typing=is_here and self.here.typing,
                is_private=place is not None and is_here and place.is_private,
                version=now(),
            )
            self.scopes[scope] = row
            await self.house.people.here(scope, row)

    def _answer(self, message: dict[str, Any], *, cost: int = 0) -> None:
        if self.allowance.takes(cost):
            self.tab.offer(encode(message))
        else:
            self.tab.close(*TOO_OFTEN)


def _session_key(scope: dict[str, Any]) -> str:
    cookies = [value for name, value in scope["headers"] if name == b"cookie"]
    jar = parse_cookie("; ".join(value.decode("latin-1") for value in cookies))
    return jar.get(settings.SESSION_COOKIE_NAME, "")


def _locale(scope: dict[str, Any]) -> str:
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("lang", [""])[0].lower()
    known = valkey.locales()
    return next((code for code in (asked, settings.LANGUAGE_CODE) if code in known), known[0])
