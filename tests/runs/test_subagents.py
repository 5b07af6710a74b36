"""Subagents: child runs that a run starts by its agent tool, and what each of the two hears."""

import pytest

from agents.definitions import LibrarySetting
from agents.models import Agent
from guardrails import approvals
from guardrails.models import Approval
from runs import dispatch, recovery
from runs.live_state import facts_of, live_state, with_live_state
from runs.nursery import MOST_AT_ONCE
from tests.runs.family import Family, bring, delegate, forget, only_child, told
from tests.runs.test_definitions import results
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.req("FX-30", "FX-54", "FX-56", "JA-20", "JA-21", "JA-04", "FX-186", "QW-98", "QW-141")
def test_a_run_starts_a_subagent_and_goes_on_with_its_result(family: Family) -> None:
    stage = family.stage
    parent = [
        Step(text="I ask the scout.", calls=[delegate(task="Where is the engine?")]),
        Step(text="The scout found it.", expect="In the cellar."),
    ]
    child = [
        Step(
            calls=[Call("glob", {"pattern": "*"})],
            expect="Where is the engine?",
            absent_tools=["write", "bash", "agent", "ask_user"],
        ),
        Step(text="In the cellar."),
    ]
    with family.play(parent, ("You are a scout.", child)) as server:
        [run] = stage.say("@engineer where is the engine? SECRETWORD")
        assert stage.execute(run).waiting_for == "child"
        born = only_child(family)
        assert (born.state, born.parent_id, born.model) == (
            "queued",
            run.pk,
            stage.fresh(run).model,
        )
        done = family.settle(run)
    assert done.state == "succeeded"
    offered = next(t for t in server.requests[0]["tools"] if t["name"] == "agent")["description"]
    assert "- scout: Looks around. Use PROACTIVELY for every question about the code." in offered
    assert "general-purpose" in offered
    asked = told(server, "You are a scout.")
    assert "SECRETWORD" not in str(asked)
    [system] = {str(each["system"]) for each in asked}
    assert "You work through tools" not in system
    assert str(stage.spec_directory(run)) in system
    [result] = results(stage, run)
    assert result.startswith("In the cellar.")
    assert "(scout: 2 turns, 1 tool calls, " in result
    assert "glob" not in result
    with stage.cast.bound():
        assert [m.body for m in stage.cast.conversation.messages.order_by("n")][1:] == [
            "The scout found it."
        ]
    for each in (run, born):
        stage.assert_whole(each)


@pytest.mark.req("JA-22", "FX-94", "JA-60", "FX-93")
def test_children_of_one_turn_work_side_by_side_and_the_turn_waits_for_all(family: Family) -> None:
    bring(family, "second")
    parent = [
        Step(calls=[delegate(task="One"), Call("Task", delegate("second", "Two").input)]),
        Step(text="Both.", expect="Answer two"),
    ]
    with family.play(
        parent,
        ("You are a scout.", [Step(text="Answer one")]),
        ("You are second.", [Step(text="Answer two")]),
    ):
        [run] = family.stage.say("@engineer ask both")
        family.stage.execute(run)
        first, second = family.children()
        family.stage.execute(second)
        assert family.stage.fresh(run).waiting_for == "child"  # the other one is still at work
        family.stage.execute(first)
        assert family.stage.fresh(run).state == "queued"
        assert family.settle(run).state == "succeeded"
    one, two = results(family.stage, run)
    assert one.startswith("Answer one")
    assert two.startswith("Answer two")


@pytest.mark.req("JA-17", "JA-13", "FX-72", "FX-163")
def test_a_child_in_the_background_is_heard_when_it_ends(family: Family) -> None:
    parent = [
        Step(calls=[delegate(run_in_background=True)]),
        Step(text="Meanwhile I answer you.", expect="works in the background"),
        Step(text="It is in the cellar, says the scout.", expect="has ended"),
    ]
    with family.play(parent, ("You are a scout.", [Step(text="In the cellar.")])):
        [run] = family.stage.say("@engineer go on meanwhile")
        assert family.stage.execute(run).waiting_for == "child"  # its run is not over before
        done = family.settle(run)
    assert (done.state, done.summary) == ("succeeded", "It is in the cellar, says the scout.")


@pytest.mark.soak
def test_who_waits_for_the_background_alone_can_be_spoken_to(family: Family) -> None:
    parent = [
        Step(calls=[delegate(run_in_background=True)]),
        Step(text="It looks."),
        Step(text="Yes, still.", expect="still there?"),
        Step(text="Found.", expect="In the cellar."),
    ]
    with family.play(parent, ("You are a scout.", [Step(text="In the cellar.")])):
        [run] = family.stage.say("@engineer go on meanwhile")
        family.stage.execute(run)
        family.stage.say("@engineer still there?")
        assert family.stage.execute(run).waiting_for == "child"
        assert family.settle(run).summary == "Found."


@pytest.mark.req("JA-15", "JA-26")
def test_a_workspace_may_ask_before_each_start(family: Family) -> None:
    stage = family.stage
    with stage.cast.bound():
        LibrarySetting.objects.create(asks_to_delegate=True)
    parent = [
        Step(calls=[delegate(task="First"), delegate(task="Second")]),
        Step(text="One of two.", expect="Not this one"),
    ]
    with family.play(parent, ("You are a scout.", [Step(text="Seen.")])):
        [run] = stage.say("@engineer ask twice")
        assert stage.execute(run).waiting_for == "approval"
        with stage.cast.bound():
            first, second = Approval.objects.pending().order_by("created_at")
        assert first.title == "Start the subagent scout: Look"
        stage.decide(approvals.Answer.ONCE, approval=first)
        stage.decide(approvals.Answer.DENY, approval=second, note="Not this one")
        assert family.settle(run).state == "succeeded"
    assert len(family.children()) == 1


@pytest.mark.req("QW-120", "FX-164", "QW-119", "FX-113", "QW-152")
def test_a_childs_question_names_it_and_the_rules_hold_whatever_its_posture(family: Family) -> None:
    stage = family.stage
    bring(family, "bold", front="permissionMode: bypassPermissions\n")
    child = [
        Step(calls=[Call("bash", {"command": "rm notes.txt"})]),
        Step(text="It is gone."),
    ]
    with family.play(
        [Step(calls=[delegate("bold")]), Step(text="Done.")], ("You are bold.", child)
    ):
        [run] = stage.say("@engineer tidy up")
        stage.execute(run)
        born = only_child(family)
        (stage.spec_directory(run) / "notes.txt").write_text("x")
        assert stage.execute(born).waiting_for == "approval"
        assert stage.fresh(run).waiting_for == "child"
        asked = stage.pending()
        assert asked.title.startswith("bold, a subagent: Run rm notes.txt")
        assert asked.run_id == born.pk
        stage.decide(approvals.Answer.ONCE, approval=asked)
        assert family.settle(run).state == "succeeded"
    assert not (stage.spec_directory(run) / "notes.txt").exists()


@pytest.mark.req("FX-112", "QW-117", "FX-114")
def test_a_posture_may_hold_back(family: Family) -> None:
    bring(family, "meek", front="permissionMode: dontAsk\n")
    bring(family, "planner", front="permissionMode: plan\n")
    meek = [
        Step(calls=[Call("bash", {"command": "rm notes.txt"})]),
        Step(text="No.", expect="does not ask people"),
    ]
    planner = [Step(text="A plan.", absent_tools=["write", "bash"], expect_tools=["read"])]
    with family.play(
        [Step(calls=[delegate("meek"), delegate("planner")]), Step(text="Done.")],
        ("You are meek.", meek),
        ("You are planner.", planner),
    ):
        [run] = family.stage.say("@engineer tidy up")
        assert family.settle(run).state == "succeeded"
    assert [each.mode for each in family.children()] == ["chat", "plan"]


def test_a_stop_of_the_parent_ends_what_it_started(family: Family) -> None:
    with family.play([Step(calls=[delegate(), delegate()])]):
        [run] = family.stage.say("@engineer ask")
        family.stage.execute(run)
        family.stage.act(dispatch.stop, run)
    assert [each.state for each in family.children()] == ["cancelled", "cancelled"]
    for each in (run, *family.children()):
        family.stage.assert_whole(each)


def test_a_stopped_child_is_an_answer_for_its_parent(family: Family) -> None:
    parent = [Step(calls=[delegate()]), Step(text="Then not.", expect="Stopped by @ada")]
    with family.play(parent):
        [run] = family.stage.say("@engineer ask")
        family.stage.execute(run)
        family.stage.act(dispatch.stop, only_child(family))
        assert family.settle(run).state == "succeeded"


def test_a_child_whose_parent_is_gone_is_found_by_the_sweep(family: Family) -> None:
    with family.play([Step(calls=[delegate()])]):
        [run] = family.stage.say("@engineer ask")
        family.stage.execute(run)
    family.stage.change(run, state="failed")
    recovery.sweep()
    assert only_child(family).state == "cancelled"


@pytest.mark.soak
@pytest.mark.req("FX-169", "FX-170", "FX-171")
def test_an_api_error_of_a_child_is_told_as_one(family: Family) -> None:
    bring(family, "second")
    parent = [Step(calls=[delegate(), delegate("second")]), Step(text="Both failed.")]
    early = [Step(first=["401"])]
    late = [Step(text="Half of it.", calls=[Call("glob", {"pattern": "*"})]), Step(first=["401"])]
    with family.play(parent, ("You are a scout.", early), ("You are second.", late)) as server:
        [run] = family.stage.say("@engineer ask")
        family.settle(run)
        server.give_up()
    first, second = results(family.stage, run)
    assert first.startswith("Agent terminated early due to an API error")
    assert second.startswith("Half of it.")
    assert "did not finish" in second


def test_a_call_that_is_made_again_has_the_same_child(family: Family) -> None:
    """The worker dies between the child and the line in the journal that tells of it."""
    with family.play(
        [Step(calls=[delegate()]), Step(text="Done.")], ("You are a scout.", [Step(text="Seen.")])
    ):
        [run] = family.stage.say("@engineer ask")
        family.stage.execute(run)
        forget(family.stage, run, kinds=("tool_start", "child"))
        family.stage.change(run, state="queued", waiting_for="")
        assert family.settle(run).state == "succeeded"
    assert len(family.children()) == 1


def test_who_is_unknown_is_named_with_who_is_there(family: Family) -> None:
    calls = [
        delegate("nobody"),
        delegate("codex"),
        delegate("agent"),
        Call("agent", {"prompt": "x"}),
    ]
    with family.play([Step(calls=calls), Step(text="Well.")]):
        [run] = family.stage.say("@engineer ask")
        family.settle(run)
    unknown, program, main, wrong = results(family.stage, run)
    assert "There is no agent nobody to start here. Agents: " in unknown
    assert "scout" in unknown
    assert "runs in a program of its own" in program
    assert "There is no agent agent" in main
    assert "description" in wrong
    assert family.children() == []


@pytest.mark.req("QW-98", "QW-153")
def test_pages_show_a_child_under_its_call_and_as_a_run(family: Family) -> None:
    stage, cast = family.stage, family.stage.cast
    bring(family, "writer")
    child = [
        Step(calls=[Call("write", {"path": "poem.txt", "content": "a line\n"})]),
        Step(text="Written."),
    ]
    parent = [Step(calls=[delegate("writer")]), Step(text="Good.")]
    with family.play(parent, ("You are writer.", child)):
        [run] = stage.say("@engineer have a poem written")
        family.settle(run)
    born = only_child(family)
    ada = cast.client(cast.ada)
    page = ada.get(cast.path(f"spaces/{cast.space.slug}/{cast.conversation.pk}/"))
    shown = page.content.decode()
    assert f'id="child-{born.pk}"' in shown
    assert f'id="run-{born.pk}"' not in shown  # fetched where it is opened
    assert [change["path"] for change in page.context["changes"]] == ["poem.txt"]
    opened = ada.get(cast.path(f"runs/{born.pk}/transcript/"))
    assert "Written." in opened.content.decode()
    facts = ada.get(cast.path(f"runs/{born.pk}/")).content.decode()
    assert f"/runs/{run.pk}/" in facts  # who started it
    whole = ada.get(cast.path(f"runs/{run.pk}/"))
    assert whole.context["spent"]["tokens"] == sum(
        stage.fresh(each).all_tokens for each in (run, born)
    )
    listed = ada.get(cast.path("runs/")).context["rows"]
    assert [each.pk for each in listed] == [run.pk]


@pytest.mark.soak
@pytest.mark.req("FX-57")
def test_a_shell_call_of_a_child_begins_where_its_parent_works(family: Family) -> None:
    stage = family.stage
    child = [
        Step(calls=[Call("bash", {"command": "mkdir -p inner && cd inner && pwd"})]),
        Step(calls=[Call("bash", {"command": "pwd"})]),
        Step(text="Seen."),
    ]
    parent = [
        Step(calls=[delegate("general-purpose")]),
        Step(calls=[Call("bash", {"command": "pwd"})]),
        Step(text="Good."),
    ]
    with family.play(parent, ("You carry out one task", child)):
        [run] = stage.say("@engineer look")
        family.settle(run)
    here = str(stage.spec_directory(run))
    inner, after = results(stage, only_child(family))
    assert inner.endswith("/inner")
    assert after == here
    assert results(stage, run)[1] == here


@pytest.mark.soak
def test_a_failed_child_makes_no_failed_agent(family: Family) -> None:
    parent = [Step(calls=[delegate()]), Step(text="It failed.")]
    with family.play(parent, ("You are a scout.", [Step(first=["401"])])) as server:
        [run] = family.stage.say("@engineer ask")
        family.settle(run)
        server.give_up()
    assert only_child(family).state == "failed"
    with family.stage.cast.bound():
        agent = with_live_state(Agent.objects.filter(pk=run.agent_id)).get()
        assert agent.live_state == live_state(facts_of(agent)) == "idle"


@pytest.mark.soak
def test_a_model_that_starts_too_many_is_told(family: Family) -> None:
    calls = [delegate(task=str(n)) for n in range(MOST_AT_ONCE + 1)]
    with family.play([Step(calls=calls)]):
        [run] = family.stage.say("@engineer ask them all")
        family.stage.execute(run)
        family.stage.act(dispatch.stop, run)
    assert len(family.children()) == MOST_AT_ONCE
    assert "are still at work" in results(family.stage, run)[0]
