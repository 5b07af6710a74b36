"""The ASGI application of the gateway process: what streams or waits, away from the pages."""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")
django.setup(set_prefix=False)

from repositories.gateway import app as git_app  # noqa: E402 models need the set-up above

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

DOORS = {"git": git_app.application}


async def application(scope: Message, receive: Receive, send: Send) -> None:
    """Leads each request to the door that its first path segment names."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    if scope["type"] != "http":
        return
    first = scope["path"].strip("/").partition("/")[0]
    if first == "healthz":
        await _say(send, 200, b"ok\n")
    elif door := DOORS.get(first):
        await door(scope, receive, send)
    else:
        await _say(send, 404, b"Nothing is served here.\n")


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _say(send: Send, status: int, content: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
