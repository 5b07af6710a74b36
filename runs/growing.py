"""A block that grows, shown in every open tab. One that is finished in no time is shown once."""

import threading
import time

from live import TextStream

# Less than anybody sees; the arguments of most calls are whole by then.
PATIENCE_SECONDS = 0.04


class Growing:
    """Text on its way to the tabs, from the end of our patience to its stored event."""

    def __init__(self, topic: str, block: str) -> None:
        self._topic, self._block = topic, block
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._waiting: list[str] = []
        self._stream: TextStream | None = None
        self._is_closed = False

    def write(self, text: str) -> None:
        with self._lock:
            if self._stream is not None:
                self._stream.write(text)
                return
            self._waiting.append(text)
            if time.monotonic() - self._began >= PATIENCE_SECONDS:
                self._show()

    def show(self) -> None:
        """What waits is shown now: the model may have stopped in the middle of a word."""
        with self._lock:
            if self._stream is None and not self._is_closed:
                self._show()

    def close(self) -> None:
        """The block is stored, or given up."""
        with self._lock:
            self._is_closed = True
            if self._stream is not None:
                self._stream.close()

    def _show(self) -> None:
        self._stream = TextStream(self._topic, self._block)
        self._stream.write("".join(self._waiting))
