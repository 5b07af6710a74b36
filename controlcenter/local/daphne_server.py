"""Daphne on a socket that is already open, with two things it lacks.

A body above the limit is refused while it arrives (Daphne keeps the whole body before the
application sees its first byte), and TERM lets the requests in progress finish.
Importing this module installs Twisted's reactor: only a process that serves may do so.
"""

import signal
import socket
import time
from typing import Any

import daphne.server  # first: it chooses the reactor

# isort: split
import autobahn.websocket.protocol as autobahn_protocol
from daphne.http_protocol import HTTPFactory, WebRequest
from twisted.internet import reactor as installed_reactor
from twisted.internet.endpoints import AdoptedStreamServerEndpoint
from twisted.internet.protocol import Protocol

# Twisted's module attribute is the reactor itself, which its stubs cannot know.
reactor: Any = installed_reactor

# For each frame it sends autobahn paints the words of a debug line that nobody reads: a fifth of
# what a broadcast costs.
painting: Any = autobahn_protocol
painting.hltype = painting.hlval = lambda *_, **__: ""

DRAIN_SECONDS = 5.0
FINISH_SECONDS = 3.0
SOCKET_MESSAGE_BYTES = 64 * 1024


def serve(application: Any, listener: socket.socket, *, body_limit_bytes: int) -> None:
    """Serve until TERM; returns when the requests in progress are answered."""
    endpoint = _HeldEndpoint(listener)
    CappedRequest.body_limit_bytes = body_limit_bytes
    # Daphne takes neither an endpoint nor a request class; in this process these are its own.
    daphne.server.HTTPFactory = CappedFactory
    daphne.server.serverFromString = lambda *_: endpoint
    server = daphne.server.Server(
        application=application,
        endpoints=["held"],
        signal_handlers=False,
        websocket_max_message_size=SOCKET_MESSAGE_BYTES,
        websocket_max_frame_size=SOCKET_MESSAGE_BYTES,
        server_name="",
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        daphne.server.twisted_loop.add_signal_handler(number, _finish, server, endpoint)
    server.run()


class CappedRequest(WebRequest):  # type: ignore[misc]  # Daphne has no types
    """Refuses a body above the limit before it is kept, whether its length is named or not."""

    body_limit_bytes = 0
    _received_bytes = 0
    _refused = False

    def gotLength(self, length: int | None) -> None:  # noqa: N802  # Twisted's name
        super().gotLength(length)
        if length is not None and length > self.body_limit_bytes:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802  # Twisted's name
        self._received_bytes += len(data)
        if not self._refused and self._received_bytes > self.body_limit_bytes:
            self._refuse()
        if not self._refused:
            super().handleContentChunk(data)

    def process(self) -> Any:
        return None if self._refused else super().process()

    def _refuse(self) -> None:
        self._refused = True
        transport, self.channel.transport = self.channel.transport, _Deaf()
        self.channel.setTimeout(None)
        transport.write(_refusal(self.body_limit_bytes))
        transport.protocol = _Drain()
        transport.protocol.makeConnection(transport)
        self.server.protocol_disconnected(self)


class CappedFactory(HTTPFactory):  # type: ignore[misc]  # Daphne has no types
    """Makes connections whose requests are capped."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802  # Twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = CappedRequest
        return protocol


class _Drain(Protocol):
    """Reads on for a moment without keeping: a client that is still sending reads late."""

    def connectionMade(self) -> None:  # noqa: N802  # Twisted's name
        transport: Any = self.transport
        transport.resumeProducing()
        transport.loseWriteConnection()
        self._ending = reactor.callLater(DRAIN_SECONDS, transport.abortConnection)

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802  # Twisted's name
        if self._ending.active():
            self._ending.cancel()


class _Deaf:
    """Stands where the refused connection's transport was: what is written there goes nowhere."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


class _HeldEndpoint:
    """An endpoint for a socket that the supervisor holds; remembers its port to close it."""

    def __init__(self, listener: socket.socket) -> None:
        self._endpoint: Any = AdoptedStreamServerEndpoint(  # type: ignore[no-untyped-call]
            reactor, listener.detach(), socket.AddressFamily(listener.family)
        )
        self._ports: list[Any] = []

    def listen(self, factory: Any) -> Any:
        listening = self._endpoint.listen(factory)
        listening.addCallback(self._remember)
        return listening

    def stop(self) -> None:
        while self._ports:
            self._ports.pop().stopListening()

    def _remember(self, port: Any) -> Any:
        self._ports.append(port)
        return port


def _refusal(limit_bytes: int) -> bytes:
    words = f"This is larger than {limit_bytes // 2**20} MB, which is the most a page accepts.\n"
    return (
        "HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(words)}\r\nConnection: close\r\n\r\n{words}"
    ).encode()


def _finish(server: Any, endpoint: _HeldEndpoint) -> None:
    endpoint.stop()
    deadline = time.monotonic() + FINISH_SECONDS

    def stop_when_idle() -> None:
        busy = any(
            isinstance(protocol, WebRequest) and not facts.get("disconnected")
            for protocol, facts in server.connections.items()
        )
        if busy and time.monotonic() < deadline:
            reactor.callLater(0.05, stop_when_idle)
        else:
            reactor.stop()

    stop_when_idle()
