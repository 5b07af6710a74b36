"""An embedded Valkey on a unix socket, with an append-only file."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from controlcenter.local import binaries, processes
from controlcenter.local.errors import StartError
from controlcenter.local.processes import Running


class Valkey:
    """One embedded server: its files in `home`, its socket in `sockets`."""

    def __init__(
        self, home: Path, *, sockets: Path, password: str | None, reckless: bool = False
    ) -> None:
        self.home = home
        self.socket = sockets / "valkey.sock"
        self.pid_file = sockets / "valkey.pid"
        self.configuration = sockets / "valkey.conf"
        self.password = password
        self.reckless = reckless

    @property
    def url(self) -> str:
        secret = f":{quote(self.password)}@" if self.password else ""
        return f"unix://{secret}{self.socket}?db=0"

    def create(self, meanwhile: Callable[[], object] | None = None) -> None:
        """Its folder exists afterwards; the server makes its files itself, at once."""
        self.home.mkdir(mode=0o700, exist_ok=True)

    def start(self, *, output: int | None = None) -> subprocess.Popen[bytes]:
        """Start the server; the caller waits with `wait_ready`."""
        self._stop_leftover()
        # A file and not arguments: those can be read by everybody on the machine.
        self.configuration.touch(mode=0o600)
        self.configuration.write_text(self._settings())
        return processes.spawn([str(binaries.valkey()), str(self.configuration)], output=output)

    def wait_ready(self, process: Running, *, seconds: float = 30.0) -> None:
        """Return once it answers a ping with something other than 'loading'."""
        deadline = time.monotonic() + seconds
        while not self._answers():
            if process.poll() is not None:
                raise StartError(
                    f"The embedded Valkey ended at its start (code {process.poll()}); "
                    "its own words are above."
                )
            if time.monotonic() > deadline:
                raise StartError(f"The embedded Valkey did not answer within {seconds:.0f} s.")
            time.sleep(0.01)

    def stop(self, process: Running) -> None:
        processes.stop(process, grace_seconds=3.0)

    def _settings(self) -> str:
        lines = {
            "port": "0",
            "unixsocket": f'"{self.socket}"',
            "unixsocketperm": "700",
            "dir": f'"{self.home}"',
            "pidfile": f'"{self.pid_file}"',
            "appendonly": "no" if self.reckless else "yes",
            "save": '""',
            "maxmemory-policy": "noeviction",
            "loglevel": "warning",
            "databases": "16",
        }
        if self.password:
            lines["requirepass"] = f'"{self.password}"'
        return "".join(f"{name} {value}\n" for name, value in lines.items())

    def _answers(self) -> bool:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2.0)
            connection.connect(str(self.socket))
            login = f"AUTH {self.password}\r\n" if self.password else ""
            connection.sendall(f"{login}PING\r\n".encode())
            heard = b""
            while heard.count(b"\r\n") < (2 if self.password else 1):
                part = connection.recv(256)
                if not part:
                    return False
                heard += part
            return heard.endswith(b"+PONG\r\n")
        return False

    def _stop_leftover(self) -> None:
        with suppress(OSError, ValueError):
            pid = int(self.pid_file.read_text())
            if str(self.socket) in processes.command_of(pid):
                os.kill(pid, signal.SIGTERM)
                processes.wait_gone([pid], seconds=5.0)
        self.socket.unlink(missing_ok=True)
