"""Many open tabs in one process, as cheap as Python can have them, for `bench/live.py`.

    python bench/live_tabs.py PORT TABS SESSION EVENTS

Prints `ready` when all have joined, then one JSON line when each has seen every event: the
latencies in seconds, and how many events were lost or came twice."""

import asyncio
import json
import os
import sys
import time
from typing import cast

import uvloop

ACK_EVERY = 32


class Tab(asyncio.Protocol):
    def __init__(self, port: int, session: str, events: int) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.events: list[tuple[float, bytes]] = []
        self._port, self._session, self._wanted = port, session, events
        self._data = b""
        self._is_open = False
        self._count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's own transports are no subclass of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        address = f"127.0.0.1:{self._port}"
        self._transport.write(
            f"GET /live/ HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n"
            f"Cookie: sessionid={self._session}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        self._data += data
        if not self._is_open:
            head, found, rest = self._data.partition(b"\r\n\r\n")
            if not found:
                return
            assert b" 101 " in head, head
            self._is_open, self._data = True, rest
            self._say({"join": "bench", "after": None})
        while (payload := self._frame()) is not None:
            self._hear(payload, now)

    def _frame(self) -> bytes | None:
        """The next whole frame of the server, which never masks."""
        data = self._data
        if len(data) < 2:
            return None
        length, start = data[1], 2
        if length == 126:
            length, start = int.from_bytes(data[2:4]), 4
        elif length == 127:
            length, start = int.from_bytes(data[2:10]), 10
        if len(data) < start + length:
            return None
        self._data = data[start + length :]
        return data[start : start + length] if data[0] & 0x0F == 1 else b""

    def _hear(self, payload: bytes, now: float) -> None:
        if not payload:
            return
        self._count += 1
        if self._count % ACK_EVERY == 0:
            self._say({"got": self._count})
        if b'"event"' in payload:
            # Read when all is over: what reading costs is not the server's latency.
            self.events.append((now, payload))
            if len(self.events) >= self._wanted and not self.done.done():
                self.done.set_result(None)
        elif b'"joined"' in payload and not self.ready.done():
            self.ready.set_result(None)

    def facts(self) -> list[tuple[float, int]]:
        """Latency and number of each event."""
        read = [(now, json.loads(payload)["data"]) for now, payload in self.events]
        return [(now - data["at"], data["i"]) for now, data in read]

    def _say(self, message: object) -> None:
        payload = json.dumps(message).encode()
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self._transport.write(bytes([0x81, 0x80 | len(payload)]) + mask + masked)


async def main(port: int, tabs: int, session: str, events: int) -> None:
    loop = asyncio.get_running_loop()
    opened: list[Tab] = []
    began = time.monotonic()
    for start in range(0, tabs, 50):
        group = [
            (await loop.create_connection(lambda: Tab(port, session, events), "127.0.0.1", port))[1]
            for _ in range(start, min(start + 50, tabs))
        ]
        await asyncio.gather(*(tab.ready for tab in group))
        opened += group
    print(f"ready {time.monotonic() - began:.2f}", flush=True)
    await asyncio.wait([tab.done for tab in opened], timeout=60)
    facts = [tab.facts() for tab in opened]
    numbers = [[number for _, number in seen] for seen in facts]
    lost = sum(events - len(set(seen)) for seen in numbers)
    twice = sum(len(seen) - len(set(seen)) for seen in numbers)
    latencies = [latency for seen in facts for latency, _ in seen]
    print(json.dumps({"latencies": latencies, "lost": lost, "twice": twice}), flush=True)


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
