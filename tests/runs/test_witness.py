"""Proof of the proof: each of these faults, put into our own code, is seen by the witness.

A fault is a piece of the source, exchanged while the test runs; a story that goes well without it
is told again with it.
"""

import base64
import inspect
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.utils import timezone

from guardrails import approvals
from guardrails.approvals import AlreadyDecided, Answer
from harness import events
from harness.errors import Completed, Released
from live import valkey
from repositories import forwarding
from repositories.models import PushRequest
from runs import dispatch, journal, moves, queue, recovery, runner
from runs.keeper import Held
from runs.models import Run
from runs.sink import JournalSink
from tests.push.conftest import wait_for
from tests.runs.acting import usage
from tests.runs.stage import Stage, WithRepository, together
from tests.runs.witness import Witness, at_work_in, watching
from workspaces.tenancy import bind

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak]

Function = Callable[..., Any]
Story = Callable[[WithRepository, pytest.MonkeyPatch], Any]


@dataclass(frozen=True)
class Fault:
    """`old` of the function's source becomes `new`; a name is that of a function in SQL."""

    where: Function | str
    old: str
    new: str


@contextmanager
def faulty(faults: Sequence[Fault]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        undoing = [put_in(patch, fault) for fault in faults]
        try:
            yield
        finally:
            for undo in undoing:
                undo()


def put_in(patch: pytest.MonkeyPatch, fault: Fault) -> Callable[[], None]:
    if isinstance(fault.where, str):
        source = sql_of(fault.where)
        run_as_owner(exchanged(source, fault))
        return partial(run_as_owner, source)
    module = inspect.getmodule(fault.where)
    assert module is not None
    scope: dict[str, Any] = {}
    exec(exchanged(inspect.getsource(fault.where), fault), vars(module), scope)
    patch.setattr(module, fault.where.__name__, scope[fault.where.__name__])
    return lambda: None


def exchanged(source: str, fault: Fault) -> str:
    assert source.count(fault.old) == 1, "the place has changed: name the fault anew"
    return source.replace(fault.old, fault.new)


def sql_of(name: str) -> str:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_get_functiondef(%s::regproc)", [name])
        [source] = cursor.fetchone()
    return str(source)


def run_as_owner(statement: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement)


# ---------------------------------------------------------------- stories


def claimed(stage: Stage, text: str = "@engineer tidy up") -> Run:
    [run] = stage.say(text)
    return claim(run)


def claim(run: Run) -> Run:
    found = runner.claim(run.workspace_id, run.pk)
    connection.close()
    assert found is not None
    return found


def lose(stage: Stage, run: Run) -> None:
    stage.change(run, lease_until=timezone.now() - timedelta(seconds=1))
    recovery.sweep()


def write(run: Run) -> None:
    with suppress(Released):
        JournalSink(Held(run)).record(usage(1))


def complete(stage: Stage, run: Run, *, seen: int = 1000) -> None:
    with suppress(journal.FenceLost):
        runner._finish_once(run, Completed("Done.", seen=seen))


def a_worker_comes_back(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    old = claimed(stage)
    lose(stage, old)
    new = claim(old)
    write(old)
    write(new)
    complete(stage, new)


def its_clock_is_an_hour_ahead(stage: WithRepository, patch: pytest.MonkeyPatch) -> None:
    run, right = claimed(stage), timezone.now
    with patch.context() as wrong:
        wrong.setattr(timezone, "now", lambda: right() + timedelta(hours=1))
        recovery.sweep()
    with suppress(AssertionError):
        run = claim(run)
    complete(stage, run)


def a_ring_is_lost(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    [run] = stage.say("@engineer tidy up")
    valkey.client().delete(*queue.QUEUES)
    stage.change(run, rung_at=timezone.now() - timedelta(minutes=1))
    recovery.sweep()
    for message in drained():
        workspace_id, run_id = json.loads(base64.b64decode(message["body"]))[0]
        runner.execute(UUID(workspace_id), UUID(run_id))


def drained() -> Iterator[dict[str, Any]]:
    while message := valkey.client().lpop("runs"):
        yield json.loads(message)  # type: ignore[arg-type]


def many_write_at_once(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    run = claimed(stage)

    def steer() -> None:
        with stage.cast.bound():
            journal.record(run, [events.steer("faster", author="ada")])

    together([steer] * 4)
    complete(stage, run)


def two_decide_at_once(stage: WithRepository, patch: pytest.MonkeyPatch) -> None:
    """Both have read that it is open before either of them writes."""
    [run] = stage.say("@engineer add a CHANGELOG and push it")
    stage.execute(run)
    approval, both = stage.pending(), threading.Barrier(2)
    check = approvals._check_may_answer

    def checked(*given: Any) -> None:
        check(*given)
        both.wait(30)

    def decide(answer: Answer) -> None:
        with suppress(AlreadyDecided), stage.cast.bound():
            approvals.decide(approval, by=stage.cast.ada.principal, answer=answer)

    with patch.context() as slow:
        slow.setattr(approvals, "_check_may_answer", checked)
        together([partial(decide, Answer.DENY), partial(decide, Answer.DENY)])
    recovery.sweep()
    stage.execute(run)


def two_end_it(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    run = claimed(stage)
    with stage.cast.bound():
        moves.end(run, state="failed", reason="error", summary="")
    with stage.cast.bound():
        moves.end(run, state="cancelled", reason="cancelled_by_user", summary="")


def it_ends_under_the_sweeps_eyes(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    run = claimed(stage)
    stage.change(run, lease_until=timezone.now() - timedelta(seconds=1))
    [(workspace_id, key)] = recovery._lost_workers()
    complete(stage, run)
    with bind(workspace_id):
        recovery._reclaim(key)


def a_push_meets_a_closed_door(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    [run] = stage.say("@engineer add a CHANGELOG and push it")
    stage.execute(run)
    stage.remote.fail_with = 503
    stage.decide(Answer.ONCE)
    stage.remote.fail_with = 0
    with stage.cast.bound():
        PushRequest.objects.update(forward_until=timezone.now() - timedelta(seconds=1))
        request = PushRequest.objects.latest("number")
    forwarding.forward(request.workspace_id, request.pk)
    recovery.sweep()
    stage.execute(run)


def somebody_stops_what_sleeps(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    run = claimed(stage)
    stage.act(dispatch.stop, run)
    complete(stage, run)


def it_completes(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    run = claimed(stage)
    write(run)
    complete(stage, run)


def a_ring_comes_after_the_end(stage: WithRepository, _patch: pytest.MonkeyPatch) -> None:
    run = claimed(stage)
    complete(stage, run)
    with suppress(AssertionError):
        claim(run)


NUMBERED = """UPDATE runs_runcursor SET last_seq = last_seq + many,
        last_output_at = CASE WHEN is_output THEN clock_timestamp() ELSE last_output_at END
    WHERE run_id = its_run AND (its_fence IS NULL OR fence = its_fence)
    RETURNING last_seq INTO last;"""
COUNTED = """SELECT count(*) + many INTO last FROM runs_runevent WHERE run_id = its_run;
    PERFORM pg_sleep(0.2);"""
RINGS = "_each(_unrung(), _ring)"
IS_LOST = "lease_until__lt=Now()"
BY_OUR_CLOCK = "lease_until__lt=__import__('django.utils.timezone').utils.timezone.now()"
LOOKED = """run is None or not Run.objects.filter(
        pk=run_id, state=Run.State.RUNNING, lease_until__lt=Now()
    )"""
FAULTS: dict[str, tuple[Story, list[Fault], str]] = {
    "no fence in one update": (
        a_worker_comes_back,
        [Fault("runs_append", "AND (its_fence IS NULL OR fence = its_fence)", "")],
        "written by a worker that lost it",
    ),
    "a lease by the worker's clock": (
        its_clock_is_an_hour_ahead,
        [
            Fault(recovery._lost_workers, IS_LOST, BY_OUR_CLOCK),
            Fault(recovery._reclaim, IS_LOST, BY_OUR_CLOCK),
        ],
        "taken from a living worker",
    ),
    "a ring that is taken as the work": (
        a_ring_is_lost,
        [Fault(recovery.sweep, RINGS, "_unrung()")],
        "it never ended",
    ),
    "numbers from a count": (
        many_write_at_once,
        [Fault("runs_append", NUMBERED, COUNTED)],
        "its events are not 1..n",
    ),
    "read, then decided": (
        two_decide_at_once,
        [Fault(approvals._close, "objects.pending()", "objects.all()")],
        "decided twice",
    ),
    "an end over an end": (
        two_end_it,
        [Fault(moves._move, "filter(pk=run.pk, **before)", "filter(pk=run.pk)")],
        "an end was overwritten",
    ),
    "a sweep that does not look again": (
        it_ends_under_the_sweeps_eyes,
        [Fault(recovery._reclaim, LOOKED, "run is None")],
        "an event after the end",
    ),
    "noted before it is sent": (
        a_push_meets_a_closed_door,
        [
            Fault(
                forwarding._carry_out,
                "said = _push(claim)",
                "_finish(claim, State.FORWARDED, '')\n        said = _push(claim)",
            )
        ],
        "forwarded and not written",
    ),
    "a stop that a sleeper ignores": (
        somebody_stops_what_sleeps,
        [Fault(runner.stopped, 'run.stop_reason != "cancel"', "True")],
        "somebody stopped it, and it went on",
    ),
    "a replay off by one": (
        it_completes,
        [Fault(journal.read, "seq__gt=after", "seq__gte=after")],
        "replayed wrongly",
    ),
    "an ended run that is begun again": (
        a_ring_comes_after_the_end,
        [Fault("runs_claim", "AND state = 'queued'", "")],
        "claimed, and not queued",
    ),
}


@pytest.fixture
def witness(stage: WithRepository) -> Iterator[Witness]:
    valkey.client().delete(*queue.QUEUES)
    with watching() as witness:
        yield witness


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_well_is_well_and_the_fault_is_seen(
    stage: WithRepository, witness: Witness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    story, faults, sign = FAULTS[name]
    story(stage, monkeypatch)
    assert witness.violations(writes=len(stage.remote.writes)) == []
    with faulty(faults):
        story(stage, monkeypatch)
        found = witness.violations(writes=len(stage.remote.writes))
    assert sign in " ".join(found)


CALLER = """
import subprocess, sys
from pathlib import Path
from harness import sandbox
from harness.seam import RunSpec
sandbox._NAMESPACES = tuple(word for word in sandbox._NAMESPACES if word != sys.argv[2])
here = Path(sys.argv[1])
line = [sandbox.probe().bwrap, *sandbox._NAMESPACES, *sandbox._system(), "--bind", str(here),
        str(here), "--chdir", str(here), "sleep", "3600"]
subprocess.run(line)
"""


@pytest.mark.needs("bwrap", "socat")
@pytest.mark.parametrize(("left_out", "outlives"), [("", False), ("--die-with-parent", True)])
def test_a_command_that_outlives_its_worker_is_seen(
    tmp_path: Path, left_out: str, outlives: bool
) -> None:
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(tmp_path), left_out])
    wait_for(lambda: at_work_in(tmp_path))
    caller.kill()
    caller.wait()
    if outlives:
        left = at_work_in(tmp_path)
        assert left
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not at_work_in(tmp_path))
