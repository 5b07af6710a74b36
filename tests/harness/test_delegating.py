"""The agent tool at the loop: one child a call, results once, the background, what is told."""

from pathlib import Path

import pytest

from harness import called, delegation, errors, events
from harness.events import Event, Kind
from harness.prompt import assemble, opening
from harness.seam import Colleague, DefinitionLine, PromptInputs, Wake
from tests.harness.kit import Children, World, make_spec, talking_to
from tests.scripted.anthropic import scripted
from tests.scripted.script import Call, Step


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(make_spec(tmp_path, may_delegate=True), children=Children())


def run_on(world: World, *steps: Step) -> errors.RunEnded:
    with scripted(*steps) as server:
        return world.run(**talking_to(server))


def start(**more: object) -> Call:
    given = {"description": "Look", "prompt": "Look around", "subagent_type": "scout", **more}
    return Call("agent", given, id="toolu_1")


def ends(world: World, *, background: bool = False, state: str = "succeeded") -> None:
    """What `runs` records when the child is over."""
    data: events.ChildData = {
        "phase": "ended",
        "run_id": "child-1",
        "call_id": "toolu_1",
        "agent": "scout",
        "state": state,
        "result": "In the cellar.",
        "duration_ms": 1500,
    }
    if background:
        data["background"] = True
    world.journal.say(events.child(data))


@pytest.mark.req("JA-21")
def test_a_child_is_waited_for_and_its_result_is_the_calls(world: World) -> None:
    ended = run_on(world, Step(calls=[start()]))
    assert isinstance(ended, errors.Parked)
    assert (ended.waiting_for, ended.ids) == ("child", ("child-1",))
    assert world.journal.commits[-1] == ["tool_start", "child"]
    ends(world)
    ended = run_on(world, Step(text="Found.", expect="In the cellar."))
    assert isinstance(ended, errors.Completed)
    [result] = world.journal.of(Kind.TOOL_RESULT)
    assert (result["content"], result["is_error"]) == ("In the cellar.", False)
    assert result["duration_ms"] == 1500
    assert len(world.children.wishes) == 1  # type: ignore[union-attr]


def test_a_child_that_failed_is_an_error_of_the_call(world: World) -> None:
    run_on(world, Step(calls=[start()]))
    ends(world, state="failed")
    run_on(world, Step(text="Not found."))
    [result] = world.journal.of(Kind.TOOL_RESULT)
    assert result["is_error"]


@pytest.mark.req("JA-17", "JA-13")
def test_the_background_is_waited_for_at_the_end_and_heard_once(world: World) -> None:
    ended = run_on(
        world, Step(calls=[start(run_in_background=True)]), Step(text="I go on meanwhile.")
    )
    assert isinstance(ended, errors.Parked)
    assert ended.waiting_for == "child"
    ends(world, background=True)
    ended = run_on(world, Step(text="Found.", expect="has ended"))
    assert isinstance(ended, errors.Completed)
    assert len(world.journal.of(Kind.TOOL_RESULT)) == 1


def test_a_child_that_ended_before_it_stood_in_the_journal_is_not_waited_for() -> None:
    known = {"run_id": "c", "call_id": "t", "agent": "scout", "background": True}
    ended = Event(Kind.CHILD, {**known, "phase": "ended"})
    started = Event(Kind.CHILD, {**known, "phase": "started"})
    assert delegation.in_background([ended, started]) == {}
    assert delegation.in_background([started]) == {"c": "scout"}


@pytest.mark.parametrize("name", ["Agent", "Task", "task"])
def test_other_dialects_names_of_the_tool_mean_it(world: World, name: str) -> None:
    run_on(world, Step(calls=[Call(name, start().input)]))
    assert len(world.children.wishes) == 1  # type: ignore[union-attr]


def test_without_anybody_to_start_there_is_no_tool(world: World, tmp_path: Path) -> None:
    alone = World(make_spec(tmp_path), children=Children())
    with scripted(Step(text="Alone.")) as server:
        alone.run(**talking_to(server))
        offered = {tool["name"] for tool in server.requests[0]["tools"]}
    assert "read" in offered
    assert "agent" not in offered


@pytest.mark.req("QW-141", "FX-149")
def test_the_list_keeps_to_its_budget_and_says_what_it_leaves_out() -> None:
    few = [DefinitionLine("scout", "Looks around. MUST BE USED for questions.")]
    assert delegation.listed(few) == "- scout: Looks around. MUST BE USED for questions."
    many = [DefinitionLine(f"agent-{n}", "x" * 500) for n in range(2_000)]
    text = delegation.listed(many)
    assert len(text) < delegation.BUDGET + 100
    assert text.endswith("more are not listed; list_agents has them.)")


@pytest.mark.req("FX-54", "FX-55", "FX-187", "JA-89")
def test_the_prompt_of_a_subagent_is_its_own(tmp_path: Path) -> None:
    inputs = PromptInputs(
        role="subagent",
        rewrite=lambda variables: "You are a scout.",
        references="Of the place.",
        persona="curt",
        appended="Be brief.",
    )
    spec = make_spec(tmp_path, prompt=inputs)
    made = assemble(spec, tools=[], skills=[])
    assert [each.name for each in made.sections] == ["Prompt", "Environment", "Appended"]
    whole = "\n\n".join(made.system)
    assert whole.startswith("You are a scout.\n\n")
    assert whole.endswith("\n\nBe brief.")
    assert str(spec.working_directory) in whole
    assert "You work through tools" not in whole
    assert opening(spec) == "Of the place."


@pytest.mark.req("FX-157")
def test_who_leads_by_a_definition_has_its_text_in_place_of_the_default(tmp_path: Path) -> None:
    inputs = PromptInputs(
        role="lead",
        rewrite=lambda variables: "You review.",
        references="Of the place.",
        system_prompt="Ask first.",
    )
    spec = make_spec(tmp_path, prompt=inputs)
    made = assemble(spec, tools=[], skills=[])
    assert made.system[0].startswith("You review.\n\n")
    assert "You work through tools" not in "".join(made.system)
    assert "Ask first." in "".join(made.system)
    assert "Of the place." not in "".join(made.system)
    assert opening(spec) == "Of the place."


# --- Called by name ------------------------------------------------------------------------------


@pytest.mark.req("FX-155", "FX-152")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@agent-scout look around", ["scout"]),
        ("Please, @agent-my-plugin:review:security.", ["my-plugin:review:security"]),
        ('@"code-reviewer (agent)" and @agent-scout, @agent-scout', ["code-reviewer", "scout"]),
        ("(@agent-scout)", ["scout"]),
        ("`@agent-scout` and\n```\n@agent-scout\n```", []),
        ("mail me@agent-scout.example or @scout", []),
        ('@" (agent)" @agent-', []),
    ],
)
def test_who_is_called_for(text: str, names: list[str]) -> None:
    assert called.named(text) == names


def calling(text: str) -> Wake:
    return Wake("user_message", text, author="ada")


@pytest.mark.req("FX-153", "FX-150", "QW-142")
def test_a_subagent_that_was_called_is_started_and_the_message_is_whole(world: World) -> None:
    wake = calling("@agent-scout where is the engine?")
    with scripted(Step(calls=[start()], expect="asked for by name")) as server:
        world.run(**talking_to(server), wake=wake)
        told = str(server.requests[0]["messages"])
    assert "@agent-scout where is the engine?" in told
    assert "subagent_type 'scout'" in told
    assert [each.agent for each in world.children.wishes] == ["scout"]  # type: ignore[union-attr]


@pytest.mark.req("FX-152")
def test_who_forgets_whom_it_should_start_is_told_once_more(world: World) -> None:
    wake = calling("@agent-scout where is the engine?")
    steps = (Step(text="In the garage."), Step(calls=[start()], expect="have not started it"))
    with scripted(*steps) as server:
        ended = world.run(**talking_to(server), wake=wake)
    assert isinstance(ended, errors.Parked)
    ends(world)
    ended = run_on(world, Step(text="In the cellar."))
    assert isinstance(ended, errors.Completed)


def test_nobody_is_told_twice_to_start_what_cannot_be(world: World) -> None:
    wake = calling("@agent-nobody, look")
    with scripted(Step(text="There is no such one.")) as server:
        ended = world.run(**talking_to(server), wake=wake)
    assert isinstance(ended, errors.Completed)
    [notice] = world.journal.of(Kind.NOTICE)[-1:]
    assert "no subagent nobody" in notice["text"]


@pytest.mark.req("FX-160")
def test_a_bare_name_means_a_packages_agent_if_only_one_has_it() -> None:
    known = {"one:review:security", "one:db", "two:db"}
    found, unsure = called.answers(["security", "db"], known)
    assert found.data["agent"] == "one:review:security"
    assert unsure.data["code"] == called.UNKNOWN


@pytest.mark.req("CC-13")
def test_a_colleague_of_such_a_name_is_no_subagent(world: World) -> None:
    team = PromptInputs(team=(Colleague("agent-scout", "Scout"),))
    with scripted(Step(text="Hello.")) as server:
        ended = world.run(**talking_to(server), wake=calling("@agent-scout hello"), prompt=team)
    assert isinstance(ended, errors.Completed)
    assert world.children.wishes == []  # type: ignore[union-attr]
