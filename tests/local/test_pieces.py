"""The small parts of the start, each by itself."""

import errno
import logging
import socket
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from controlcenter.local import data_directory, ports, scheduler
from controlcenter.local.console import Console
from controlcenter.local.errors import StartError
from controlcenter.local.scheduler import Tick
from controlcenter.local.workers import pools
from tests.proofs import catalogue, proven


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EACCES, "cannot be written by this user"),
        (errno.EROFS, "cannot be written by this user"),
        (errno.ENOTDIR, "is not a directory"),
        (errno.EIO, "cannot be used"),
    ],
)
def test_each_trouble_of_the_data_directory_is_said(number: int, words: str) -> None:
    with (
        pytest.raises(StartError, match=words),
        data_directory.explaining(Path("data")),
    ):
        raise OSError(number, "as the system says it")


def test_a_disk_that_is_nearly_full_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**9, 10**9, 3 * 2**20))
    with pytest.raises(StartError, match="Only 3 MB are free"):
        data_directory.prepare(tmp_path)


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_what_only_this_machine_can_reach(host: str, is_loopback: bool) -> None:
    assert ports.is_loopback(host) is is_loopback


def test_a_listener_moves_only_when_it_may() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port} is taken by process"):
            ports.listen("127.0.0.1", port, may_move=False)
        with ports.listen("127.0.0.1", port, may_move=True) as moved:
            assert moved.getsockname()[1] > port


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:1"),
        ("0.0.0.0", "http://127.0.0.1:1"),
        ("::", "http://[::1]:1"),
        ("::1", "http://[::1]:1"),
        ("example.org", "http://example.org:1"),
    ],
)
def test_the_address_a_person_types(host: str, url: str) -> None:
    assert ports.url(host, 1) == url


def test_lines_come_whole_and_with_their_name(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(harmless=["never mind"])
    console.feed("web", b"half ")
    console.feed("worker", b"mine\nnever mind this\n\n")
    console.feed("web", b"whole\nlast")
    console.end("web")
    assert capsys.readouterr().out.splitlines() == [
        "worker       │ mine",
        "web          │ half whole",
        "web          │ last",
    ]


def test_a_slow_tick_is_not_started_twice_and_delays_no_other() -> None:
    hold, fast = threading.Event(), []
    ticks = [Tick("slow", 1, hold.wait), Tick("fast", 1, lambda: fast.append(1))]
    with ThreadPoolExecutor(2) as pool:
        for now in (0.0, 5.0, 10.0):
            scheduler.start_due(ticks, pool, now=now)
            assert ticks[1].running
            ticks[1].running.result()
        assert len(fast) == 3
        assert ticks[0].due_at == 1.0
        hold.set()


def test_a_failing_tick_is_logged_and_comes_again(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("broken tick")

    tick = Tick("a.tick", 1, fail)
    with caplog.at_level(logging.ERROR), ThreadPoolExecutor(1) as pool:
        for now in (0.0, 2.0):
            scheduler.start_due([tick], pool, now=now)
            assert tick.running
            tick.running.result()
    assert [record.getMessage() for record in caplog.records] == ["a.tick failed"] * 2


def test_a_tick_that_cannot_be_imported_is_named_and_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert scheduler.load([("json.loads", 1), ("json.nothing", 1)])[0].path == "json.loads"
    assert "json.nothing of CC_TICKS cannot be imported" in caplog.text


def test_a_machine_without_the_files_leaves_their_queue_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CC_QUEUES", "runs, system")
    monkeypatch.setenv("CC_RUN_THREADS", "3")
    assert [(pool.queues, pool.threads) for pool in pools()] == [(("runs",), 3), (("system",), 8)]
    monkeypatch.setenv("CC_QUEUES", "runs,cooking")
    with pytest.raises(StartError, match="CC_QUEUES names cooking; there are runs, cli, files"):
        pools()


def test_requirements_are_proven_only_by_tests_that_all_passed(tmp_path: Path) -> None:
    rows = catalogue("| CC-01 | One | x |\n| CC-02 | Two |\n| CC-01 / CC-02 | both |\ntext CC-03")
    assert rows == {"CC-01": "One", "CC-02": "Two"}
    (tmp_path / "proofs-test.json").write_text(
        '{"CC-01": {"a": "passed"}, "CC-02": {"b": "passed"}}'
    )
    (tmp_path / "proofs-soak.json").write_text('{"CC-02": {"c": "failed"}}')
    assert proven(tmp_path) == {"CC-01"}
