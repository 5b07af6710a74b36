"""The little of HTTP that the gateway speaks, on plain ASGI."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings

from repositories.connections import give_back

from .spool import Gone

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Result = TypeVar("Result")

SLOWEST_BYTES_A_SECOND = 256
NO_CACHE = (
    (b"cache-control", b"no-cache, max-age=0, must-revalidate"),
    (b"expires", b"Fri, 01 Jan 1980 00:00:00 GMT"),
)


@dataclass(frozen=True, slots=True)
class Request:
    """One request; the body is read once, as it comes."""

    method: str
    parts: tuple[str, ...]
    query: str
    headers: Mapping[str, str]
    receive: Receive

    @classmethod
    def of(cls, scope: Message, receive: Receive) -> "Request":
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        parts = tuple(part for part in scope["path"].split("/") if part)
        query = scope.get("query_string", b"").decode("latin-1")
        return cls(scope["method"], parts, query, headers, receive)

    @property
    def token(self) -> str:
        """The token of an Authorization header, as bearer or as the password of basic auth."""
        kind, _, value = self.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return value.strip()
        if kind.lower() == "basic":
            try:
                return base64.b64decode(value).decode().partition(":")[2]
            except ValueError:
                return ""
        return ""

    @property
    def is_gzip(self) -> bool:
        return self.headers.get("content-encoding", "") in {"gzip", "x-gzip"}

    async def body(self) -> AsyncIterator[bytes]:
        """The body in pieces. Raises Gone for a client that left, stalls or drips."""
        started, size, more = time.monotonic(), 0, True
        while more:
            try:
                async with asyncio.timeout(settings.GATEWAY_IDLE_SECONDS):
                    message = await self.receive()
            except TimeoutError:
                raise Gone("nothing came for too long") from None
            if message["type"] == "http.disconnect":
                raise Gone("the client left")
            piece = message.get("body", b"")
            size += len(piece)
            took = time.monotonic() - started
            if took > settings.GATEWAY_IDLE_SECONDS and size < took * SLOWEST_BYTES_A_SECOND:
                raise Gone("the client sends too slowly")
            if piece:
                yield piece
            more = message.get("more_body", False)


async def answer(
    send: Send, status: int, content: bytes, kind: str = "text/plain; charset=utf-8"
) -> None:
    """One whole answer."""
    await begin(send, status, kind, length=len(content))
    await send({"type": "http.response.body", "body": content})


async def begin(send: Send, status: int, kind: str, *, length: int | None = None) -> None:
    """The head of an answer whose body follows in pieces."""
    headers = [(b"content-type", kind.encode()), *NO_CACHE]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def piece(send: Send, content: bytes) -> None:
    await send({"type": "http.response.body", "body": content, "more_body": True})


async def finish(send: Send) -> None:
    await send({"type": "http.response.body", "body": b""})


async def in_thread(call: Callable[..., Result], *arguments: Any) -> Result:
    """The call's result from a thread, which gives its database connection back afterwards."""

    def run() -> Result:
        try:
            return call(*arguments)
        finally:
            give_back()

    return await asyncio.to_thread(run)
