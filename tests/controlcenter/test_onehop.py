"""Pages through the one-hop handler, over real HTTP, under both servers."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

SITE = Path(__file__).with_name("small_site.py")
ROOT = Path(__file__).parents[2]
MEGABYTE = 2**20


@dataclass
class Site:
    client: httpx.Client
    port: int
    process: subprocess.Popen[bytes]
    gate: Path

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = self.client.get("/facts").json()
        return facts

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024


@contextmanager
def serving(server: str, gate: Path) -> Iterator[Site]:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, str(SITE), server, str(held.fileno()), str(gate)],
            pass_fds=[held.fileno()],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        yield Site(client, port, process, gate)
    process.kill()
    process.wait()


@pytest.fixture(scope="module", params=["daphne", "uvicorn"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    with serving(request.param, tmp_path_factory.mktemp("site") / "gate") as site:
        yield site


@pytest.fixture
def site(served: Site) -> Site:
    served.gate.unlink(missing_ok=True)
    served.client.get("/facts", params={"forget": "yes"})
    return served


def test_a_page_keeps_its_headers_and_cookies_and_runs_on_a_page_thread(site: Site) -> None:
    answer = site.client.get("/", params={"name": "Ada"})
    assert answer.text == "hello Ada"
    assert answer.cookies["seen"] == "yes"
    assert answer.headers["content-length"] == "9"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-thread"].startswith("page")


def test_head_has_headers_and_no_body(site: Site) -> None:
    answer = site.client.head("/")
    assert answer.status_code == 200
    assert answer.content == b""


def test_each_request_sends_both_signals_once(site: Site) -> None:
    site.client.get("/")
    site.client.get("/numbers")
    assert site.facts()["signals"] == ["finished"] + ["started", "finished"] * 2 + ["started"]


def test_a_broken_view_is_a_plain_500_and_the_next_page_works(site: Site) -> None:
    assert site.client.get("/broken").status_code == 500
    assert site.client.get("/").status_code == 200


@pytest.mark.parametrize("size", [0, 1, 8192, MEGABYTE, MEGABYTE + 1, 24 * MEGABYTE])
def test_a_body_arrives_whole(site: Site, size: int) -> None:
    assert site.client.post("/echo", content=b"x" * size).json()["bytes"] == size


def test_a_chunked_body_arrives_whole(site: Site) -> None:
    parts = iter([b"x" * 1000] * 3000)
    assert site.client.post("/echo", content=parts).json()["bytes"] == 3_000_000


def test_an_uploaded_file_arrives_whole(site: Site) -> None:
    files = {"picture": ("a.png", b"x" * 2 * MEGABYTE)}
    assert site.client.post("/upload", files=files).json() == {"picture": 2 * MEGABYTE}


def test_a_named_length_above_the_limit_is_refused_before_a_byte_is_sent(site: Site) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    connection.putrequest("POST", "/echo")
    connection.putheader("Content-Length", str(26 * MEGABYTE))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert b"larger than 25 MB" in answer.read()


def test_a_client_that_sends_everything_first_still_reads_the_refusal(site: Site) -> None:
    site.client.post("/echo", content=b"x" * MEGABYTE)
    before = site.memory_mb()
    answer = site.client.post("/echo", content=b"x" * 60 * MEGABYTE)
    assert answer.status_code == 413
    assert "larger than 25 MB" in answer.text
    assert site.memory_mb() - before < 20
    assert site.client.get("/").status_code == 200


def test_a_chunked_body_that_grows_above_the_limit_is_refused(site: Site) -> None:
    parts = iter([b"x" * MEGABYTE] * 40)
    assert site.client.post("/echo", content=parts).status_code == 413


def test_a_body_that_breaks_off_reaches_no_view(site: Site) -> None:
    with socket.create_connection(("127.0.0.1", site.port)) as raw:
        raw.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
    site.client.get("/")
    assert site.facts()["signals"] == ["finished", "started", "finished", "started"]


def test_streams_of_either_kind_arrive_whole(site: Site) -> None:
    assert site.client.get("/numbers").text.splitlines() == [str(n) for n in range(1000)]
    assert site.client.get("/drip").text == "0\n1\n2\n"


@pytest.mark.parametrize("size", [0, 100, MEGABYTE, 3 * MEGABYTE + 7])
def test_a_file_arrives_whole(site: Site, size: int) -> None:
    site.gate.write_bytes(os.urandom(size))
    answer = site.client.get("/file")
    assert answer.content == site.gate.read_bytes()
    assert answer.headers["content-length"] == str(size)


def test_a_reader_who_leaves_ends_the_stream(site: Site) -> None:
    with site.client.stream("GET", "/endless") as answer:
        next(answer.iter_bytes())
    assert any(site.facts()["left_early"] for _ in range(500))


def test_slow_readers_do_not_keep_pages_from_being_served(site: Site) -> None:
    site.gate.write_bytes(b"x" * 30 * MEGABYTE)
    readers = []
    for _ in range(6):
        raw = socket.create_connection(("127.0.0.1", site.port))
        raw.sendall(b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n")
        readers.append(raw)
    assert site.client.get("/").status_code == 200
    for raw in readers:
        raw.close()


def test_pages_that_wait_do_not_keep_others_from_being_made(site: Site) -> None:
    waiting = f"http://127.0.0.1:{site.port}/waiting"
    with ThreadPoolExecutor(6) as pool:
        pending = [pool.submit(httpx.get, waiting, timeout=30) for _ in range(6)]
        while not site.facts()["is_waiting"]:
            pass
        hello = site.client.get("/")
        still_waiting = [one for one in pending if not one.done()]
        site.gate.touch()
        assert hello.status_code == 200
        assert len(still_waiting) == 6
        assert {one.result().text for one in pending} == {"waited"}


@pytest.mark.parametrize("server", ["daphne", "uvicorn"])
def test_term_lets_the_page_in_progress_finish(server: str, tmp_path: Path) -> None:
    with serving(server, tmp_path / "gate") as site, ThreadPoolExecutor(1) as pool:
        pending = pool.submit(httpx.get, f"http://127.0.0.1:{site.port}/waiting", timeout=30)
        while not site.facts()["is_waiting"]:
            pass
        site.process.send_signal(signal.SIGTERM)
        site.gate.touch()
        assert pending.result().text == "waited"
        assert site.process.wait(timeout=10) in {0, -signal.SIGTERM}
