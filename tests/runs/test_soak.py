"""Deaths, races and load, with real worker processes: nothing is lost, nothing happens twice."""

import random
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import InterfaceError, OperationalError, connection, connections
from django.utils import timezone

from controlcenter.local.postgres import SUPERUSER
from guardrails.approvals import AlreadyDecided, Answer
from guardrails.models import Approval
from harness.stop import Stop
from live import valkey
from runs import dispatch, recovery, runner
from runs.models import Run
from spaces.models import Conversation
from tests.runs.stage import Stage, WithRepository, together
from tests.runs.workers import scheduler, worker
from tests.scripted import anthropic
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import ScriptedServer, serving

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.soak,
    pytest.mark.timeout(300),
]
TURNS = 12


@pytest.fixture(autouse=True)
def clean_broker(transactional_db: None) -> None:
    valkey.client().flushall()


@pytest.fixture
def house(plain: Stage) -> Iterator[Stage]:
    """A stage with a scheduler; the test starts its workers."""
    with scheduler():
        yield plain


def echoes(turns: int = TURNS, *, hold: str = "") -> Script:
    """A run that writes a line a turn: an effect outside of the database that can be counted."""
    steps = [
        Step(
            text=f"Turn {n}.",
            calls=[Call("bash", {"command": f"echo {n} >> log.txt"})],
            hold=hold if n == turns // 2 else "",
            pieces=2,
            again=True,
        )
        for n in range(turns)
    ]
    return Script([*steps, Step(text="All written.", again=True)], by_turn=True)


def connect(stage: Stage, *scripts: Script) -> Any:
    """The scripted server of these conversations, as the workspace's model."""
    made = anthropic.server(*scripts)
    stage.connect("anthropic", made.url)
    return serving(made)


def until(stage: Stage, run: Run, *states: str) -> Run:
    """Looks again and again; the test's own time limit ends what never comes."""
    while (fresh := stage.fresh(run)).state not in states:
        Stop().wait(0.1)
    return fresh


def lines(stage: Stage) -> list[int]:
    [log] = django_settings.DATA_DIR.glob("workspaces/*/spaces/*/*/agents/engineer/log.txt")
    return [int(line) for line in log.read_text().split()]


def assert_done_once(stage: Stage, run: Run) -> None:
    """Each line was written at most once, and what is missing was said to be uncertain."""
    written = lines(stage)
    assert len(written) == len(set(written)), written
    missing = TURNS - len(written)
    uncertain = sum("outcome unknown" in str(e.data) for e in stage.events(run))
    assert missing <= uncertain
    texts = [
        event.data["block"]["text"] for event in stage.events(run) if event.kind.value == "text"
    ]
    complete = [text for text in texts if text.startswith("Turn ")]
    assert {f"Turn {n}." for n in range(TURNS)} <= set(complete)
    stage.assert_whole(run)


# ---------------------------------------------------------------- deaths


def test_a_run_survives_the_kill_of_its_worker(house: Stage) -> None:
    with connect(house, echoes(hold="killed")) as model, worker() as first:
        asked = watch(model, TURNS // 2 + 1)
        [run] = house.say("@engineer write")
        assert asked.wait(120)
        first.kill()
        model.release("killed")
        with worker():
            done = until(house, run, *Run.ENDED)
    assert (done.state, done.summary) == ("succeeded", "All written.")
    assert done.attempt > 1
    assert "goes on elsewhere" in house.said(run)
    assert_done_once(house, run)


def test_a_subagent_survives_the_kill_of_its_worker_in_a_call(house: Stage) -> None:
    """Its command is not run again, its parent waits on, and has the result once."""
    given = {"description": "Write", "prompt": "Write a line.", "subagent_type": "general-purpose"}
    long = Call("bash", {"command": "echo 1 >> log.txt; sleep 600"})
    parent = [
        Step(calls=[Call("agent", given)], again=True),
        Step(text="It is written.", again=True),
    ]
    child = [
        Step(calls=[long], again=True),
        Step(text="One line, perhaps.", expect="outcome unknown", again=True),
    ]
    scripts = (
        Script(child, when="You carry out one task", by_turn=True),
        Script(parent, by_turn=True),
    )
    with connect(house, *scripts):
        with worker() as first:
            [run] = house.say("@engineer have a line written")
            until_there(house, "log.txt")
            first.kill()
        with worker():
            done = until(house, run, *Run.ENDED)
    assert (done.state, done.summary) == ("succeeded", "It is written.")
    assert lines(house) == [1]
    [child_run] = [each for each in house.runs() if each.parent_id]
    assert child_run.attempt > 1
    told = [e.data for e in house.events(run) if e.kind.value == "child"]
    assert [each["phase"] for each in told] == ["started", "ended"]
    for each in (run, child_run):
        house.assert_whole(each)


def until_there(stage: Stage, name: str) -> None:
    """The agent has written that file; the test's own time limit ends what never comes."""
    place = f"workspaces/*/spaces/*/*/agents/engineer/{name}"
    while not any(file.read_text().strip() for file in django_settings.DATA_DIR.glob(place)):
        Stop().wait(0.1)


@pytest.mark.parametrize("seed", range(3))
def test_a_run_survives_kill_after_kill(house: Stage, seed: int) -> None:
    dice = random.Random(seed)
    with connect(house, echoes()):
        [run] = house.say("@engineer write")
        for _ in range(3):
            with worker() as victim:
                until(house, run, "running", *Run.ENDED)
                Stop().wait(dice.uniform(0, 2))
                victim.kill()
        with worker():
            done = until(house, run, *Run.ENDED)
    assert done.state == "succeeded"
    assert_done_once(house, run)


def test_a_worker_that_wakes_up_after_its_lease_does_nothing_more(house: Stage) -> None:
    with connect(house, echoes(hold="asleep")) as model, worker() as first:
        asked = watch(model, TURNS // 2 + 1)
        [run] = house.say("@engineer write")
        assert asked.wait(120)
        first.send(signal.SIGSTOP)
        model.release("asleep")
        with worker():
            until(house, run, *Run.ENDED)
            before = lines(house)
            first.send(signal.SIGCONT)
            first.end(seconds=20)
    assert lines(house) == before
    assert house.fresh(run).state == "succeeded"
    assert_done_once(house, run)


def test_on_term_the_run_is_given_back_in_time(house: Stage) -> None:
    with connect(house, echoes(hold="for ever")) as model, worker() as first:
        asked = watch(model, TURNS // 2 + 1)
        [run] = house.say("@engineer write")
        assert asked.wait(120)
        first.end(seconds=15)
        assert house.fresh(run).state == "queued"
        model.release("for ever")
        with worker():
            done = until(house, run, *Run.ENDED)
    assert done.state == "succeeded"
    assert "worker was lost" not in house.said(run)
    assert_done_once(house, run)


# ---------------------------------------------------------------- engines


def test_an_emptied_broker_loses_no_run(house: Stage) -> None:
    with connect(house, Script([Step(text="Hello.", again=True)], by_turn=True)):
        runs = []
        for _ in range(5):
            runs += house.say("@engineer hello")
            end_conversation(house)
        house.act(dispatch.stop, runs[2])
        valkey.client().flushall()
        for run in runs:
            house.change(run, rung_at=timezone.now() - timedelta(seconds=11))
        with worker():
            states = [until(house, run, *Run.ENDED).state for run in runs]
    assert sorted(states) == ["cancelled", "succeeded", "succeeded", "succeeded", "succeeded"]


def test_connections_that_are_cut_again_and_again_double_nothing(house: Stage) -> None:
    stop = threading.Event()

    def cut() -> None:
        owner = connections["owner"].settings_dict
        where = {"host": owner["HOST"], "dbname": owner["NAME"], "user": SUPERUSER}
        with psycopg.connect(**where, autocommit=True) as superuser:
            while not stop.wait(0.7):
                superuser.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE usename = 'cc_app' AND application_name <> 'test'"
                )

    with connect(house, echoes()), worker():
        [run] = house.say("@engineer write")
        cutting = threading.Thread(target=cut)
        cutting.start()
        try:
            done = patiently(house, run)
        finally:
            stop.set()
            cutting.join(20)
    assert done.state == "succeeded"
    assert_done_once(house, run)


def patiently(house: Stage, run: Run) -> Run:
    """The same for a test whose own connection is cut too."""
    while True:
        try:
            return until(house, run, *Run.ENDED)
        except (OperationalError, InterfaceError):
            connection.close()


# ---------------------------------------------------------------- races and load


def test_twenty_approvers_make_one_decision_and_one_push(stage: WithRepository) -> None:
    [run] = stage.say("@engineer add a CHANGELOG and push it")
    assert stage.execute(run).waiting_for == "approval"
    approval = stage.pending()
    who = [stage.cast.ada, stage.cast.ben]

    def decide(number: int) -> str:
        answer = Answer.ONCE if number % 2 else Answer.DENY
        stage.decide(answer, approval=approval, by=who[number % 2])
        return answer.value

    results = together([partial(decide, n) for n in range(20)])
    winners = [each for each in results if isinstance(each, str)]
    assert len(winners) == 1
    assert all(isinstance(each, AlreadyDecided | str) for each in results), results
    stage.forward()
    with stage.cast.bound():
        assert Approval.objects.get().state in {"approved", "denied"}
    assert len(stage.remote.writes) == (winners == [Answer.ONCE.value])
    assert stage.execute(run).state == "succeeded"
    stage.assert_whole(run)


def test_two_workers_execute_thirty_runs_once_each(house: Stage) -> None:
    script = Script(
        [Step(calls=[Call("todo", {"todos": []})], again=True), Step(text="Done.", again=True)],
        by_turn=True,
    )
    with connect(house, script), worker(CC_RUN_THREADS="8"), worker(CC_RUN_THREADS="8"):
        runs = []
        for _ in range(30):
            runs += house.say("@engineer go")
            end_conversation(house)
        for run in runs:
            assert until(house, run, *Run.ENDED).state == "succeeded"
    owners = set()
    for run in runs:
        fresh = house.fresh(run)
        assert fresh.attempt == 1
        owners.add(fresh.lease_owner)
        house.assert_whole(run)


def test_thirty_runs_at_once_are_all_under_a_lease(house: Stage) -> None:
    waits = Step(text="I wait", hold="together", pieces=2, again=True)
    with connect(house, Script([waits], by_turn=True)) as model, worker(CC_RUN_THREADS="30"):
        runs = []
        for _ in range(30):
            runs += house.say("@engineer wait")
            end_conversation(house)
        for run in runs:
            held = until(house, run, "running", *Run.ENDED)
            assert held.state == "running"
            assert held.lease_owner
            assert held.lease_until is not None
        model.release("together")
        for run in runs:
            assert until(house, run, *Run.ENDED).state == "succeeded"


def test_claims_and_sweeps_at_once_leave_one_holder(plain: Stage) -> None:
    """Workers that claim, a sweep that takes back, members who stop: one of them wins each time."""
    for number in range(15):
        [run] = plain.say(f"@engineer round {number}")
        claims = [partial(runner.claim, run.workspace_id, run.pk)] * 3
        others: list[Callable[[], Any]] = [
            recovery.sweep,
            partial(plain.act, dispatch.stop, run),
        ]
        results = together([*claims, *others])
        held = [each for each in results if isinstance(each, Run)]
        assert len(held) <= 1
        fresh = plain.fresh(run)
        assert fresh.state in {"running", "cancelled"}
        assert (fresh.state == "running") == (
            len(held) == 1 and fresh.stop_requested_at is not None
        )
        plain.change(run, lease_until=timezone.now())
        recovery.sweep()
        assert plain.fresh(run).state == "cancelled"
        plain.assert_whole(run)


def test_messages_and_ends_at_once_lose_no_word(plain: Stage) -> None:
    """While an agent finishes people write; each word is read by this run or wakes the next."""
    for number in range(10):
        with plain.model(*[Step(text="Done.")] * 4) as model:
            [run] = plain.say(f"@engineer round {number}")
            spoken = [f"word {number} {n}" for n in range(2)]
            acts = [partial(plain.say, f"@engineer {word}") for word in spoken]
            together([partial(plain.execute, run), *acts])
            for each in plain.runs():
                if each.state == "queued":
                    plain.execute(each)
            read = str(model.requests)
            model.give_up()
        assert all(word in read for word in spoken)
        assert not [each for each in plain.runs() if each.is_open]
        for each in plain.runs():
            plain.assert_whole(each)


def watch(model: ScriptedServer, number: int) -> threading.Event:
    """Set when the model has its request of that number."""
    come = threading.Event()
    model.on_request = lambda: come.set() if len(model.requests) >= number else None
    return come


def end_conversation(house: Stage) -> None:
    """The next message begins a conversation of its own."""
    with house.cast.bound():
        house.cast.conversation = Conversation.objects.create(space=house.cast.space, title="Next")
