"""Beginning a conversation with a chosen agent, which it keeps for life."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import ProgrammingError, transaction
from django.test import Client

from agents.creating import Profile, create
from agents.paths import conversation_directory
from harness.events import Kind
from repositories.models import Repository, SpaceRepository
from runs import dispatch, journal, runner
from spaces.models import BoundDefinition, Conversation
from tests.agents.conftest import save
from tests.cast import Cast
from tests.runs.stage import set_demo
from workspaces import tokens
from workspaces.models import ModelConnection

pytestmark = pytest.mark.django_db

REVIEWER = """---
name: reviewer
description: Reviews changes.
tools: Read, Grep
model: sonnet
maxTurns: 7
initialPrompt: Look at the newest commit first.
---

You review with care.
"""


def begin(cast: Cast, **form: Any) -> Any:
    return cast.client(cast.ben).post(cast.path(f"spaces/{cast.space.slug}/begin/"), form)


def call(cast: Cast, body: Any, *, method: str = "POST", rest: str = "") -> Any:
    with cast.bound():
        _row, token = tokens.issue(cast.ben, name="t", may_write=True, days=None)
    return Client().generic(
        method,
        cast.path(f"api/spaces/{cast.space.slug}/conversations/{rest}"),
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )


def newest(cast: Cast) -> Conversation:
    with cast.bound():
        return Conversation.objects.select_related("agent", "bound").latest("created_at")


def count(cast: Cast) -> int:
    with cast.bound():
        return Conversation.objects.count()


def put_in_checkout(cast: Cast, path: str, text: str) -> Path:
    """A file in the newest checkout of the space's repository."""
    with cast.bound():
        repository = Repository.objects.create(name="engine", address="https://x.example/e.git")
        SpaceRepository.objects.create(space=cast.space, repository=repository)
    home = conversation_directory(cast.workspace.pk, cast.space.pk, cast.conversation.pk)
    file = home / "repos" / "engine" / path
    file.parent.mkdir(parents=True)
    (home / "repos" / "engine" / ".git").touch()
    file.write_text(text)
    return file


@pytest.mark.req("JA-86")
def test_without_a_choice_it_is_an_ordinary_one(cast: Cast) -> None:
    assert begin(cast).status_code == 302
    with cast.bound():
        row = Conversation.objects.latest("created_at")
        assert row.agent is None
        assert not BoundDefinition.objects.exists()


@pytest.mark.req("JA-29", "JA-80", "FX-156", "FX-158", "FX-159")
def test_a_built_in_definition_is_chosen_by_name_and_shown(cast: Cast) -> None:
    page = cast.client(cast.ben).get(cast.path(f"spaces/{cast.space.slug}/begin/"))
    assert "Explore" in {entry.name for entry in page.context["definitions"]}
    answer = begin(cast, lead="engineer", agent="Explore")
    assert answer.status_code == 302
    row = newest(cast)
    assert row.agent == cast.engineer
    assert (row.bound.name, row.bound.dialect) == ("Explore", "fuxi")
    assert row.bound.text.startswith("---")
    shown = cast.client(cast.vera).get(answer["Location"]).content.decode()
    assert "@engineer" in shown
    assert "@Explore" in shown


@pytest.mark.req("JA-80")
def test_an_unknown_name_fails_with_what_there_is_and_keeps_the_form(cast: Cast) -> None:
    before = count(cast)
    answer = begin(cast, lead="engineer", agent="nobody", agents='{"mine": {}}')
    assert answer.status_code == 422
    told = call(cast, {"lead": "engineer", "agent": "nobody"})
    assert (told.status_code, told.json()["code"]) == (422, "choice")
    assert {"Explore", "general-purpose", "coder"} <= set(told.json()["available"])
    assert "No agent is called `nobody`. Available:" in told.json()["detail"]
    page = answer.content.decode()
    assert "No conversation was begun." in page
    assert "&quot;mine&quot;" in page
    assert count(cast) == before


@pytest.mark.req("JA-81", "JA-82")
def test_name_and_file_exclude_each_other_and_only_count_at_the_beginning(cast: Cast) -> None:
    before = count(cast)
    both = {"lead": "engineer", "agent": "Explore", "agent_file": {"text": REVIEWER}}
    assert call(cast, both).status_code == 400
    page = begin(cast, lead="engineer", agent="Explore", text=REVIEWER)
    assert page.status_code == 422
    assert count(cast) == before
    made = call(cast, {"lead": "engineer", "agent_file": {"text": REVIEWER}}).json()
    for method in ("PATCH", "PUT", "POST"):
        late = call(cast, {"agent": "Explore"}, method=method, rest=f"{made['id']}/")
        assert late.status_code == 405
    assert call(cast, None, method="GET", rest=f"{made['id']}/").json() == made


@pytest.mark.req("JA-41", "FX-44", "FX-45")
def test_a_file_and_json_belong_to_this_conversation_alone(cast: Cast) -> None:
    own = {"scout": {"description": "Looks.", "prompt": "You look.", "tools": ["Read"]}}
    more = {"append_subagent_system_prompt": " Be brief. "}
    made = call(cast, {"lead": "engineer", "agent": "scout", "agents": own} | more)
    assert made.status_code == 201, made.content
    assert newest(cast).bound.subagent_prompt == "Be brief."
    assert (made.json()["agent"], made.json()["agents"]) == ("scout", ["scout"])
    other = call(cast, {"lead": "engineer", "agent": "scout"})
    assert other.status_code == 422
    file = call(cast, {"lead": "engineer", "agent_file": {"name": "x.md", "text": REVIEWER}})
    assert file.json()["agent"] == "reviewer"
    library = cast.client(cast.ben).get(cast.path("agents/library/")).content.decode()
    assert "You review with care" not in library


@pytest.mark.parametrize(
    "wrong",
    [
        {"agents": []},
        {"agents": {"x": 7}},
        {"agents": {"x": {"description": "No prompt."}}},
        {"agent_file": {"text": ""}},
        {"agent_file": {"text": "no front matter"}},
        {"agent_file": {"text": REVIEWER + "\0"}},
        {"agent_file": {"text": REVIEWER, "dialect": "klingon"}},
        {"agent_file": {"text": "x" * 2_000_000}},
        {"lead": "nobody"},
        {"agent": 7},
        {"append_subagent_system_prompt": "x\0y"},
        {"append_subagent_system_prompt": "x" * 20_001},
        {"model": "x"},
        {"title": "x" * 201},
        {"text": ""},
    ],
)
def test_what_cannot_be_begins_nothing(cast: Cast, wrong: dict[str, Any]) -> None:
    before = count(cast)
    answer = call(cast, {"lead": "engineer"} | wrong)
    assert answer.status_code == 422, answer.content
    assert answer.json()["detail"]
    assert count(cast) == before


def test_a_definition_needs_one_agent_that_can_act_by_it(cast: Cast) -> None:
    told = call(cast, {"agent": "Explore"})  # two agents take part in this space
    assert told.status_code == 422
    assert told.json()["available"] == ["ceo", "engineer"]
    save(cast, cast.engineer, lifecycle="archived")
    assert call(cast, {"lead": "engineer", "agent": "Explore"}).status_code == 422
    assert call(cast, {"agent": "Explore"}).json()["lead"] == "ceo"
    with cast.bound():
        type(cast.ceo).objects.filter(pk=cast.ceo.pk).update(adapter_id="claude-code")
    told = call(cast, {"lead": "ceo", "agent": "Explore"})
    assert "definitions act on the built-in loop only" in told.json()["detail"]


@pytest.mark.req("JA-83", "JA-85")
def test_it_is_bound_for_life_word_for_word(cast: Cast) -> None:
    file = put_in_checkout(cast, ".claude/agents/reviewer.md", REVIEWER)
    assert begin(cast, lead="engineer", agent="reviewer").status_code == 302
    row = newest(cast)
    file.write_text(REVIEWER.replace("with care", "in haste"))
    with cast.bound():
        from runs.bound import definition_of

        kept = definition_of(row.bound)
        assert kept is not None
        assert kept.body == "You review with care."
        row.bound.name = "other"
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            row.bound.save()


@pytest.mark.django_db(transaction=True)
@pytest.mark.req("FX-156", "FX-157")
def test_the_lead_acts_by_it_and_stays_itself(committed_cast: Cast) -> None:
    cast = committed_cast
    set_demo(cast)
    save(cast, cast.engineer, persona="You are curt.", system_prompt="Ask first.")
    with cast.bound():
        ModelConnection.objects.create(provider="anthropic", name="mine")
        create(Profile(name="scout"))
    body = {"lead": "engineer", "agent_file": {"text": REVIEWER.replace("sonnet", "inherit")}}
    made = call(cast, body)
    with cast.bound():
        conversation = Conversation.objects.get(pk=made.json()["id"])
        _message, [run] = dispatch.post(
            conversation, author=cast.ben.principal, body="Have a look, please"
        )
    assert run.agent == cast.engineer
    runner.execute(run.workspace_id, run.pk)
    with cast.bound():
        told = journal.read(run.pk)
    [begun] = [event for event in told if event.kind is Kind.PROMPT]
    [said] = [event for event in told if event.kind is Kind.MESSAGE][:1]
    sections = {each["name"]: each["text"] for each in begun.data["sections"]}
    assert sections["Prompt"] == "You review with care."  # in place of the default one
    assert not {"Identity", "Tools and protocols", "Team"} & set(sections)
    assert sections["Agent instructions"] == "Ask first."
    assert sections["Persona"] == "You are curt."
    assert set(begun.data["tools"]) == {"read", "grep"}
    assert said.data["text"] == "Look at the newest commit first.\n\nHave a look, please"


def test_model_and_tools_follow_the_definitions_dialect(cast: Cast) -> None:
    from agents.library import modelchoice, reading
    from agents.library.definition import Dialect
    from runs import bound
    from runs.bound import tools_of

    def read(text: str, dialect: str) -> Any:
        return reading.read_text(text, path="x.md", dialect=Dialect(dialect))

    with cast.bound():
        ModelConnection.objects.create(provider="demo", name="demo", is_default=True)
        ModelConnection.objects.create(provider="anthropic", name="mine")
        offer = bound.offer("demo/demo")
    reviewer = read(REVIEWER, "fuxi")
    assert modelchoice.resolve(reviewer, offer).model == "mine/claude-sonnet-5-5"
    unknown = read(REVIEWER.replace("sonnet", "gpt-99"), "fuxi")
    assert modelchoice.resolve(unknown, offer).model == "demo/demo"
    assert modelchoice.resolve(read(REVIEWER, "jarvis"), offer).model == "demo/demo"
    assert modelchoice.resolve(read(REVIEWER.replace("sonnet", "gpt-99"), "qwen"), offer).error
    assert tools_of(reviewer) == {"read", "grep"}
    bash = read("---\nname: x\ndescription: X.\ndisallowedTools: Write, Edit\n---\n\nX.", "fuxi")
    assert {"bash", "shell_output", "git_push"} <= tools_of(bash)
    assert not {"write", "edit"} & tools_of(bash)


@pytest.mark.req("FX-50")
def test_a_definition_may_join_its_lead_by_form_and_by_program(cast: Cast) -> None:
    begin(cast, lead="engineer", text=REVIEWER, how="joins")
    with cast.bound():
        assert newest(cast).bound.joins
    path = cast.path(f"spaces/{cast.space.slug}/{newest(cast).pk}/")
    page = cast.client(cast.ben).get(path).content.decode()
    assert "With the tools, model and instructions of @reviewer" in page
    made = call(cast, {"lead": "engineer", "agent": "Explore", "joins": True})
    assert (made.status_code, made.json()["joins"]) == (201, True)
    assert not call(cast, {"lead": "engineer", "agent": "Explore"}).json()["joins"]
