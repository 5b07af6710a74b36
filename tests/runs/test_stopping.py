"""Stop, pause and resume hold in every state, in whatever order things happen."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from guardrails.approvals import Answer
from guardrails.models import Approval
from harness import events
from harness.errors import Parked, Released
from harness.events import Kind
from runs import dispatch, moves
from runs.live_state import LiveState, facts_of, live_state
from runs.models import Run
from tests.runs.acting import Actor, Scene
from tests.runs.stage import Stage, WithRepository, at_request, beside, elsewhere
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)
ASK = "@engineer tidy up"


def waits_for_approval(scene: Scene) -> None:
    scene.call("c1")
    raise Parked("approval", ids=(scene.asked("c1"),))


def asks_a_person(scene: Scene) -> None:
    scene.call("c1", name="ask_user")
    question: Any = {"role": "agent", "text": "Which one?", "call_id": "c1"}
    scene.record(events.event(Kind.MESSAGE, question))
    raise Parked("person")


def stopped(stage: Stage, run: Run) -> Run:
    stage.act(dispatch.stop, run)
    fresh = stage.fresh(run)
    assert (fresh.state, fresh.terminal_reason) == ("cancelled", "cancelled_by_user")
    assert fresh.summary == "Stopped by @ada."
    stage.assert_whole(run)
    return fresh


def test_a_queued_run_is_stopped_at_once(plain: Stage) -> None:
    [run] = plain.say(ASK)
    stopped(plain, run)
    assert plain.execute(run).state == "cancelled"


@pytest.mark.parametrize("scene", [waits_for_approval, asks_a_person])
def test_a_parked_run_is_stopped_at_once_and_so_is_what_it_asked(
    plain: Stage, actor: Actor, scene: object
) -> None:
    actor.plays(scene)  # type: ignore[arg-type]
    [run] = plain.say(ASK)
    assert plain.execute(run).state == "parked"
    stopped(plain, run)
    with plain.cast.bound():
        assert not Approval.objects.pending().exists()


def test_a_stopped_agent_is_idle_and_never_failed(plain: Stage) -> None:
    [run] = plain.say(ASK)
    stopped(plain, run)
    with plain.cast.bound():
        assert live_state(facts_of(plain.cast.engineer)) == LiveState.IDLE


def test_a_held_push_is_cancelled_with_its_run(stage: WithRepository) -> None:
    [run] = stage.say("@engineer add a CHANGELOG and push it")
    assert stage.execute(run).waiting_for == "approval"
    stopped(stage, run)
    stage.forward()
    assert stage.remote.writes == []


def test_a_stream_that_says_nothing_more_is_stopped(plain: Stage) -> None:
    with plain.model(Step(text="I begin and", hold="for ever", pieces=2)) as model:
        [run] = plain.say(ASK)
        asked = threading.Event()
        model.on_request = asked.set
        with beside(lambda: plain.execute(run)):
            assert asked.wait(60)
            plain.act(dispatch.stop, run)
        model.release("for ever")
    done = plain.fresh(run)
    assert (done.state, done.summary) == ("cancelled", "Stopped by @ada.")
    plain.assert_whole(run)


def test_a_command_in_progress_is_stopped_with_all_it_started(plain: Stage) -> None:
    [run] = plain.say(ASK)
    begun = threading.Event()
    with plain.model(Step(calls=[Call("bash", {"command": "sleep 300 & sleep 300"})])) as model:
        model.on_request = begun.set
        with beside(lambda: plain.execute(run)):
            assert begun.wait(60)
            plain.act(dispatch.stop, run)
    assert plain.fresh(run).state == "cancelled"
    plain.assert_whole(run)


def test_a_stop_beside_the_last_word_holds(plain: Stage) -> None:
    with plain.model(Step(text="All done.")) as model:
        [run] = plain.say(ASK)
        at_request(model, 1, lambda: plain.act(dispatch.stop, run))
        done = plain.execute(run)
    assert done.state == "cancelled"
    plain.assert_whole(run)


def test_a_stop_while_the_run_parks_holds(plain: Stage, actor: Actor) -> None:
    def stopped_meanwhile(scene: Scene) -> None:
        scene.call("c1")
        approval = scene.asked("c1")
        elsewhere(lambda: plain.act(dispatch.stop, run))
        raise Parked("approval", ids=(approval,))

    actor.plays(stopped_meanwhile)
    [run] = plain.say(ASK)
    assert plain.execute(run).state == "cancelled"
    with plain.cast.bound():
        assert not Approval.objects.pending().exists()
    plain.assert_whole(run)


def test_a_stop_holds_when_the_worker_gives_the_run_back(plain: Stage, actor: Actor) -> None:
    def killed(scene: Scene) -> None:
        elsewhere(lambda: plain.act(dispatch.stop, run))
        raise Released("The worker stops.")

    actor.plays(killed)
    [run] = plain.say(ASK)
    assert plain.execute(run).state == "cancelled"
    plain.assert_whole(run)


def test_a_run_whose_worker_is_gone_is_stopped_at_once(plain: Stage) -> None:
    [run] = plain.say(ASK)
    with plain.cast.bound():
        moves.claim(run.workspace_id, run.pk, owner="a worker that died")
    plain.change(run, lease_until=timezone.now() - timedelta(seconds=1))
    assert stopped(plain, run).attempt == 1


def test_what_has_ended_cannot_be_stopped(plain: Stage, actor: Actor) -> None:
    actor.plays(lambda scene: scene.write("Done."))
    [run] = plain.say(ASK)
    plain.execute(run)
    for act in (dispatch.stop, dispatch.pause, dispatch.resume):
        with pytest.raises(dispatch.CannotDo, match="already ended"):
            plain.act(act, run)
    with pytest.raises(dispatch.CannotDo, match="already ended"):
        plain.act(dispatch.steer, run, text="go on")
    assert plain.fresh(run).state == "succeeded"
    plain.assert_whole(run)


def test_a_paused_run_goes_on_where_it_stopped(plain: Stage) -> None:
    steps = [
        Step(text="I begin and", hold="for ever", pieces=2),
        Step(text="All done.", expect="tidy up"),
    ]
    with plain.model(*steps) as model:
        [run] = plain.say(ASK)
        asked = threading.Event()
        model.on_request = asked.set
        with beside(lambda: plain.execute(run)):
            assert asked.wait(60)
            plain.act(dispatch.pause, run)
        paused = plain.fresh(run)
        assert (paused.state, paused.waiting_for) == ("parked", "pause")
        model.release("for ever")
        with pytest.raises(dispatch.CannotDo, match="Only a run that is working"):
            plain.act(dispatch.pause, run)
        plain.act(dispatch.resume, run)
        with pytest.raises(dispatch.CannotDo, match="not paused"):
            plain.act(dispatch.resume, run)
        assert plain.execute(run).state == "succeeded"
    plain.assert_whole(run)


def test_a_pause_beside_a_question_holds_after_the_answer(plain: Stage, actor: Actor) -> None:
    def paused_meanwhile(scene: Scene) -> None:
        scene.call("c1")
        approval = scene.asked("c1")
        elsewhere(lambda: plain.act(dispatch.pause, run))
        raise Parked("approval", ids=(approval,))

    def goes_on(scene: Scene) -> None:
        scene.ports.stop.wait(60)

    actor.plays(paused_meanwhile, goes_on, lambda scene: scene.write("Done."))
    [run] = plain.say(ASK)
    assert plain.execute(run).waiting_for == "approval"
    plain.decide(Answer.ONCE)
    assert plain.execute(run).waiting_for == "pause"
    plain.act(dispatch.resume, run)
    assert plain.execute(run).state == "succeeded"
    plain.assert_whole(run)


def test_a_stop_beside_a_pause_ends_the_run(plain: Stage, actor: Actor) -> None:
    def both(scene: Scene) -> None:
        elsewhere(lambda: plain.act(dispatch.pause, run))
        elsewhere(lambda: plain.act(dispatch.stop, run))
        with pytest.raises(dispatch.CannotDo):
            elsewhere(lambda: plain.act(dispatch.pause, run))
        raise Parked("pause")

    actor.plays(both)
    [run] = plain.say(ASK)
    assert plain.execute(run).state == "cancelled"


def test_a_queued_run_is_not_paused(plain: Stage) -> None:
    [run] = plain.say(ASK)
    with pytest.raises(dispatch.CannotDo, match="Only a run that is working"):
        plain.act(dispatch.pause, run)
