"""Many runs under a schedule of faults, and one witness over all of it.

The schedule follows from the seed (CC_CHAOS_SEED; it is printed), the number from CC_CHAOS_RUNS.
"""

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import redis
from celery import current_app
from django.db import InterfaceError, OperationalError, connections
from kombu.exceptions import OperationalError as BrokerAway

from controlcenter.local.postgres import SUPERUSER
from harness.stop import Stop
from live import valkey
from runs import dispatch
from runs.dispatch import CannotDo
from runs.models import Run
from tests.push.conftest import wait_for
from tests.runs.stage import Stage
from tests.runs.test_soak import connect, end_conversation
from tests.runs.witness import Witness, at_work_in, watching
from tests.runs.workers import QUICK, Role, scheduler, worker
from tests.scripted.script import Call, Script, Step

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak, pytest.mark.timeout(900)]

SEED = int(os.environ.get("CC_CHAOS_SEED", "2"))
RUNS = int(os.environ.get("CC_CHAOS_RUNS", "1000"))
WAVE = 50
LEASE_SECONDS = float(QUICK["CC_LEASE_SECONDS"])
AWAY = (OperationalError, InterfaceError, psycopg.Error, redis.RedisError, BrokerAway, OSError)
DONE = [Step(text="Done.", again=True)] * 6  # whoever is lost after it is asked to go on
SHORT = Script(
    [Step(text="I look.", calls=[Call("todo", {"todos": []})], again=True), *DONE],
    when="look about",
    by_turn=True,
)
COMMAND = Script(
    [Step(calls=[Call("bash", {"command": "echo one; sleep 1"})], again=True), *DONE],
    when="run a line",
    by_turn=True,
)


class Storm:
    """What the workers stand in; each fault leaves something that can go on by itself."""

    def __init__(self, stage: Stage, dice: random.Random, roles: ExitStack) -> None:
        self.stage, self.dice, self.roles = stage, dice, roles
        wrong_clock = {"DJANGO_SETTINGS_MODULE": "tests.runs.wrong_clock"}
        self.workers = [self._worker(), self._worker(**wrong_clock)]
        self.faults = [
            self.kill_a_worker,
            self.let_one_sleep_past_its_lease,
            self.empty_the_broker,
            self.hang_the_broker_up,
            self.cut_all_connections,
            self.crash_the_database,
            self.ring_twice_and_late,
            self.stop_some,
        ]

    def strike(self) -> None:
        fault = self.dice.choice(self.faults)
        with suppress(*AWAY):
            fault()
        connections.close_all()  # they may be cut

    def kill_a_worker(self) -> None:
        self.workers.pop(0).kill()
        self.workers.append(self._worker())

    def let_one_sleep_past_its_lease(self) -> None:
        self.workers[0].send(signal.SIGSTOP)
        Stop().wait(LEASE_SECONDS + 1)
        self.workers[0].send(signal.SIGCONT)

    def empty_the_broker(self) -> None:
        valkey.client().flushall()

    def hang_the_broker_up(self) -> None:
        valkey.client().client_kill_filter(_type="normal", skipme=True)
        valkey.client().client_pause(1500)

    def cut_all_connections(self) -> None:
        self._ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'cc_app'")

    def crash_the_database(self) -> None:
        """A backend that is killed takes all with it; PostgreSQL recovers from its log."""
        [(pid,)] = self._ask("SELECT pg_backend_pid()")
        os.kill(pid, signal.SIGKILL)

    def ring_twice_and_late(self) -> None:
        for run in self.dice.sample(self.stage.runs(), 5):
            for run_id in (run.pk, run.pk, uuid4()):
                args = [str(run.workspace_id), str(run_id)]
                current_app.send_task("runs.tasks.execute_run", args=args, queue="runs")

    def stop_some(self) -> None:
        for run in self.dice.sample(self.stage.runs(), 3):
            with suppress(CannotDo):
                self.stage.act(dispatch.stop, run)

    def _worker(self, **environment: str) -> Role:
        return self.roles.enter_context(worker(CC_RUN_THREADS="8", **environment))

    def _ask(self, statement: str) -> list[Any]:
        owner = connections["owner"].settings_dict
        where = {"host": owner["HOST"], "dbname": owner["NAME"], "user": SUPERUSER}
        with psycopg.connect(**where, autocommit=True) as superuser:
            return superuser.execute(statement).fetchall()


@pytest.fixture
def lasting() -> Iterator[None]:
    """What is committed survives a crash, which the throw-away database of tests leaves out."""
    name = connections["owner"].settings_dict["NAME"]
    with connections["owner"].cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = on')
    connections.close_all()
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{name}" RESET synchronous_commit')
    connections.close_all()


@pytest.fixture
def witness(plain: Stage, lasting: None) -> Iterator[Witness]:
    valkey.client().flushall()
    with watching() as witness:
        yield witness


def ask_for(stage: Stage, number: int, dice: random.Random) -> None:
    """So many runs, each in a conversation of its own; tried again while something is away."""
    for _ in range(number):
        text, key = f"@engineer {dice.choice(['look about', 'run a line'])}", uuid4()
        in_the_end(partial(end_conversation, stage))
        in_the_end(partial(stage.say, text, client_key=key))


def in_the_end(act: Callable[[], object]) -> None:
    wait_for(lambda: is_done(act), seconds=120)


def is_done(act: Callable[[], object]) -> bool:
    try:
        act()
    except AWAY:
        connections.close_all()
        return False
    return True


def are_over(stage: Stage) -> bool:
    try:
        with stage.cast.bound():
            return not Run.objects.filter(state__in=Run.OPEN).exists()
    except AWAY:
        connections.close_all()
        return False


def test_a_thousand_runs_in_a_storm_are_all_whole(plain: Stage, witness: Witness) -> None:
    print(f"CC_CHAOS_SEED={SEED} CC_CHAOS_RUNS={RUNS}")  # noqa: T201 - for whoever sees it fail
    dice = random.Random(SEED)
    with scheduler(), connect(plain, SHORT, COMMAND) as model, ExitStack() as roles:
        storm = Storm(plain, dice, roles)
        for _ in range(RUNS // WAVE):
            ask_for(plain, WAVE, dice)
            storm.strike()
        wait_for(lambda: are_over(plain), seconds=600)
        model.give_up()
    runs = plain.runs()
    assert len(runs) == RUNS
    assert witness.violations() == []
    assert {(run.state, run.terminal_reason) for run in runs} <= {
        ("succeeded", "completed"),
        ("cancelled", "cancelled_by_user"),
        ("failed", "worker_lost"),
    }
    assert max(run.attempt for run in runs) > 1, "some were taken over"
    wait_for(lambda: not at_work_in())
