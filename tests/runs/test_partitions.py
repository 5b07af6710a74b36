"""A worker that is cut off from the database for longer than its lease, while its harness goes on:
another one has the run by then, and nothing of the first arrives."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connections

from harness.stop import Stop
from live import valkey
from runs.models import Run
from tests.runs.stage import Stage
from tests.runs.test_soak import (
    TURNS,
    assert_done_once,
    connect,
    echoes,
    lines,
    until,
    watch,
)
from tests.runs.workers import scheduler, worker

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.soak,
    pytest.mark.timeout(600),
]


class Line:
    """What stands between a worker and PostgreSQL's socket: it can be cut, or swallow all."""

    def __init__(self, folder: Path, real: Path) -> None:
        self.folder, self._real = folder, real
        self._ends: list[socket.socket] = []
        self.is_cut = self.is_silent = False
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / real.name))
        self._door.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                if self.is_cut:
                    near.close()
                    continue
                far = socket.socket(socket.AF_UNIX)
                far.connect(str(self._real))
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while piece := one.recv(65536):
                if not self.is_silent:
                    other.sendall(piece)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        self.is_cut = True
        self._hang_up()

    def heal(self) -> None:
        self.is_cut = self.is_silent = False
        self._hang_up()  # what was swallowed never comes

    def close(self) -> None:
        self._door.close()
        self._hang_up()

    def _hang_up(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._ends.clear()


@pytest.fixture
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    where: dict[str, Any] = connections["default"].settings_dict
    real = Path(where["HOST"]) / f".s.PGSQL.{where['PORT'] or 5432}"
    line = Line(tmp_path_factory.mktemp("l"), real)
    yield line
    line.close()


def url(line: Line) -> str:
    where: dict[str, Any] = connections["default"].settings_dict
    name = connections["owner"].settings_dict["NAME"]
    return f"postgresql://{where['USER']}@/{name}?host={quote(str(line.folder), safe='')}"


@pytest.mark.parametrize("trouble", ["cut", "silent"])
def test_a_worker_without_its_database_is_given_up_and_does_no_more(
    plain: Stage, line: Line, trouble: str
) -> None:
    valkey.client().flushall()
    with (
        scheduler(),
        connect(plain, echoes(hold="apart")) as model,
        worker(DATABASE_URL=url(line)) as apart,
    ):
        asked = watch(model, TURNS // 2 + 1)
        [run] = plain.say("@engineer write")
        assert asked.wait(120)
        if trouble == "cut":
            line.cut()
        else:
            line.is_silent = True
        model.release("apart")
        with worker():
            done = until(plain, run, *Run.ENDED)
            before = lines(plain)
            line.heal()
            Stop().wait(2)
        assert apart.process.poll() is None, "it lives, and takes other work"
        assert (done.state, done.summary) == ("succeeded", "All written.")
        assert done.attempt > 1
        assert lines(plain) == before
        assert_done_once(plain, run)
        [again] = plain.say("@engineer write once more")
        assert until(plain, again, *Run.ENDED).state == "succeeded"
        assert plain.fresh(again).lease_owner == ""


def test_rings_that_come_twice_late_or_for_nobody_start_nothing(plain: Stage) -> None:
    """The broker's old data: rings of runs that ended, that are at work, that never were."""
    from uuid import uuid4

    from celery import current_app

    def ring(run_id: Any, times: int = 5) -> None:
        for _ in range(times):
            args = [str(plain.cast.workspace.pk), str(run_id)]
            current_app.send_task("runs.tasks.execute_run", args=args, queue="runs")

    valkey.client().flushall()
    with scheduler(), connect(plain, echoes(hold="twice")) as model, worker():
        asked = watch(model, TURNS // 2 + 1)
        [run] = plain.say("@engineer write")
        assert asked.wait(120)
        ring(run.pk)
        ring(uuid4())
        model.release("twice")
        done = until(plain, run, *Run.ENDED)
        ring(run.pk)
        [last] = plain.say("@engineer write again")
        assert until(plain, last, *Run.ENDED).state == "succeeded"
    assert (done.state, done.attempt) == ("succeeded", 1)
    assert plain.fresh(run).attempt == 1
    plain.assert_whole(run)
