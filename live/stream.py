"""Text as it is being written: ephemeral, never stored as events."""

import threading
import time
from types import TracebackType
from typing import Self

from live import wire
from live.later import later
from live.limits import limits
from live.publish import guarded


class TextStream:
    """One block of text on its way to the tabs of a topic.

        with live.TextStream(topic, block) as stream:
            for text in deltas:
                stream.write(text)
            journal.record(…)        # the stored event replaces the partial block

    `block` names the block within its topic and is never used twice; several may be open at
    once. The stored event is published with `data={"block": block}`: a tab that shows it drops
    the partial text. Text that comes quickly is sent in pieces of about 40 ms. Nothing here
    raises; what Valkey did not take is sent with the next piece."""

    def __init__(self, topic: str, block: str) -> None:
        self._topic, self._block = topic, block
        self._limits = limits()
        self._lock = threading.Lock()
        self._sent = b""
        self._unsent: list[str] = []
        self._sent_at = 0.0
        self._is_closed = self._is_due = False

    def write(self, text: str) -> None:
        with self._lock:
            if not text or self._is_closed:
                return
            self._unsent.append(text)
            rest = self._sent_at + self._limits.delta_seconds - time.monotonic()
            if rest <= 0:
                self._flush()
            elif not self._is_due:
                self._is_due = True
                later(rest, self._flush_rest)

    def close(self) -> None:
        """The block is stored, or given up: no tab shows its partial text any more."""
        with self._lock:
            self._is_closed = True
            guarded(("resync", self._topic), lambda: wire.end_block(self._topic, self._block))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _flush_rest(self) -> None:
        with self._lock:
            self._is_due = False
            if self._unsent and not self._is_closed:
                self._flush()

    def _flush(self) -> None:
        self._sent_at = time.monotonic()
        guarded(("resync", self._topic), self._send)

    def _send(self) -> None:
        text = "".join(self._unsent).encode("utf-8", "replace")
        if not self._tell(len(self._sent), text):
            self._tell(0, self._sent + text)
        self._unsent.clear()
        self._sent += text

    def _tell(self, at: int, text: bytes) -> bool:
        return all(
            wire.send_delta(self._topic, self._block, start, piece)
            for start, piece in wire.pieces(at, text)
        )
