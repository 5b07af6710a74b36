"""The wire under the official clients: their sockets, so that a stop wakes a blocked read, and
their server-sent events as plain JSON, so that blocks are kept as the provider wrote them."""

import email.utils
import json
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from harness.providers.errors import ProviderError, Voice
from harness.seam import Piece, ProviderSettings
from outside.egress import Guard, Refused

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 5.0


class Sockets:
    """The open sockets of one client. Closing a response from another thread does not wake a
    blocked read; shutting its socket down does, at once."""

    def __init__(self) -> None:
        self._open: list[socket.socket] = []

    def watch(self, request: "httpx2.Request") -> None:
        """A request hook of the HTTP client: follows the connections that the request opens."""
        request.extensions = {**request.extensions, "trace": self._traced}

    def _traced(self, name: str, info: Mapping[str, Any]) -> None:
        if name in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            opened = info["return_value"].get_extra_info("socket")
            self._open = [known for known in self._open if known.fileno() >= 0]
            self._open.append(opened)

    def shut(self) -> None:
        for known in self._open:
            # The plain socket's own way: that of a TLS socket would reach into its state.
            with suppress(OSError):
                socket.socket.shutdown(known, socket.SHUT_RDWR)


def address(settings: ProviderSettings) -> str | None:
    """The address as the official client wants it: Anthropic's without, OpenAI's with `/v1`."""
    given = settings.base_url.strip().rstrip("/")
    if not given:
        return None
    if settings.kind == "anthropic":
        return given.removesuffix("/v1")
    return given if urlsplit(given).path else f"{given}/v1"


def client_options(settings: ProviderSettings, sockets: Sockets) -> dict[str, Any]:
    """What an official client's HTTP client is made with: one TLS context a process (reading the
    certificate store costs 20 ms and half a megabyte), watched sockets, no redirects, and the
    egress guard where the address was given by somebody."""
    import httpx2  # comes with the official clients; a second of import time

    options: dict[str, Any] = {
        "timeout": httpx2.Timeout(settings.timeout_seconds, connect=CONNECT_SECONDS),
        "follow_redirects": False,
        "event_hooks": {"request": [sockets.watch]},
        "verify": tls(),
    }
    if settings.guard is not None and settings.base_url:
        options["transport"] = _guarded_transport(settings.guard)
    return options


def _guarded_transport(guard: Guard) -> "httpx2.HTTPTransport":
    import httpx2  # as above

    class GuardedTransport(httpx2.HTTPTransport):
        """Resolves once, checks, and connects to the checked address; the name stays in the Host
        header and in TLS."""

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            endpoint = guard.endpoint(str(request.url))
            request.headers["Host"] = endpoint.authority
            request.extensions = {**request.extensions, "sni_hostname": endpoint.host}
            written, failure = request.url, httpx2.ConnectError("no address")
            for address in endpoint.addresses:
                request.url = written.copy_with(host=address, port=endpoint.port)
                try:
                    return super().handle_request(request)
                except httpx2.ConnectError as problem:
                    failure = problem
                finally:
                    request.url = written
            raise failure

    return GuardedTransport(verify=tls(), trust_env=False)


@cache
def tls() -> ssl.SSLContext:
    import httpx2  # as above

    return httpx2.create_ssl_context()


class Reader(Protocol):
    """Makes pieces of a protocol's events."""

    def read(self, event: Any) -> Iterator[Piece]: ...

    def close(self) -> Iterator[Piece]:
        """What is left when the stream is over. Raises ProviderError when that was too early."""
        ...


def pieces(response: "httpx2.Response", reader: Reader, voice: Voice) -> Iterator[Piece]:
    """What the reader makes of a streamed answer. Raises ProviderError, also for events of another
    shape than the protocol's."""
    if "text/event-stream" not in response.headers.get("content-type", ""):
        raise voice.error("not_this_protocol", status=response.status_code)
    for event in sse(response.iter_bytes()):
        yield from _understood(reader.read(event), voice)
    yield from _understood(reader.close(), voice)


def _understood(made: Iterator[Piece], voice: Voice) -> list[Piece]:
    try:
        return list(made)
    except (KeyError, TypeError, AttributeError) as problem:
        raise voice.error("malformed", detail=repr(problem)) from problem


def sse(chunks: Iterable[bytes]) -> Iterator[Any]:
    """The JSON of each server-sent event, until the end of the stream or `[DONE]`.

    Raises ValueError on data that is no JSON. A stream that just ends, ends here too.
    """
    buffer = b""
    data: list[bytes] = []
    for chunk in chunks:
        lines = (buffer + chunk if buffer else chunk).split(b"\n")
        buffer = lines.pop()
        for line in lines:
            line = line.removesuffix(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                text = b"\n".join(data)
                data = []
                if text == b"[DONE]":
                    return
                yield json.loads(text)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks us to wait; None when it does not say."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            return max(0.0, float(headers[name]) * scale)
    when = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return max(0.0, email.utils.mktime_tz(when) - time.time()) if when else None


def causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def is_certificate_problem(error: BaseException) -> bool:
    return any(
        isinstance(cause, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY" in str(cause)
        for cause in causes(error)
    )


def _refusal(error: BaseException) -> Refused | None:
    """The guard's refusal, which an official client wraps like any fault of the line."""
    return next((cause for cause in causes(error) if isinstance(cause, Refused)), None)


def translated(problem: Exception, voice: Voice) -> ProviderError:
    """A failure of the connection in our words. Anything else is raised as it is: a bug."""
    import httpx2  # as above

    if refused := _refusal(problem):
        return voice.error("not_allowed", detail=refused.sentence)
    if is_certificate_problem(problem):
        return voice.error("untrusted")
    if any("WRONG_VERSION_NUMBER" in str(cause) for cause in causes(problem)):
        return voice.error("no_tls")
    if isinstance(problem, ValueError):
        return voice.error("malformed", detail=str(problem))
    for cause in causes(problem):
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            return voice.error("unreachable", detail=str(cause))
        if isinstance(cause, httpx2.TimeoutException):
            return voice.error("silent")
        if isinstance(cause, httpx2.TransportError):
            return voice.error("closed")
        if isinstance(cause, httpx2.DecodingError):
            return voice.error("malformed")
    raise problem
