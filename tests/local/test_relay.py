"""A sandboxed command reaches a gateway on another machine through a socket file."""

import http.client
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.local.instance import Instance, free_port

LARGE = b"x" * 3_000_000


class Echo(BaseHTTPRequestHandler):
    """Stands for the gateway: gives back what it gets."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def gateway() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def ask(door: Path, body: bytes) -> bytes:
    talk = http.client.HTTPConnection("gateway", timeout=30)
    talk.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    talk.sock.settimeout(30)
    talk.sock.connect(str(door))
    try:
        talk.request("POST", "/", body)
        return talk.getresponse().read()
    finally:
        talk.close()


def started(data: Path, folder: Path, gateway: str) -> Instance:
    """A worker alone. Its engines are away, which its door does not need."""
    folder.mkdir()
    (data / "secrets").mkdir(parents=True)
    away = f"127.0.0.1:{free_port()}"
    return Instance(
        data,
        CC_ROLE="worker",
        CC_GATEWAY_URL=gateway,
        TMPDIR=str(folder),
        DATABASE_URL=f"postgresql://cc_app@{away}/x",
        REDIS_URL=f"redis://{away}/0",
        CC_SECRET_KEY="k" * 60,
        CC_ENCRYPTION_KEYS="MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA=",
        CC_AUDIT_KEY="a" * 60,
    )


@pytest.mark.soak
@pytest.mark.req("CC-56")
def test_a_worker_apart_has_a_door_to_the_gateway(tmp_path: Path, gateway: str) -> None:
    worker = started(tmp_path / "data", tmp_path / "t", gateway)
    try:
        worker.wait_for("is running")
        [door] = (tmp_path / "t").glob("cc-*/gateway.sock")
        assert ask(door, LARGE) == LARGE
        assert door.parent.stat().st_mode & 0o077 == 0
    finally:
        assert worker.end() == 0
    assert list((tmp_path / "t").glob("cc-*")) == []
