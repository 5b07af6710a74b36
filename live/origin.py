"""No page of another site may open a socket with a reader's cookies."""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

Asgi = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class SameOrigin:
    """Lets a handshake through whose `Origin` is the address it asks for, or one that
    `CSRF_TRUSTED_ORIGINS` names: what Django asks of a form. Channels' own validator forgets the
    port, so that any page on another port of the same machine would pass, and takes every
    origin, even none, when all hosts are allowed."""

    def __init__(self, application: Asgi) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        application = self._application if is_same_origin(scope["headers"]) else WebsocketDenier()
        await application(scope, receive, send)


def is_same_origin(headers: list[tuple[bytes, bytes]]) -> bool:
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    host = _host(headers)
    if len(origins) != 1 or not host:
        return False
    if origins[0] in settings.CSRF_TRUSTED_ORIGINS:
        return True
    domain, _ = split_domain_port(host)
    ours = {f"http://{host}".lower(), f"https://{host}".lower()}
    return origins[0].lower() in ours and validate_host(domain, settings.ALLOWED_HOSTS)


def _host(headers: list[tuple[bytes, bytes]]) -> str:
    names = [b"x-forwarded-host", b"host"] if settings.USE_X_FORWARDED_HOST else [b"host"]
    for wanted in names:
        values = [value.decode("latin-1") for name, value in headers if name == wanted]
        if values:
            return values[0] if len(values) == 1 else ""
    return ""
