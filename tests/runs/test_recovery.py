"""What a death leaves behind is found: workers, rings, silent runs."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from django.utils import timezone
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError

from harness.conversation import INTERRUPTED
from harness.errors import Released
from harness.events import Delta, Kind
from harness.stop import Stop
from live import presence, valkey
from runs import broadcast, dispatch, moves, queue, recovery, runner, silence
from runs.keeper import Held, Keeper, keeper
from runs.models import Run, RunCursor
from tests.runs.acting import Actor, Scene
from tests.runs.stage import Stage, elsewhere
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)


def dies(plain: Stage, run: Run) -> None:
    """Claimed by a process that is gone; its lease has run out."""
    with plain.cast.bound():
        assert moves.claim(run.workspace_id, run.pk, owner="a worker that died")
    plain.change(run, lease_until=timezone.now() - timedelta(seconds=1))


def test_a_run_whose_worker_died_goes_on_elsewhere(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    dies(plain, run)
    recovery.sweep()
    assert plain.fresh(run).state == "queued"
    with plain.model(Step(text="Tidied.")):
        done = plain.execute(run)
    assert (done.state, done.attempt) == ("succeeded", 2)
    assert "goes on elsewhere" in plain.said(run)
    plain.assert_whole(run)


def test_a_run_with_a_live_lease_is_left_alone(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    with plain.cast.bound():
        moves.claim(run.workspace_id, run.pk, owner="busy")
    recovery.sweep()
    assert plain.fresh(run).state == "running"


def test_after_too_many_losses_the_run_fails_with_that_reason(plain: Stage, settings: Any) -> None:
    settings.RUN_ATTEMPTS = 2
    [run] = plain.say("@engineer tidy up")
    dies(plain, run)
    recovery.sweep()
    dies(plain, run)
    recovery.sweep()
    done = plain.fresh(run)
    assert (done.state, done.terminal_reason) == ("failed", "worker_lost")
    assert done.liveness == "dead"
    assert "lost 2 times" in done.summary
    plain.assert_whole(run)


def test_a_call_that_was_begun_and_lost_is_not_made_again(plain: Stage, actor: Actor) -> None:
    def is_lost_in_the_middle(scene: Scene) -> None:
        scene.call("c1", command="send-the-letter")
        scene.start("c1")
        raise Released("The worker stops.")

    actor.plays(is_lost_in_the_middle)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    plain.change(run, adapter="cc-harness")
    with plain.model(Step(text="I look whether it went.", expect="outcome unknown")):
        assert plain.execute(run).state == "succeeded"
    assert INTERRUPTED in plain.said(run)


def test_a_row_that_cannot_be_mended_keeps_nothing_else_from_it(plain: Stage) -> None:
    [first] = plain.say("@engineer tidy up")
    [second] = plain.say("@ceo plan")
    dies(plain, first)
    dies(plain, second)
    with plain.cast.bound():
        RunCursor.objects.filter(run=first).delete()  # its journal cannot be written
    recovery.sweep()
    assert plain.fresh(second).state == "queued"


def test_a_stop_is_carried_out_when_the_worker_is_found_dead(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    with plain.cast.bound():
        moves.claim(run.workspace_id, run.pk, owner="a worker that dies now")
    plain.act(dispatch.stop, run)
    assert plain.fresh(run).state == "running"
    plain.change(run, lease_until=timezone.now())
    recovery.sweep()
    assert plain.fresh(run).state == "cancelled"
    plain.assert_whole(run)


def test_a_pause_is_carried_out_when_the_worker_is_found_dead(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    with plain.cast.bound():
        moves.claim(run.workspace_id, run.pk, owner="a worker that dies now")
    plain.act(dispatch.pause, run)
    plain.change(run, lease_until=timezone.now())
    recovery.sweep()
    assert plain.fresh(run).waiting_for == "pause"
    plain.act(dispatch.resume, run)
    assert plain.fresh(run).state == "queued"


# ---------------------------------------------------------------- rings


@pytest.fixture
def no_rings() -> Iterator[None]:
    wipe()
    yield
    wipe()


def wipe() -> None:
    """What a broker that lost everything holds."""
    valkey.client().delete(*queue.QUEUES)


def test_a_lost_ring_is_repeated(plain: Stage, no_rings: None) -> None:
    [run] = plain.say("@engineer tidy up")
    assert queue.waiting()["runs"] == 1
    wipe()
    plain.change(run, rung_at=timezone.now() - timedelta(seconds=11))
    recovery.sweep()
    assert queue.waiting() == {"runs": 1, "cli": 0}


def test_while_rings_wait_no_more_are_added(plain: Stage, no_rings: None) -> None:
    """All workers are busy: ringing again for each waiting run would bury the broker."""
    [run] = plain.say("@engineer tidy up")
    plain.change(run, rung_at=timezone.now() - timedelta(seconds=60))
    recovery.sweep()
    assert queue.waiting()["runs"] == 1
    plain.change(run, rung_at=timezone.now() - timedelta(minutes=6))
    recovery.sweep()
    assert queue.waiting()["runs"] == 2


def test_without_a_broker_the_rest_of_the_sweep_goes_on(plain: Stage, settings: Any) -> None:
    [run] = plain.say("@engineer tidy up")
    dies(plain, run)
    before = current_app.conf.broker_read_url, current_app.conf.broker_url
    current_app.conf.broker_url = current_app.conf.broker_read_url = "redis://127.0.0.1:1/0"
    try:
        with pytest.raises(OperationalError):
            queue.waiting()
        recovery.sweep()
    finally:
        current_app.conf.broker_read_url, current_app.conf.broker_url = before
    assert plain.fresh(run).state == "queued"


def test_a_ring_heard_by_a_process_that_stops_is_repeated_at_once(
    plain: Stage, no_rings: None
) -> None:
    [run] = plain.say("@engineer tidy up")
    wipe()
    keeper.is_closing = True
    try:
        assert plain.execute(run).state == "queued"
    finally:
        keeper.is_closing = False
    recovery.sweep()
    assert queue.waiting()["runs"] == 1


# ---------------------------------------------------------------- a worker that is told to stop


def test_on_term_a_run_is_given_back_and_goes_on_elsewhere(
    plain: Stage, actor: Actor, settings: Any
) -> None:
    [stopping] = settings.CC_WORKER_STOPPING

    def works(scene: Scene) -> None:
        scene.write("Half.")
        elsewhere(import_string(stopping))
        scene.ports.stop.wait(60)

    actor.plays(works, lambda scene: scene.write("Whole."))
    [run] = plain.say("@engineer tidy up")
    try:
        assert plain.execute(run).state == "queued"
        assert plain.execute(run).state == "queued"
    finally:
        keeper.is_closing = False
    done = plain.execute(run)
    assert (done.state, done.attempt) == ("succeeded", 2)
    plain.assert_whole(run)


def test_a_silent_stream_is_given_back_too(plain: Stage) -> None:
    steps = [Step(text="I begin and", hold="for ever", pieces=2), Step(text="Whole.")]
    with plain.model(*steps) as model:
        [run] = plain.say("@engineer tidy up")
        model.on_request = keeper.close
        try:
            plain.execute(run)
        finally:
            keeper.is_closing = False
        assert plain.fresh(run).state == "queued"
        model.release("for ever")
        model.on_request = lambda: None
        assert plain.execute(run).state == "succeeded"
    plain.assert_whole(run)


# ---------------------------------------------------------------- leases


def test_a_lease_is_renewed_while_the_run_works(plain: Stage, actor: Actor, settings: Any) -> None:
    settings.LEASE_BEAT_SECONDS = 0

    def works(scene: Scene) -> None:
        plain.change(run, lease_until=timezone.now())
        until(lambda: (plain.fresh(run).lease_until or timezone.now()) > timezone.now())

    actor.plays(works)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).attempt == 1


def test_a_worker_that_was_fenced_off_stops_by_itself(plain: Stage, actor: Actor) -> None:
    def is_fenced_off(scene: Scene) -> None:
        plain.change(run, lease_until=timezone.now())
        elsewhere(recovery.sweep)
        scene.ports.stop.wait(60)

    actor.plays(is_fenced_off)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).state == "queued"
    plain.assert_whole(run)


def test_a_worker_that_cannot_renew_stops_by_itself(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    held = Held(run, renewed=float("-inf"))
    Keeper()._give_up_late([held])
    with pytest.raises(Released):
        held.stop.check()


def test_a_worker_whose_database_hangs_stops_by_itself(
    plain: Stage, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an error nor an answer comes, as over a line that was cut."""
    settings.LEASE_SECONDS = 1
    is_over = threading.Event()
    keeper = Keeper()
    monkeypatch.setattr(keeper, "_look", lambda _held: is_over.wait(60))
    [run] = plain.say("@engineer tidy up")
    with keeper.holding(run) as held:
        with pytest.raises(Released):
            held.stop.wait(60)
        is_over.set()


def test_presence_hears_no_late_news(plain: Stage, actor: Actor) -> None:
    """A heartbeat that was read before the end and sent after it shows nobody at work."""
    actor.plays(lambda scene: scene.write("Done."))
    [run] = plain.say("@engineer tidy up")
    before = claim_and_release(plain, run)
    plain.execute(run)
    broadcast.show_presence(before, "running")
    [entry] = presence.snapshot(str(run.workspace_id))
    assert entry.state == "done"


def claim_and_release(plain: Stage, run: Run) -> Run:
    found = runner.claim(run.workspace_id, run.pk)
    connection.close()
    assert found is not None
    with plain.cast.bound():
        moves.release(found)
    return found


def until(is_so: Any) -> None:
    """Looks again and again; the test's own time limit ends what never comes."""
    while not elsewhere(is_so):
        Stop().wait(0.05)


# ---------------------------------------------------------------- silence


def silent_for(plain: Stage, run: Run, minutes: float, *, had_output: bool) -> bool:
    """Whether the watchdog stops a run that has been silent for so long."""
    then = timezone.now() - timedelta(minutes=minutes)
    with plain.cast.bound():
        RunCursor.objects.filter(run=run).update(
            began_at=then, last_output_at=then if had_output else None
        )
    silence.watch()
    was_stopped = plain.fresh(run).stop_reason == "silence"
    plain.change(run, stop_requested_at=None, stop_reason="")
    return was_stopped


@pytest.mark.req("CC-22")
@pytest.mark.parametrize(
    ("mode", "own", "had_output", "limit"),
    [
        ("chat", None, True, 15),
        ("orchestrate", None, True, 15),
        ("plan", None, True, 10),
        ("review", None, True, 10),
        ("chat", None, False, silence.FIRST_OUTPUT_MINUTES),
        ("review", None, False, silence.FIRST_OUTPUT_MINUTES),
        ("chat", 1, True, 1),
        ("chat", 240, True, 240),
        ("plan", 240, False, 240),
        ("chat", 1, False, 1),
    ],
)
def test_a_run_is_silent_after_its_limit_and_not_before(
    plain: Stage, mode: str, own: int | None, had_output: bool, limit: int
) -> None:
    with plain.cast.bound():
        plain.cast.engineer.silence_timeout_minutes = own
        plain.cast.engineer.save(update_fields=["silence_timeout_minutes"])
    [run] = plain.say("@engineer tidy up")
    with plain.cast.bound():
        moves.claim(run.workspace_id, run.pk, owner="busy")
    plain.change(run, mode=mode)
    assert not silent_for(plain, run, limit - 0.1, had_output=had_output)
    assert silent_for(plain, run, limit + 0.1, had_output=had_output)


@pytest.mark.req("CC-22")
@pytest.mark.parametrize("state", ["queued", "parked", "succeeded"])
def test_only_a_run_at_work_is_silent(plain: Stage, state: str) -> None:
    [run] = plain.say("@engineer tidy up")
    plain.change(run, state=state, waiting_for="approval" if state == "parked" else "")
    assert not silent_for(plain, run, 1000, had_output=True)


def test_a_silent_run_ends_with_that_as_its_reason(plain: Stage, actor: Actor) -> None:
    def says_nothing(scene: Scene) -> None:
        with plain.cast.bound():
            RunCursor.objects.filter(run=run).update(began_at=timezone.now() - timedelta(hours=1))
        elsewhere(silence.watch)
        scene.ports.stop.wait(60)

    actor.plays(says_nothing)
    [run] = plain.say("@engineer tidy up")
    done = plain.execute(run)
    assert (done.state, done.terminal_reason, done.liveness) == ("failed", "silence", "stalled")
    assert "no output" in done.summary


def test_text_that_grows_is_output(plain: Stage, actor: Actor, settings: Any) -> None:
    settings.LEASE_BEAT_SECONDS = 0

    def writes_slowly(scene: Scene) -> None:
        scene.ports.sink.delta(Delta(1, 0, "text", "slowly"))
        until(lambda: last_output(plain, run) is not None)

    actor.plays(writes_slowly)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).state == "succeeded"


def test_what_is_recorded_before_the_model_answers_is_no_output(plain: Stage) -> None:
    with plain.model(Step(calls=[Call("todo", {"todos": []})]), Step(text="Done.")) as model:
        [run] = plain.say("@engineer tidy up")
        seen: list[object] = []
        model.on_request = lambda: seen.append(elsewhere(lambda: last_output(plain, run)))
        plain.execute(run)
    assert seen[0] is None
    assert seen[1] is not None
    assert Kind.PROMPT.value in plain.kinds(run)


def last_output(plain: Stage, run: Run) -> object:
    with plain.cast.bound():
        return RunCursor.objects.get(run=run).last_output_at
