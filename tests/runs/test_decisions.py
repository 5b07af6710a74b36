"""A decision reaches the run that waits for it, in whatever order the two happen."""

import pytest
from django.utils import timezone

from guardrails import approvals
from guardrails.approvals import Answer
from guardrails.models import Approval
from harness import events
from harness.calls import open_calls
from harness.errors import Parked, Released
from harness.seam import Allow, Ask, Deny
from outside import git
from repositories.models import PushRequest
from repositories.pushing import push_from_checkout
from runs import hearing, moves, recovery
from runs.desk import Desk
from runs.gatekeeper import Gatekeeper
from runs.models import Run
from tests.runs.acting import Actor, Scene, gate_call
from tests.runs.stage import Stage, WithRepository, elsewhere

pytestmark = pytest.mark.django_db(transaction=True)


def waits(scene: Scene) -> None:
    scene.call("c1")
    raise Parked("approval", ids=(scene.asked("c1"),))


def carries_out(scene: Scene) -> None:
    """What the loop does with a yes: ask again with it, begin, do, tell."""
    decision = scene.standing("c1").decision
    assert decision is not None
    verdict = scene.ask("c1", approval_id=decision["approval_id"])
    assert isinstance(verdict, Allow), verdict
    scene.start("c1")
    scene.result("c1")


def settles_what_it_can(scene: Scene) -> None:
    """A call that is decided gets its result; while others wait the run waits on."""
    calls = open_calls(scene.history)
    for call in calls:
        if call.decision is not None:
            scene.result(call.call_id, call.decision["decision"])
    if waiting := [call.waits_on for call in calls if call.standing == "waiting"]:
        raise Parked("approval", ids=tuple(waiting))


def decided(plain: Stage, run: Run) -> list[dict[str, object]]:
    found = [dict(e.data) for e in plain.events(run) if e.kind == "approval"]
    return [data for data in found if data["phase"] == "decided"]


def test_a_yes_wakes_the_run_that_waits(plain: Stage, actor: Actor) -> None:
    actor.plays(waits, carries_out)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).waiting_for == "approval"
    plain.decide(Answer.ONCE)
    assert plain.fresh(run).state == "queued"
    assert plain.execute(run).state == "succeeded"
    assert [(each["decision"], each["decided_by"]) for each in decided(plain, run)] == [
        ("allow", "ada")
    ]
    plain.assert_whole(run)


def test_a_decision_before_its_question_stands_is_heard(plain: Stage, actor: Actor) -> None:
    def is_decided_at_once(scene: Scene) -> None:
        scene.call("c1")
        verdict = scene.ask("c1")
        assert isinstance(verdict, Ask)
        elsewhere(lambda: plain.decide(Answer.ONCE))
        scene.record(events.asked(verdict.approval_id, call_id="c1"))
        raise Parked("approval", ids=(verdict.approval_id,))

    actor.plays(is_decided_at_once, carries_out)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).state == "succeeded"
    plain.assert_whole(run)


def test_a_decision_before_the_run_has_parked_is_heard(plain: Stage, actor: Actor) -> None:
    def is_decided_before_it_parks(scene: Scene) -> None:
        scene.call("c1")
        approval = scene.asked("c1")
        elsewhere(lambda: plain.decide(Answer.DENY, note="No."))
        raise Parked("approval", ids=(approval,))

    actor.plays(is_decided_before_it_parks, lambda scene: scene.write("As you say."))
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).state == "succeeded"
    assert [each["decision"] for each in decided(plain, run)] == ["deny"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_questions_of_one_turn_are_answered_in_any_order(
    plain: Stage, actor: Actor, order: tuple[int, int]
) -> None:
    def asks_twice(scene: Scene) -> None:
        scene.call("c1", "c2")
        raise Parked("approval", ids=(scene.asked("c1"), scene.asked("c2", "rm other.txt")))

    actor.plays(asks_twice, settles_what_it_can, settles_what_it_can)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    with plain.cast.bound():
        asked = list(Approval.objects.pending().order_by("created_at"))
    plain.decide(Answer.ONCE, approval=asked[order[0]])
    assert plain.execute(run).state == "parked"
    plain.decide(Answer.ONCE, approval=asked[order[1]])
    assert plain.execute(run).state == "succeeded"
    plain.assert_whole(run)


def test_the_same_question_asked_twice_is_one_approval(plain: Stage, actor: Actor) -> None:
    def asks_again(scene: Scene) -> None:
        scene.call("c1")
        first, second = scene.asked("c1"), scene.ask("c1")
        assert isinstance(second, Ask)
        assert second.approval_id == first
        raise Parked("approval", ids=(first,))

    actor.plays(asks_again)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).waiting_for == "approval"
    plain.pending()


def test_two_identical_commands_have_a_decision_each(plain: Stage, actor: Actor) -> None:
    def asks_both(scene: Scene) -> None:
        scene.call("c1", "c2", command="rm notes.txt")
        first, second = scene.asked("c1"), scene.asked("c2")
        assert first != second
        raise Parked("approval", ids=(first, second))

    actor.plays(asks_both, settles_what_it_can, settles_what_it_can)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    with plain.cast.bound():
        asked = {each.call_id: each for each in Approval.objects.pending()}
    plain.decide(Answer.DENY, approval=asked["c1"])
    plain.execute(run)
    plain.decide(Answer.ONCE, approval=asked["c2"])
    assert plain.execute(run).state == "succeeded"
    results = {
        e.data["call_id"]: e.data["content"] for e in plain.events(run) if "content" in e.data
    }
    assert results == {"c1": "deny", "c2": "allow"}


def test_what_the_clock_decides_is_heard_by_the_sweep(plain: Stage, actor: Actor) -> None:
    actor.plays(waits, lambda scene: scene.write("Then not."))
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    with plain.cast.bound():
        Approval.objects.update(expires_at=timezone.now())
    assert approvals.expire_due() == 1
    assert plain.fresh(run).state == "parked"
    recovery.sweep()
    assert plain.fresh(run).state == "queued"
    recovery.sweep()
    assert len(decided(plain, run)) == 1
    assert plain.execute(run).state == "succeeded"


def test_hearing_a_decision_twice_is_harmless(plain: Stage, actor: Actor) -> None:
    actor.plays(waits)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    plain.decide(Answer.ONCE)
    with plain.cast.bound():
        hearing.hear(Approval.objects.get())
    assert len(decided(plain, run)) == 1
    plain.assert_whole(run)


def test_a_question_that_outlived_its_run_is_closed(plain: Stage, actor: Actor) -> None:
    """A zombie's question, or one that a push made while the run ended."""
    actor.plays(waits)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    plain.change(run, state="failed")
    recovery.sweep()
    with plain.cast.bound():
        assert Approval.objects.get().state == Approval.State.CANCELLED


# ---------------------------------------------------------------- a yes is used once


def test_a_yes_that_a_lost_worker_could_not_carry_out_still_holds(
    plain: Stage, actor: Actor
) -> None:
    def is_lost_before_it_begins(scene: Scene) -> None:
        decision = scene.standing("c1").decision
        assert decision is not None
        assert isinstance(scene.ask("c1", approval_id=decision["approval_id"]), Allow)
        raise Released("The worker stops.")

    actor.plays(waits, is_lost_before_it_begins, carries_out)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    plain.decide(Answer.ONCE)
    assert plain.execute(run).state == "queued"
    assert plain.execute(run).state == "succeeded"


def test_a_yes_that_was_begun_is_not_used_again(plain: Stage, actor: Actor) -> None:
    def tries_twice(scene: Scene) -> None:
        carries_out(scene)
        [asked] = [e for e in scene.history if e.data.get("phase") == "asked"]
        verdict = scene.ask("c1", approval_id=asked.data["approval_id"])
        assert isinstance(verdict, Deny)
        assert "used once" in verdict.reason

    actor.plays(waits, tries_twice)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    plain.decide(Answer.ONCE)
    assert plain.execute(run).state == "succeeded"


def test_a_yes_is_for_exactly_what_was_shown(plain: Stage, actor: Actor) -> None:
    def does_something_else(scene: Scene) -> None:
        decision = scene.standing("c1").decision
        assert decision is not None
        verdict = scene.ask("c1", "rm -rf everything", approval_id=decision["approval_id"])
        assert isinstance(verdict, Deny)

    actor.plays(waits, does_something_else)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    plain.decide(Answer.ONCE)
    assert plain.execute(run).state == "succeeded"


def test_a_worker_that_lost_the_run_cannot_ask(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    with plain.cast.bound():
        moves.claim(run.workspace_id, run.pk, owner="the old one")
    old = plain.fresh(run)
    plain.change(run, lease_until=timezone.now())
    recovery.sweep()
    with pytest.raises(Released):
        Gatekeeper(old).check(gate_call("c1", "rm notes.txt"))
    with plain.cast.bound():
        assert not Approval.objects.exists()


def test_a_call_without_a_class_asks_nobody(
    plain: Stage, django_assert_num_queries: object
) -> None:
    [run] = plain.say("@engineer look")
    with django_assert_num_queries(0):  # type: ignore[operator]
        call = gate_call("c1", "")
        verdict = Gatekeeper(run).check(
            type(call)(call_id="c1", tool="read", classes=frozenset(), summary="Read", input={})
        )
    assert isinstance(verdict, Allow)


# ---------------------------------------------------------------- pushes


def commits(scene: Scene) -> None:
    [root] = scene.spec.roots
    assert root.checkout is not None
    (root.path / "NEW.md").write_text("new\n")
    who = scene.spec.git_identity
    agent = git.Identity(who.name, who.email)
    git.commit(root.checkout, "Add a file", author=agent, committer=agent)


def test_a_push_that_was_typed_keeps_the_run_until_it_is_decided(
    stage: WithRepository, actor: Actor
) -> None:
    """Git in a shell was told `held`; the model ends its turn; the decision wakes the run."""

    def pushes_and_ends(scene: Scene) -> None:
        commits(scene)
        desk = scene.ports.push_desk
        assert isinstance(desk, Desk)
        [held] = push_from_checkout(desk.origin, "engine")
        assert held.is_open
        scene.write("It is held; somebody has to decide.")

    heard: list[object] = []
    actor.plays(pushes_and_ends, lambda scene: heard.extend(scene.history))
    [run] = stage.say("@engineer push by hand")
    assert stage.execute(run).waiting_for == "approval"
    stage.decide(Answer.ONCE)
    assert len(stage.remote.writes) == 1
    assert stage.execute(run).state == "succeeded"
    assert "is at" in str(heard)
    stage.assert_whole(run)


def test_a_push_decided_before_its_question_stands_is_told_once(
    stage: WithRepository, actor: Actor
) -> None:
    def is_decided_at_once(scene: Scene) -> None:
        scene.call("c1", name="git_push")
        commits(scene)
        desk = scene.ports.push_desk
        assert isinstance(desk, Desk)
        [held] = push_from_checkout(desk.origin, "engine")
        elsewhere(lambda: stage.decide(Answer.ONCE))
        scene.record(events.asked(str(held.approval_id), call_id="c1"))
        raise Parked("approval", ids=(str(held.approval_id),))

    def is_told(scene: Scene) -> None:
        decision = scene.standing("c1").decision
        assert decision is not None
        assert "is at" in decision["outcome"]

    actor.plays(is_decided_at_once, is_told)
    [run] = stage.say("@engineer push")
    assert stage.execute(run).state == "succeeded"
    assert len(stage.remote.writes) == 1
    stage.assert_whole(run)


def test_a_push_of_a_run_that_has_ended_is_denied(stage: WithRepository, actor: Actor) -> None:
    desks: list[Desk] = []

    def leaves_a_process_behind(scene: Scene) -> None:
        commits(scene)
        desk = scene.ports.push_desk
        assert isinstance(desk, Desk)
        desks.append(desk)
        scene.write("Done.")

    actor.plays(leaves_a_process_behind)
    [run] = stage.say("@engineer go")
    stage.execute(run)
    [late] = push_from_checkout(desks[0].origin, "engine")
    assert not late.is_open
    assert "has ended" in late.sentence
    with stage.cast.bound():
        assert not Approval.objects.exists()
        assert not PushRequest.objects.open().exists()
