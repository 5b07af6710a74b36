"""Says where Control Center is, as soon as it answers."""

import os
import socket
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LONG_SECONDS = 30.0
QUESTION = b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n"


class FirstPage:
    """Asks the web role until it answers, never waiting for it; then prints the address."""

    def __init__(
        self,
        listener: socket.socket | None,
        address: str,
        *,
        data: Path,
        say: Callable[[str], object],
        opens_browser: bool,
        began_at: float,
    ) -> None:
        self._listener = listener
        self._address = address
        self._data = data
        self._say = say
        self._opens_browser = opens_browser
        self._began_at = began_at
        self._asking: socket.socket | None = None
        self._is_done = listener is None
        self._has_complained = False

    def look(self) -> None:
        """Called again and again; does nothing once the address is said."""
        if self._is_done:
            return
        if self._answers():
            self._is_done = True
            self._announce()
        elif not self._has_complained and time.monotonic() - self._began_at > LONG_SECONDS:
            self._has_complained = True
            self._say(f"web does not answer yet after {LONG_SECONDS:.0f} s; see its lines above.")

    def _answers(self) -> bool:
        with suppress(BlockingIOError):
            try:
                if self._asking is None:
                    self._asking = self._ask()
                heard = self._asking.recv(64)
            except BlockingIOError:
                raise
            except OSError:
                heard = b""
            if self._asking:
                self._asking.close()
            self._asking = None
            return heard.startswith(b"HTTP/")
        return False

    def _ask(self) -> socket.socket:
        listener = self._listener
        assert listener is not None
        host, port = listener.getsockname()[:2]
        loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        # The supervisor itself holds the port: connecting succeeds at once, the answer may wait.
        asking = socket.create_connection((loopback, port), timeout=1.0)
        asking.sendall(QUESTION)
        asking.setblocking(False)
        return asking

    def _announce(self) -> None:
        seconds = time.monotonic() - self._began_at
        self._say("")
        self._say(f"Control Center is ready after {seconds:.1f} s:  {self._address}")
        self._say(f"Everything it knows is in {self._data}. Ctrl-C stops it.")
        self._say("")
        if self._opens_browser and _has_a_screen():
            with suppress(webbrowser.Error):
                webbrowser.open(self._address)


def _has_a_screen() -> bool:
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
