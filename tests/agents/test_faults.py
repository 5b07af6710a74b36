"""Faults seen at others, on our agents: charts that lose people, exports that lose fields."""

import re
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from agents import mirror
from agents.creating import Profile, create
from agents.library import adopting, reading
from agents.library.definition import Dialect
from agents.models import Agent
from runs.models import Run
from tests.agents.conftest import save, text
from tests.cast import Cast
from workspaces.members import create_workspace
from workspaces.tenancy import bind

pytestmark = pytest.mark.django_db


@pytest.mark.req("CC-03")
def test_a_run_always_has_an_agent(cast: Cast) -> None:
    assert not Run._meta.get_field("agent").null
    with cast.bound(), pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(space=cast.space, conversation=cast.conversation, adapter="x")


@pytest.mark.req("CC-73", "CC-74")
def test_no_request_decides_what_a_new_workspaces_agents_run_on(cast: Cast) -> None:
    from agents.seeding import seed

    ada = cast.client(cast.ada)
    ada.cookies["default-adapter"] = "claude-code"
    chosen = {"name": "Third", "default-adapter": "claude-code", "adapter_id": "claude-code"}
    assert ada.post("/new/", chosen).status_code == 302
    workspace = create_workspace(cast.ada.user, "Fourth")
    seed(workspace.pk)
    with bind(workspace):
        rows = list(Agent.objects.all())
    assert len(rows) == 5
    assert {(row.adapter_id, row.model_id) for row in rows} == {(None, None)}


@pytest.mark.req("CC-23")
@pytest.mark.parametrize("length", [1, 2, 3])
def test_whatever_the_rows_say_everybody_is_drawn_once(cast: Cast, length: int) -> None:
    """Circles that no act of ours makes, a superior who is archived, a person as superior."""
    with cast.bound():
        ring = [create(Profile(name=f"ring-{number}"))[0] for number in range(length)]
        for number, agent in enumerate(ring):
            above = ring[(number + 1) % length].principal
            Agent.objects.filter(pk=agent.pk).update(reports_to=above)
        Agent.objects.filter(pk=cast.ceo.pk).update(lifecycle="archived")
        create(Profile(name="helper", reports_to=cast.ben.principal))
    page = cast.client(cast.vera).get(cast.path("orgchart/")).content.decode()
    with cast.bound():
        here = Agent.objects.exclude(lifecycle="archived")
        shown = list(here.values_list("principal_id", flat=True))
    assert len(shown) == length + 2
    for key in shown:
        assert page.count(f'id="node-{key}"') == 1
    assert f'id="node-{cast.ceo.principal_id}"' not in page
    svg = cast.client(cast.vera).get(cast.path("orgchart/svg/")).content.decode()
    assert len(re.findall(r'class="box agent"', svg)) == len(shown)


def test_export_import_export_is_the_same_and_comes_in_paused(cast: Cast) -> None:
    save(
        cast,
        cast.engineer,
        persona="You build.\n\n- well\n- soon",
        system_prompt="Ask first.",
        skills=["Testing", "maps"],
        context_size=64_000,
        silence_timeout_minutes=30,
        unknown_keys={"house": {"a": [1, "two", None, True]}},
    )
    ada = cast.client(cast.ada)
    address = cast.path(f"agents/{cast.engineer.pk}/export/cc/")
    first = ada.get(address).content.decode()
    assert first == text(cast.engineer)
    adopted = adopting.adopt(reading.read_text(first, dialect=Dialect.CC, path="AGENTS.md"))
    assert (adopted.name, adopted.persona) == ("engineer", "You build.\n\n- well\n- soon")
    folder = mirror.directory(cast.engineer)
    with cast.bound():
        fresh = Agent.objects.get(pk=cast.engineer.pk)
        assert mirror.definition(fresh) == first
    assert folder.is_dir()
    for secret in ("sk-ant", "cct_", "password"):
        assert secret not in first


@pytest.mark.req("CC-13")
@pytest.mark.parametrize(
    "title", ["新聞", "暫存", "Проект", "Привет", "قارئ الأخبار", "a b", "a-b"]
)
def test_any_script_makes_a_title_and_a_bad_name_is_told_never_swallowed(
    cast: Cast, title: str
) -> None:
    row = save(cast, cast.engineer, title=title)
    assert title in text(row)
    page = cast.client(cast.ada).get(cast.path(f"agents/{row.pk}/"))
    assert title in page.content.decode()
    form: Any = page.context["form"]
    values = {name: form[name].value() or "" for name in form.fields}
    answer = cast.client(cast.ada).post(cast.path(f"agents/{row.pk}/"), values | {"name": title})
    assert (answer.status_code == 302) == (title == "a-b")
    if title != "a-b":
        assert "name" in answer.context["form"].errors


def test_a_name_is_free_after_deletion_and_the_new_one_is_meant(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    ada.post(cast.path(f"agents/{cast.engineer.pk}/delete/"))
    with cast.bound():
        again, is_new = create(Profile(name="engineer"))
    assert is_new
    said = cast.path(f"spaces/{cast.space.slug}/{cast.conversation.pk}/say/")
    assert ada.post(said, {"text": "@engineer hello"}).status_code == 302
    with cast.bound():
        assert [run.agent for run in Run.objects.all()] == [again]


@pytest.mark.parametrize("field", ["persona", "system_prompt", "title"])
@pytest.mark.parametrize("value", ["a\0b", "x" * 10_000_000])
def test_what_cannot_be_stored_is_told_and_nothing_changes(
    cast: Cast, field: str, value: str
) -> None:
    ada, address = cast.client(cast.ada), cast.path(f"agents/{cast.engineer.pk}/")
    form: Any = ada.get(address).context["form"]
    values = {name: form[name].value() or "" for name in form.fields}
    answer = ada.post(address, values | {field: value})
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    with cast.bound():
        assert Agent.objects.get(pk=cast.engineer.pk).version == 1
