"""The gate for this process: scans in limited children, a few of which are kept warm."""

import atexit
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from skills.scanning import File, Source, Verdict
from skills.scanning.child import Scanner

KEPT = 2
IDLE_SECONDS = 60.0


def judge(files: Mapping[str, File], folder: str) -> Verdict:
    """The verdict over exactly these bytes. Whatever goes wrong in the child is a refusal."""
    with _scanners.one() as scanner:
        return scanner.scan(files, Source(folder))


def new_scanner() -> Scanner:
    return Scanner()


class _Scanners:
    """Each in use by one thread; the idle ones end after a while, so that rest costs nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Scanner]] = []
        self._timer: threading.Timer | None = None

    @contextmanager
    def one(self) -> Iterator[Scanner]:
        with self._lock:
            scanner = self._idle.pop()[1] if self._idle else new_scanner()
        try:
            yield scanner
        except BaseException:
            scanner.close()
            raise
        with self._lock:
            if len(self._idle) < KEPT:
                self._idle.append((time.monotonic(), scanner))
                self._look_later()
                return
        scanner.close()

    def close(self, *, older_than: float = 0.0) -> None:
        """Ends the idle ones that have been so for longer."""
        now = time.monotonic()
        with self._lock:
            old = [one for at, one in self._idle if now - at >= older_than]
            self._idle = [(at, one) for at, one in self._idle if now - at < older_than]
            self._timer = None
            if self._idle:
                self._look_later()
        for scanner in old:
            scanner.close()

    def _look_later(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(
                IDLE_SECONDS, self.close, kwargs={"older_than": IDLE_SECONDS / 2}
            )
            self._timer.daemon = True
            self._timer.start()


_scanners = _Scanners()
atexit.register(_scanners.close)


def let_go() -> None:
    """Ends every idle scanner now."""
    _scanners.close()
