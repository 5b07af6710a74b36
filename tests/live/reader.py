"""A tab, as the stories use it: what the browser's `live.js` does, as far as the wire knows."""

import json
from collections.abc import Callable
from typing import Any, Self

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

PATIENCE_SECONDS = 10
ACK_EVERY = 32

Message = dict[str, Any]

__all__ = ["ConnectionClosed", "InvalidStatus", "Message", "Reader"]


class Reader:
    def __init__(
        self,
        port: int,
        session: str = "",
        *,
        origin: str | None = "",
        lang: str = "en",
        host: str = "",
        acks: bool = True,
    ) -> None:
        address = f"127.0.0.1:{port}"
        headers = {"Cookie": f"sessionid={session}"} if session else {}
        if host:
            headers["Host"] = host
        self._acks = acks
        self._count = 0
        self.seen: list[Message] = []
        self.socket: ClientConnection = connect(
            f"ws://{address}/live/?lang={lang}",
            origin=None if origin is None else Origin(origin or f"http://{address}"),
            additional_headers=headers,
            compression=None,
            max_size=None,
            ping_interval=None,
            open_timeout=PATIENCE_SECONDS,
            max_queue=16 if acks else 1,
            legacy=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def say(self, message: Any) -> None:
        self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def next(self) -> Message:
        message: Message = json.loads(self.socket.recv(PATIENCE_SECONDS))
        if "bye" not in message:
            self._count += 1
            if self._acks and self._count % ACK_EVERY == 0:
                self.say({"got": self._count})
        self.seen.append(message)
        return message

    def until(self, is_wanted: Callable[[Message], bool]) -> Message:
        """Reads on to the wanted message; the test fails when the tab is silent for 10 s."""
        while not is_wanted(message := self.next()):
            pass
        return message

    def key(self, name: str, value: Any = None) -> Message:
        """Reads on to a message with that key (and that value)."""
        return self.until(lambda m: name in m and (value is None or m[name] == value))

    def join(self, topic: str, after: tuple[str, int] | None = None) -> Message:
        self.say({"join": topic, "after": after})
        return self.until(lambda m: topic in (m.get("joined"), m.get("denied")))

    def reads_at_last(self) -> None:
        """A tab that never said what it got begins to, with all that lies in front of it."""
        self._acks = True
        for _ in range(ACK_EVERY):
            self.next()
        self.say({"got": self._count})

    def settled(self) -> list[Message]:
        """Everything that was on its way: what came before the answer to a ping."""
        self.say({"ping": 7})
        start = len(self.seen)
        self.key("pong", 7)
        return self.seen[start:-1]

    def closed(self) -> int:
        """The code with which the server ends the socket."""
        try:
            while True:
                self.next()
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else 1006
