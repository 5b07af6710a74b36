"""An HTTP client that can only reach what the guard lets it reach."""

import ssl
from collections.abc import Mapping

import httpx

from .guard import Guard, Refused

MAX_HOPS = 5


class _GuardedTransport(httpx.HTTPTransport):
    """Each request, also each redirect, is resolved once, checked, and sent to that address.

    The name stays in the Host header and in TLS; only the connection goes to the checked address,
    so that a second answer of the name server cannot lead elsewhere. Connections are not kept:
    a kept one belongs to an address, not to the name whose certificate was checked.
    """

    def __init__(self, guard: Guard, *, verify: ssl.SSLContext | bool) -> None:
        super().__init__(
            verify=verify, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )
        self._guard = guard

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        endpoint = self._guard.endpoint(str(request.url.copy_with(fragment=None)))
        request.headers["Host"] = endpoint.authority
        request.extensions = {**request.extensions, "sni_hostname": endpoint.host}
        last: httpx.ConnectError | None = None
        written = request.url
        for address in endpoint.addresses:
            request.url = written.copy_with(host=address, port=endpoint.port)
            try:
                return super().handle_request(request)
            except httpx.ConnectError as error:
                last = error
            finally:
                request.url = written
        raise last or httpx.ConnectError("no address")


def open_client(
    guard: Guard,
    *,
    seconds: float = 20,
    headers: Mapping[str, str] | None = None,
    verify: ssl.SSLContext | bool = True,
) -> httpx.Client:
    """A client to be closed by the caller. A refused hop raises Refused; proxies of the
    environment are not used."""
    return httpx.Client(
        transport=_GuardedTransport(guard, verify=verify),
        timeout=seconds,
        follow_redirects=True,
        max_redirects=MAX_HOPS,
        headers=headers,
        trust_env=False,
    )


def fetch(guard: Guard, url: str, *, max_bytes: int, seconds: float = 20) -> httpx.Response:
    """The answer to a GET with its body read. Raises Refused when the body passes `max_bytes`."""
    with open_client(guard, seconds=seconds) as client, client.stream("GET", url) as response:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > max_bytes:
                raise Refused(f"The answer is larger than {max_bytes} bytes.")
        headers = [(k, v) for k, v in response.headers.multi_items() if k != "content-encoding"]
        return httpx.Response(
            response.status_code, headers=headers, content=bytes(body), request=response.request
        )
