"""Pages through one thread hop: Django's synchronous request cycle on a small fixed pool.

Django's own ASGI handler hops between threads for each synchronous middleware; this one hops
once. Bodies are read in the event loop, bounded before they are kept; whatever streams leaves the
pool of the pages, so that a slow reader never costs a page its thread.
"""

import asyncio
import logging
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, suppress
from contextvars import Context
from typing import IO, Any

from django.core import signals
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.http import FileResponse, HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Making a page is work of the processor, and threads share one interpreter: each one more makes
# every page dearer (2: 10.9 ms, 4: 12.5 ms). A page that takes longer waits for something else
# than the processor: it counts no more, so that some slow ones keep none of the others.
PAGES_AT_ONCE = 2
SLOW_PAGE_SECONDS = 0.25
PAGE_THREADS = 8
# Made only when needed; each slow reader of a streamed response holds one.
STREAM_THREADS = 64
BODY_LIMIT_BYTES = 25 * 2**20
SPOOL_BYTES = 2**20
# A file up to this size is read in the page's own hop and sent in one piece.
WHOLE_FILE_BYTES = 2**20
FILE_BLOCK_BYTES = 256 * 2**10
# How long we go on reading a refused body, so that the client comes to read the refusal.
DRAIN_SECONDS = 5.0


class Gone(Exception):
    """The client went away before its request was complete."""


class TooLarge(Exception):
    """The body is, or grew, above the limit."""


class PageHandler:
    """An ASGI application for `http` scopes."""

    def __init__(
        self, *, body_limit_bytes: int = BODY_LIMIT_BYTES, at_once: int = PAGES_AT_ONCE
    ) -> None:
        self._body_limit_bytes = body_limit_bytes
        self._cycle = RequestCycle()
        self._turns = asyncio.Semaphore(at_once)
        self._pages = ThreadPoolExecutor(PAGE_THREADS, thread_name_prefix="page")
        self._streams = ThreadPoolExecutor(STREAM_THREADS, thread_name_prefix="stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(scope, receive, limit_bytes=self._body_limit_bytes)
        except Gone:
            return
        except TooLarge:
            await refuse_body(scope, receive, send, limit_bytes=self._body_limit_bytes)
            return
        with body:
            async with _turn(self._turns):
                response = await self._in_thread(self._pages, self._cycle.respond, scope, body)
            if isinstance(response, StreamingHttpResponse):
                await self._stream(response, receive, send)
            else:
                await send(start_of(response))
                await send({"type": "http.response.body", "body": response.content})

    async def _stream(self, response: StreamingHttpResponse, receive: Receive, send: Send) -> None:
        gone = threading.Event()
        leaving = asyncio.ensure_future(_until_disconnect(receive))
        leaving.add_done_callback(lambda _: gone.set())
        await send(start_of(response))
        try:
            if response.is_async:
                await self._send_async_parts(response, send, leaving)
            else:
                deliver = _Delivery(send, gone, asyncio.get_running_loop())
                await self._in_thread(self._streams, _send_parts, response, deliver)
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.set()
            leaving.cancel()

    async def _send_async_parts(
        self, response: StreamingHttpResponse, send: Send, leaving: "asyncio.Future[None]"
    ) -> None:
        async def forward() -> None:
            async for part in response:
                await send({"type": "http.response.body", "body": part, "more_body": True})

        sending = asyncio.ensure_future(forward())
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending
            await self._in_thread(self._streams, response.close)

    async def _in_thread(
        self, pool: ThreadPoolExecutor, call: Callable[..., Any], *arguments: object
    ) -> Any:
        # An empty context: what one request sets in a context variable, no other one finds.
        return await asyncio.get_running_loop().run_in_executor(
            pool, Context().run, call, *arguments
        )


@asynccontextmanager
async def _turn(turns: asyncio.Semaphore) -> AsyncIterator[None]:
    """One of the turns, for as long as the page takes and SLOW_PAGE_SECONDS at most."""
    await turns.acquire()
    held = ExitStack()
    held.callback(turns.release)
    slow = asyncio.get_running_loop().call_later(SLOW_PAGE_SECONDS, held.close)
    try:
        yield
    finally:
        slow.cancel()
        held.close()


class RequestCycle(BaseHandler):
    """Django's synchronous cycle: middleware, view, response; all in the calling thread."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()

    def respond(self, scope: Scope, body: IO[bytes]) -> HttpResponse | StreamingHttpResponse:
        """The finished response of one request; only one that streams is still open."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=type(self), scope=scope)
        response = self._answer(scope, body)
        whole = _whole(response)
        if whole is None:
            close_old_connections()  # its parts are made in another thread
            assert isinstance(response, StreamingHttpResponse)
            return response
        response.close()  # sends request_finished: this thread's connection goes back
        return whole

    def _answer(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        try:
            request = ASGIRequest(scope, body)
        except UnicodeDecodeError:
            logger.warning("Bad request: its address is not valid UTF-8")
            return HttpResponseBadRequest()
        except RequestDataTooBig:
            return HttpResponse("413 Payload too large", status=413)
        return self.get_response(request)


async def read_body(scope: Scope, receive: Receive, *, limit_bytes: int) -> IO[bytes]:
    """The whole body, in memory up to 1 MiB and in an unnamed file above.

    Raises TooLarge before a byte is kept when the client names a length above the limit.
    """
    if _named_length(scope) > limit_bytes:
        raise TooLarge
    body = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115  # closed by caller
    try:
        kept_bytes, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            part = message.get("body", b"")
            kept_bytes += len(part)
            if kept_bytes > limit_bytes:
                raise TooLarge
            body.write(part)
            more = message.get("more_body", False)
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body


async def refuse_body(scope: Scope, receive: Receive, send: Send, *, limit_bytes: int) -> None:
    """Answer 413, then read on for a moment: a client that is still sending reads late."""
    is_sending = not any(name == b"expect" for name, _ in scope["headers"])
    words = f"This is larger than {limit_bytes // 2**20} MB, which is the most a page accepts.\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(words)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode(), "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while is_sending and (await receive()).get("more_body", False):
                pass
    await send({"type": "http.response.body", "body": b""})


def start_of(response: HttpResponseBase) -> Message:
    """The ASGI message that begins the response."""
    headers = [
        (name.lower().encode("ascii"), value.encode("latin1")) for name, value in response.items()
    ]
    headers += [
        (b"set-cookie", cookie.OutputString().encode("ascii"))
        for cookie in response.cookies.values()
    ]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


class _Delivery:
    """Hands parts from a thread to the event loop, at the pace of the reader."""

    def __init__(self, send: Send, gone: threading.Event, loop: asyncio.AbstractEventLoop) -> None:
        self._send = send
        self._gone = gone
        self._loop = loop

    def __call__(self, part: bytes) -> bool:
        """Whether the client is still there."""
        if not self._gone.is_set():
            message: Message = {"type": "http.response.body", "body": part, "more_body": True}
            asyncio.run_coroutine_threadsafe(self._forward(message), self._loop).result()
        return not self._gone.is_set()

    async def _forward(self, message: Message) -> None:
        await self._send(message)


def _send_parts(response: StreamingHttpResponse, deliver: Callable[[bytes], bool]) -> None:
    try:
        for part in response:
            if not deliver(part):
                return
    finally:
        response.close()


def _whole(response: HttpResponseBase) -> HttpResponse | None:
    """The response with all its bytes in memory; None for one that is to be streamed."""
    if isinstance(response, HttpResponse):
        return response
    if not isinstance(response, FileResponse):
        return None
    length = response.get("Content-Length", "")
    if response.is_async or not length.isdigit() or int(length) > WHOLE_FILE_BYTES:
        response.block_size = FILE_BLOCK_BYTES
        return None
    whole = HttpResponse(
        b"".join(response), status=response.status_code, headers=dict(response.items())
    )
    whole.cookies = response.cookies
    return whole


def _named_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
