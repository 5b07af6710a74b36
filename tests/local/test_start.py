"""The one-command start, driven as a person drives it."""

import os
import signal
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from controlcenter.local import processes
from tests.local.instance import GONE_SECONDS, Instance, free_port, refused, started


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    with started(tmp_path_factory.mktemp("local") / "data", "--port", str(free_port())) as one:
        yield one


def test_the_page_speaks_as_the_application_role_and_cannot_find_the_owner(
    running: Instance,
) -> None:
    facts = running.facts()
    assert facts["user"] == "cc_app"
    assert not facts["knows_owner"]


def test_a_task_and_the_ticks_are_done(running: Instance) -> None:
    running.get("/ring")
    counts = running.facts()["counts"]
    while counts["task"] is None or counts["tick"] is None:
        counts = running.facts()["counts"]
    assert (int(counts["task"]), int(counts["tick"])) >= (1, 1)


def test_only_its_user_can_read_the_data_directory(running: Instance) -> None:
    assert stat.S_IMODE(running.data.stat().st_mode) == 0o700
    secrets = list((running.data / "secrets").iterdir())
    assert {file.name for file in secrets} == {
        "django.key",
        "encryption.keys",
        "audit.key",
        "engines.json",
    }
    assert {stat.S_IMODE(file.stat().st_mode) for file in secrets} == {0o600}


def test_a_second_start_names_the_first(running: Instance) -> None:
    words = refused(running.data)
    assert f"already runs on {running.data} at {running.address}" in words
    assert f"process {running.process.pid}" in words
    assert running.facts()["user"] == "cc_app"


def test_a_taken_port_that_was_asked_for_names_its_holder(
    running: Instance, tmp_path: Path
) -> None:
    port = running.address.rpartition(":")[2]
    words = refused(tmp_path / "other", "--port", port)
    assert f"Port {port} is taken by process {running.process.pid}" in words
    assert "controlcenter.local up" in words


def test_a_killed_web_comes_back_and_nobody_is_turned_away(running: Instance) -> None:
    before = running.facts()["pid"]
    os.kill(before, signal.SIGKILL)
    assert running.facts()["pid"] != before  # the port is held: the request just waited
    running.wait_for("web ended (killed by signal 9); starting it again in 0.5 s.")


@pytest.mark.parametrize("engine", ["postgres", "valkey-server"])
def test_a_killed_engine_comes_back_with_what_it_kept(running: Instance, engine: str) -> None:
    running.get("/keep")
    pid = running.pid_of_engine(engine)
    os.kill(pid, signal.SIGKILL)
    running.wait_for("ended (killed by signal 9)")
    while True:
        answer = running.get("/facts")
        if answer.status_code == 200:
            break
    assert answer.json()["counts"]["kept"] == "yes"
    assert running.pid_of_engine(engine) != pid


def test_ctrl_c_stops_everything_and_the_next_start_finds_its_data(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started(data, "--port", "0") as first:
        first.get("/keep")
        pids = first.pids()
        assert first.end(signal.SIGINT) == 0
        assert processes.wait_gone(pids, seconds=0) == []
        assert first.lines[-1].endswith("Stopped.")
    with started(data, "--port", "0", CC_SERVER="uvicorn") as second:
        assert second.facts()["counts"]["kept"] == "yes"
        assert second.end(signal.SIGTERM) == 0


def test_a_long_task_is_told_that_its_worker_stops(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started(data, "--port", "0") as first:
        first.get("/work")
        while first.facts()["counts"]["kept"] != "working":
            pass
        first.end()
        assert "is killed" not in first.said
    with started(data, "--port", "0") as second:
        assert second.facts()["counts"]["kept"] == "let go"


def test_kill_9_leaves_no_process_and_the_next_start_finds_its_data(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started(data, "--port", "0") as first:
        first.get("/keep")
        pids = first.pids()
        first.process.kill()
        assert processes.wait_gone(pids, seconds=GONE_SECONDS) == []
    with started(data, "--port", "0") as second:
        assert second.facts()["counts"]["kept"] == "yes"


def test_a_database_without_its_keys_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started(data, "--port", "0") as one:
        one.end()
    (data / "secrets" / "encryption.keys").unlink()
    words = refused(data)
    assert "lacks encryption.keys" in words
    assert not (data / "secrets" / "encryption.keys").exists()
    with started(data, "--port", "0", CC_ENCRYPTION_KEYS="given") as one:
        assert one.facts()["user"] == "cc_app"


def test_a_long_path_gets_its_sockets_elsewhere(tmp_path: Path) -> None:
    with started(tmp_path / ("a long name " * 8) / "data", "--port", "0") as one:
        assert one.facts()["user"] == "cc_app"
        assert not (one.data / "run").exists()
        one.end()


def test_others_can_reach_it_only_with_a_token_for_the_first_account(tmp_path: Path) -> None:
    with started(tmp_path / "data", "--host", "0.0.0.0", "--port", "0") as one:
        token = (tmp_path / "data" / "secrets" / "setup.token").read_text().strip()
        assert f"asks for this token:  {token}" in one.said
        assert one.address.startswith("http://127.0.0.1:")


def test_a_file_in_the_place_of_the_directory_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert "is not a directory. Choose another place" in refused(tmp_path / "data")


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"CC_PORT": "many"}, "CC_PORT must be a whole number from 0 to 65535"),
        ({"CC_ROLE": "cook"}, "CC_ROLE must be one of all, web, gateway, worker"),
        ({"CC_GATEWAY_PORT": "-"}, "CC_GATEWAY_PORT must be a whole number"),
        ({"CC_ROLE": "web"}, "Please set DATABASE_URL"),
        ({"DATABASE_URL": "postgresql://x/y"}, "Please set DATABASE_OWNER_URL too"),
        ({"CC_HOST": "198.51.100.7"}, "is not an address of this machine"),
    ],
)
def test_nonsense_is_refused_in_one_line(
    tmp_path: Path, environment: dict[str, str], words: str
) -> None:
    said = refused(tmp_path / "data", **environment)
    assert words in said
    assert "Traceback" not in said


def test_the_default_port_gives_way(tmp_path: Path) -> None:
    try:
        holder = socket.create_server(("127.0.0.1", 8765))
    except OSError:
        holder = None  # somebody else holds it, which serves as well
    with started(tmp_path / "data") as one:
        assert "Port 8765 is taken by" in one.said
        assert not one.address.endswith(":8765")
    if holder:
        holder.close()


@pytest.mark.soak
def test_a_view_that_hangs_does_not_keep_it_from_stopping(tmp_path: Path) -> None:
    with started(tmp_path / "data", "--port", "0") as one:
        asking = threading.Thread(target=_ask_and_forget, args=[f"{one.address}/hang"])
        asking.start()
        while one.facts()["counts"]["kept"] != "hanging":
            pass
        pids = one.pids()
        assert one.end() == 0
        assert processes.wait_gone(pids, seconds=0) == []
        assert "is killed" not in one.said
        asking.join()


@pytest.mark.soak
def test_whatever_is_killed_comes_back(tmp_path: Path) -> None:
    with started(tmp_path / "data", "--port", "0") as one:
        one.get("/keep")
        for _ in range(3):
            for pid in one.pids()[1:]:
                _kill(pid)
                while one.get("/facts").status_code != 200:
                    pass
        one.get("/ring")
        while one.facts()["counts"]["task"] is None:
            pass
        assert one.facts()["counts"]["kept"] == "yes"
        pids = one.pids()
        assert one.end() == 0
        assert processes.wait_gone(pids, seconds=0) == []


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # a backend that ended by itself
        os.kill(pid, signal.SIGKILL)


def _ask_and_forget(url: str) -> None:
    with pytest.raises(httpx.HTTPError):
        httpx.get(url, timeout=60)
