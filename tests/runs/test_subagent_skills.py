"""Skills and subagents: whole from the start, on demand, or run in one."""

import pytest

from harness.events import Kind
from repositories.models import Repository
from tests.runs.family import SCOUT, Family, delegate, only_child, text, told
from tests.runs.skilled import PLACE, publish, scan, skill
from tests.runs.stage import WithRepository
from tests.runs.test_definitions import at_home, notices, results
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)


def with_front(name: str, body: str, front: str) -> str:
    return skill(name, body).replace("---\n# ", f"{front}---\n# ")


@pytest.fixture
def family(stage: WithRepository) -> Family:
    publish(stage, "engine", {
        f"{PLACE}/style/SKILL.md": skill("style", "Write short sentences."),
        f"{PLACE}/secret/SKILL.md": with_front(
            "secret", "For people.", "disable-model-invocation: true\n"
        ),
        f"{PLACE}/survey/SKILL.md": with_front(
            "survey", "Count every file.", "context: fork\nagent: scout\n"
        ),
    })  # fmt: skip
    at_home(stage, stage.cast.ada, ".fuxi/agents/scout.md", SCOUT)
    return Family(stage)


@pytest.mark.req("FX-118", "FX-119", "FX-121", "FX-122", "FX-68", "JA-119", "FX-120")
def test_a_child_has_listed_skills_whole_and_finds_the_others(family: Family) -> None:
    stage = family.stage
    listed = "skills: style, nowhere, secret\n"
    at_home(stage, stage.cast.ada, ".fuxi/agents/poet.md", text("poet", front=listed))
    child = [
        Step(calls=[Call("skill", {"name": "engine:survey"})], expect="Write short sentences."),
        Step(text="Written."),
    ]
    scout = [Step(text="Seven.", absent_tools=["skill"])]  # its list does not have it
    with family.play(
        [Step(calls=[delegate("poet")]), Step(text="Good.")],
        ("You are poet.", child),
        ("You are a scout.", scout),
    ) as server:
        [run] = stage.say("@engineer write something")
        assert family.settle(run).state == "succeeded"
    poet, _scout = family.children()
    said = " ".join(notices(stage, poet))
    assert "The skill nowhere was not loaded" in said
    assert "The skill secret was not loaded" in said
    assert "For people." not in str(server.requests)
    asked = told(server, "You are poet.")[0]
    offered = next(tool for tool in asked["tools"] if tool["name"] == "skill")
    assert "engine:style: How style is done here." in offered["description"]
    assert "Write short sentences." not in str(asked["system"])


@pytest.mark.soak
@pytest.mark.req("FX-123")
def test_a_skill_may_run_in_a_subagent(family: Family) -> None:
    stage = family.stage
    child = [Step(text="Seven files.", expect="Count every file.")]
    with family.play(
        [
            Step(calls=[Call("skill", {"name": "engine:survey"})]),
            Step(text="Seven.", expect="Seven files."),
        ],
        ("You are a scout.", child),
    ) as server:
        [run] = stage.say("@engineer how many files?")
        assert family.settle(run).state == "succeeded"
    assert "Count every file." not in str(server.requests[0])
    assert "Count every file." not in str(server.requests[-1])  # its text stays in the child
    assert family.subagent(only_child(family)).name == "scout"
    assert results(stage, run)[0].startswith("Seven files.")


@pytest.mark.soak
@pytest.mark.req("FX-123")
def test_a_person_who_asks_for_such_a_skill_has_it_started(
    family: Family, stage: WithRepository
) -> None:
    with family.stage.cast.bound():
        repository = Repository.objects.get(name="engine")
    scan(stage, repository)
    with family.play([Step(text="I start it.", expect="It runs in a subagent")]):
        [run] = family.stage.say("@engineer /skill:engine:survey please")
        family.stage.execute(run)
    kinds = [event.kind for event in family.stage.events(run)]
    assert Kind.STEER in kinds
