"""The system prompt: which sections, in which order, and that its first part never moves."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.events import Kind
from harness.prompt import assemble, opening
from harness.seam import (
    Colleague,
    Mode,
    PromptInputs,
    Root,
    RunSpec,
    Said,
    SkillLine,
    ToolSchema,
    Wake,
)
from harness.tools.surface import surface
from tests.harness.kit import World, make_spec, talking_to
from tests.scripted.anthropic import scripted
from tests.scripted.script import Call, Step

FULL = PromptInputs(
    workspace_name="Analytical",
    space_name="Engine room",
    system_prompt="Answer in rhyme.",
    persona="You are cheerful.",
    skill_names=("testing", "ghost"),
    team=(Colleague("ceo", "Chief Executive Officer"), Colleague("ada", "", "person")),
    reports_to="ceo",
    memory="Ada likes short answers.",
    conversation=(Said("ada", "Earlier."),),
)
INDEX = (
    SkillLine("testing", "How to test.\nTwo lines."),
    SkillLine("style", "House style", repository="apple"),
)


@pytest.fixture
def spec(tmp_path: Path) -> RunSpec:
    roots = (Root("apple", tmp_path / "apple", writable=True, branch="main"),)
    return make_spec(tmp_path, prompt=FULL, roots=roots, contract="a plan")


def sections(spec: RunSpec) -> dict[str, str]:
    tools = [tool.schema for tool in surface(spec).values()]
    return {s.name: s.text for s in assemble(spec, tools=tools, skills=INDEX).sections}


def test_the_sections_in_their_order(spec: RunSpec) -> None:
    assert list(sections(spec)) == [
        "Identity",
        "Tools and protocols",
        "Working directory",
        "Agent instructions",
        "Persona",
        "Team",
        "Skills",
        "Deliverable",
        "Why you were woken",
        "Mode",
        "Memory",
    ]


@pytest.mark.req("CC-15")
@pytest.mark.parametrize(("persona", "there"), [("Be kind.", True), ("", False), (" \n", False)])
def test_the_persona_is_a_section_exactly_when_there_is_one(
    spec: RunSpec, persona: str, there: bool
) -> None:
    found = sections(replace(spec, prompt=replace(FULL, persona=persona)))
    assert ("Persona" in found) is there
    assert not there or found["Persona"] == "Be kind."


@pytest.mark.req("CC-16")
def test_the_system_prompt_joins_the_others_as_agent_instructions(spec: RunSpec) -> None:
    with_it = sections(spec)
    without = sections(replace(spec, prompt=replace(FULL, system_prompt="")))
    assert with_it.pop("Agent instructions") == "Answer in rhyme."
    assert with_it == without, "nothing else is replaced by it"


@pytest.mark.req("CC-26", "CC-27", "CC-28")
def test_skill_names_are_listed_also_those_without_a_skill(spec: RunSpec) -> None:
    text = sections(spec)["Skills"]
    assert text.startswith("Your skills: testing, ghost.")
    assert text.count("ghost") == 1, "a name alone injects nothing else"


@pytest.mark.req("CC-30", "CC-45")
def test_the_index_has_one_line_a_skill_and_no_body(spec: RunSpec) -> None:
    lines = sections(spec)["Skills"].split("\n")
    assert lines[-2:] == ["- testing: How to test. Two lines.", "- apple:style: House style"]


@pytest.mark.req("CC-30")
def test_a_body_is_read_on_demand(world: World) -> None:
    world.shelf.bodies = {"testing": "Write the test first."}
    with scripted(
        Step(calls=[Call("skill", {"name": "testing"})], expect="How to do testing"),
        Step(text="Read.", expect="Write the test first."),
    ) as server:
        world.run(**talking_to(server))
        assert "Write the test first." not in str(server.requests[0])


@pytest.mark.req("CC-31")
def test_a_skill_that_is_asked_for_becomes_a_directive_once(world: World) -> None:
    world.shelf.bodies = {"testing": "Write the test first.", "apple:style": "Short lines."}
    wake = Wake(
        "user_message", "/skill:testing add a parser, with /skill:apple:style.", author="ada"
    )
    with scripted(
        Step(calls=[Call("todo", {"todos": []})], expect="Write the test first."),
        Step(text="Done.", expect="Short lines."),
    ) as server:
        world.run(**talking_to(server), wake=wake)
        assert str(server.requests[1]).count("Write the test first.") == 1


@pytest.mark.req("CC-31")
def test_a_skill_nobody_has_is_said_to_people_and_the_message_kept(world: World) -> None:
    wake = Wake("user_message", "/skill:flying take off", author="ada")
    with scripted(Step(text="I cannot.", expect="take off")) as server:
        world.run(**talking_to(server), wake=wake)
    notices = [data["text"] for data in world.journal.of(Kind.NOTICE)]
    assert any("There is no skill flying here." in text for text in notices)


@pytest.mark.req("CC-78")
def test_an_agent_cannot_hire_and_knows_where_people_can(spec: RunSpec) -> None:
    assert {name for name in surface(spec) if "agent" in name or "hire" in name} == {"list_agents"}
    assert "New colleagues are made by people" in sections(spec)["Tools and protocols"]


def test_the_stable_part_is_the_same_for_two_runs_of_an_agent(spec: RunSpec) -> None:
    other = replace(
        spec,
        run_id="run-2",
        wake=Wake("schedule", "something else", context="Nightly."),
        prompt=replace(FULL, memory="Something new.", conversation=()),
        contract="",
    )
    tools = [tool.schema for tool in surface(spec).values()]
    one = assemble(spec, tools=tools, skills=INDEX).system
    two = assemble(other, tools=tools, skills=INDEX).system
    assert one[0] == two[0]
    assert one[1] != two[1]


def test_a_run_keeps_its_prompt_until_its_mode_changes(world: World) -> None:
    with scripted(Step(text="One.")) as server:
        world.run(**talking_to(server))
        first = server.requests[0]["system"]
    edited = replace(world.spec.prompt, persona="Somebody edited me meanwhile.")
    with scripted(Step(text="Two.")) as server:
        world.run(**talking_to(server), prompt=edited)
        assert server.requests[0]["system"] == first
    with scripted(Step(text="Three.", expect="Somebody edited", absent_tools=["bash"])) as server:
        world.run(**talking_to(server), prompt=edited, mode="plan")
    assert world.journal.kinds.count("prompt") == 2


@pytest.mark.req("CC-59")
@pytest.mark.parametrize("mode", ["plan", "orchestrate", "review"])
def test_outside_chat_the_tools_that_change_are_not_in_the_request(
    world: World, mode: Mode
) -> None:
    changing = ["write", "edit", "bash", "shell_output", "git_commit", "git_push"]
    step = Step(text="Planned.", absent_tools=changing, expect_tools=["read", "grep", "ask_user"])
    with scripted(step) as server:
        world.run(**talking_to(server), mode=mode)
        assert f"Mode: {mode}" in str(server.requests[0]["system"])


def test_the_mode_names_only_tools_that_are_there(spec: RunSpec) -> None:
    plan = replace(spec, mode="plan")
    assert sections(plan)["Mode"].split("\n")[0].endswith("decides on it, as your answer.")
    tools = [ToolSchema("submit_plan", "", {}), ToolSchema("read", "", {})]
    text = {s.name: s.text for s in assemble(plan, tools=tools, skills=()).sections}["Mode"]
    assert text.endswith("through submit_plan.\nYour tools: read, submit_plan.")


@pytest.mark.req("CC-59")
def test_lists_narrow_the_surface(spec: RunSpec) -> None:
    assert list(surface(replace(spec, allowed_tools=frozenset({"read", "glob"})))) == [
        "read",
        "glob",
    ]
    assert "bash" not in surface(replace(spec, denied_tools=frozenset({"bash"})))
    assert "shell_output" not in surface(replace(spec, denied_tools=frozenset({"bash"})))


def test_the_conversation_before_is_told_with_its_newest_part(spec: RunSpec) -> None:
    assert opening(spec) == "The conversation so far:\n\n@ada: Earlier."
    many = tuple(Said("ada", f"{n} " + "x" * 5000) for n in range(50))
    text = opening(replace(spec, prompt=replace(FULL, conversation=many)))
    assert "(10 earlier messages are not shown.)" in text
    assert "@ada: 49 " in text
    assert "more characters]" in text
    assert opening(replace(spec, prompt=replace(FULL, conversation=()))) == ""
