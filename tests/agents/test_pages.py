"""The pages of the agents: what a person sees, and what an admin does there."""

import re
from typing import Any

import pytest
from django.test import Client

from agents import mirror
from agents.creating import create_draft
from agents.models import Agent
from harness.events import Kind
from tests.agents.conftest import make_skill, save, text
from tests.agents.test_editing import fresh, start_run
from tests.cast import Cast
from tests.runs.stage import Stage, set_demo
from workspaces.models import ModelConnection

pytestmark = pytest.mark.django_db


def show(cast: Cast, agent: Agent) -> str:
    return cast.path(f"agents/{agent.pk}/")


def form_of(client: Client, address: str) -> dict[str, Any]:
    """The settings form as the page offers it."""
    form = client.get(address).context["form"]
    values = {name: form[name].value() for name in form.fields}
    return {name: "" if value is None else value for name, value in values.items()}


@pytest.mark.req("CC-24")
def test_every_attribute_is_edited_in_one_save(cast: Cast) -> None:
    with cast.bound():
        ModelConnection.objects.create(provider="anthropic", name="mine", is_default=True)
    ada = cast.client(cast.ada)
    address = show(cast, cast.engineer)
    form = form_of(ada, address)
    model = next(
        key for key, _word in ada.get(address).context["form"].fields["model_id"].choices if key
    )
    effort_page = ada.get(f"{address}runs-on/", {"adapter_id": "", "model_id": model})
    effort = effort_page.context["form"].fields["effort"].choices[-1][0]
    changes = {
        "name": "builder", "title": "Builder", "persona": "You build.\r\nWell.",
        "system_prompt": "Ask first.", "skills": "Testing, testing, Masonry", "adapter_id": "",
        "model_id": model, "effort": effort, "context_size": "100000",
        "silence_timeout_minutes": "240", "reports_to": str(cast.ada.principal_id),
        "lifecycle": "paused",
    }  # fmt: skip
    assert ada.post(address, form | changes).status_code == 302
    row = fresh(cast, cast.engineer)
    assert (row.name, row.title, row.persona) == ("builder", "Builder", "You build.\nWell.")
    assert (row.system_prompt, row.adapter_id, row.model_id) == ("Ask first.", None, model)
    assert (row.effort, row.context_size, row.silence_timeout_minutes) == (effort, 100_000, 240)
    assert (row.reports_to_id, row.lifecycle) == (cast.ada.principal_id, "paused")
    assert "skills:\n  - Testing\n  - Masonry\n" in text(row)
    assert form_of(ada, address)["skills"] == "Testing, Masonry"


@pytest.mark.req("CC-22")
@pytest.mark.parametrize("minutes", ["0", "241", "-1", "1.5", "many"])
def test_the_form_refuses_silence_outside_1_to_240(cast: Cast, minutes: str) -> None:
    ada, address = cast.client(cast.ada), show(cast, cast.engineer)
    answer = ada.post(address, form_of(ada, address) | {"silence_timeout_minutes": minutes})
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {"silence_timeout_minutes"}
    assert fresh(cast, cast.engineer).version == 1


@pytest.mark.req("CC-19", "CC-20")
def test_effort_is_of_the_models_own_vocabulary(cast: Cast) -> None:
    with cast.bound():
        ModelConnection.objects.create(provider="anthropic", name="mine")
        ModelConnection.objects.create(provider="demo", name="demo")
    ada, address = cast.client(cast.ada), show(cast, cast.engineer)
    form = form_of(ada, address)

    def efforts(model: str) -> list[str]:
        page = ada.get(f"{address}runs-on/", {"adapter_id": "", "model_id": model, "effort": "max"})
        return [key for key, _word in page.context["form"].fields["effort"].choices if key]

    assert efforts("mine/claude-opus-4-5") or efforts("mine/claude-opus-5-5")
    assert efforts("") == []
    assert efforts("demo/demo") == []
    for wrong in ({"effort": "high"}, {"model_id": "mine/none"}, {"adapter_id": "nothing"}):
        answer = ada.post(address, form | wrong)
        assert answer.status_code == 422
        assert answer.context["form"].errors.keys() == wrong.keys()


@pytest.mark.req("CC-12")
@pytest.mark.parametrize("name", ["", "Engineer", "a b", "ceo", "ada", "here"])
def test_a_name_that_cannot_be_is_said_at_the_field(cast: Cast, name: str) -> None:
    ada, address = cast.client(cast.ada), show(cast, cast.engineer)
    answer = ada.post(address, form_of(ada, address) | {"name": name, "title": "Kept text"})
    assert answer.status_code == 422
    assert "name" in answer.context["form"].errors
    assert b"Kept text" in answer.content


def test_two_admins_see_each_other_and_lose_nothing(cast: Cast) -> None:
    ada, address = cast.client(cast.ada), show(cast, cast.engineer)
    one, other = form_of(ada, address), form_of(ada, address)
    assert ada.post(address, one | {"title": "T1", "persona": "P1"}).status_code == 302
    late = ada.post(address, other | {"persona": "P2", "system_prompt": "S2"})
    assert late.status_code == 409
    conflict = late.context["conflict"]
    assert [(each["name"], each["theirs"], each["mine"]) for each in conflict["clashes"]] == [
        ("persona", "P1", "P2")
    ]
    assert [str(label) for label in conflict["taken"]] == ["Job title"]
    again = {name: late.context["form"][name].value() for name in late.context["form"].fields}
    assert (again["title"], again["persona"], again["system_prompt"]) == ("T1", "P2", "S2")
    assert ada.post(address, again | {"choose-persona": "theirs"}).status_code == 302
    row = fresh(cast, cast.engineer)
    assert (row.title, row.persona, row.system_prompt) == ("T1", "P1", "S2")


def test_a_hand_edited_file_is_shown_before_it_would_be_lost(cast: Cast) -> None:
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    file.write_text(file.read_text().replace("Engineer", "Tinkerer"))
    ada, address = cast.client(cast.ada), show(cast, cast.engineer)
    form = form_of(ada, address) | {"persona": "New."}
    answer = ada.post(address, form)
    assert answer.status_code == 409
    assert "Tinkerer" in answer.content.decode()
    assert b"Tinkerer" in file.read_bytes()
    assert ada.post(address, form | {"over_file": "1"}).status_code == 302
    assert b"Tinkerer" not in file.read_bytes()


def test_the_file_can_be_taken_whole_or_not_at_all(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    file.write_text(
        "---\nname: engineer\ntitle: By hand\nmyKey: 7\nreportsTo: ada\n---\n\nHello.\n"
    )
    page = ada.get(cast.path("agents/mirror/"))
    assert "By hand" in page.content.decode()
    taken = ada.post(
        f"{show(cast, cast.engineer)}take-file/", {"next": cast.path("agents/mirror/")}
    )
    assert taken.headers["Location"] == cast.path("agents/mirror/")
    row = fresh(cast, cast.engineer)
    assert (row.title, row.persona, row.unknown_keys) == ("By hand", "Hello.", {"myKey": 7})
    assert row.reports_to_id == cast.ada.principal_id
    for bad in (
        "no front matter",
        "---\nname: engineer\nsilenceTimeoutMinutes: 900\n---\n",
        "---\nname: engineer\nadapterId: nothing\n---\n",
        "---\nname: engineer\nreportsTo: nobody\n---\n",
        "---\nname: ceo\n---\n",
        "---\nname: engineer\ncontextSize: [1]\n---\n",
    ):
        file.write_text(bad)
        ada.post(f"{show(cast, cast.engineer)}take-file/")
        assert fresh(cast, cast.engineer).title == "By hand", bad
        assert file.read_text() == bad
    ada.post(f"{show(cast, cast.engineer)}heal/", {"next": "https://elsewhere.example/"})
    assert "myKey: 7\n" in file.read_text()


@pytest.mark.req("CC-25", "CC-77")
def test_new_agent_makes_a_nameless_draft_that_is_then_filled_in(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    made = ada.post(cast.path("agents/new/"))
    address = made.headers["Location"]
    assert "Unnamed agent" in ada.get(address).content.decode()
    assert ada.get(f"{address}prompt/").status_code == 200
    assert ada.get(f"{address}files/").status_code == 200
    assert ada.post(address, form_of(ada, address) | {"name": "scout"}).status_code == 302
    with cast.bound():
        row = Agent.objects.get(name="scout")
    assert text(row).startswith("---\nname: scout\n")


def test_several_are_paused_at_once_and_put_back(cast: Cast) -> None:
    save(cast, cast.ceo, lifecycle="paused")
    start_run(cast, cast.engineer)
    ada = cast.client(cast.ada)
    chosen = {"agent": [str(cast.ceo.pk), str(cast.engineer.pk), "x"], "lifecycle": "archived"}
    answer = ada.post(cast.path("agents/several/"), chosen, follow=True)
    assert "2 agents are now: Archived" in answer.content.decode()
    assert "1 of them is at work" in answer.content.decode()
    undo = {"undo": answer.context["undo"]["token"]}
    for _twice in range(2):
        ada.post(cast.path("agents/several/undo/"), undo)
        assert fresh(cast, cast.ceo).lifecycle == "paused"
        assert fresh(cast, cast.engineer).lifecycle == "active"
    ada.post(cast.path("agents/several/undo/"), {"undo": "forged"})
    assert ada.post(cast.path("agents/several/"), {"lifecycle": "dead"}).status_code == 400


@pytest.mark.req("CC-02", "CC-14")
def test_people_and_agents_stand_in_one_list_and_are_found_by_skill(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    page = ben.get(cast.path("agents/")).content.decode()
    for word in ("Ada Lovelace", "engineer", "Chief Executive Officer"):
        assert word in page
    found = ben.get(cast.path("agents/?q=implement"), headers={"HX-Request": "true"})
    assert "engineer" in found.content.decode()
    assert "Chief Executive Officer" not in found.content.decode()


def test_attention_comes_first_unless_one_sorts_by_name(cast: Cast) -> None:
    start_run(cast, cast.engineer)
    ada = cast.client(cast.ada)
    assert [str(a) for a in ada.get(cast.path("agents/")).context["agents"]] == ["engineer", "ceo"]
    by_name = ada.get(cast.path("agents/?sort=name")).context["agents"]
    assert [str(a) for a in by_name] == ["ceo", "engineer"]


def test_the_roster_asks_as_often_for_fifty_agents_as_for_two(
    cast: Cast, django_assert_max_num_queries: Any
) -> None:
    from agents.creating import Profile, create

    ada = cast.client(cast.ada)
    with django_assert_max_num_queries(100) as few:
        ada.get(cast.path("agents/"))
    with cast.bound():
        for number in range(48):
            create(Profile(name=f"agent-{number}", skills=("one", "two")))
    with django_assert_max_num_queries(len(few)):
        page = ada.get(cast.path("agents/"))
    assert "agent-47" in page.content.decode()


def test_an_agents_runs_are_its_own_and_ask_for_themselves(cast: Cast) -> None:
    run = start_run(cast, cast.engineer)
    ada = cast.client(cast.ada)
    for agent, count in ((cast.engineer, 1), (cast.ceo, 0)):
        address = f"{show(cast, agent)}runs/"
        for headers in ({}, {"HX-Request": "true"}):
            table = ada.get(address, headers=headers).content.decode()
            assert table.count(f"/runs/{run.pk}/") == count
            assert f'hx-get="{address}?page=1"' in table


@pytest.mark.req("CC-15")
def test_the_roster_says_what_each_can_and_shows_who_can_that(cast: Cast) -> None:
    from agents.creating import Profile, create
    from skills.models import Skill

    ada = cast.client(cast.ada)
    make_skill(cast, "testing")
    with cast.bound():
        page_of = Skill.objects.get(slug="testing").pk
        create(Profile(name="smith", skills=("Masonry & more", "testing", "a", "b", "c")))
    page = ada.get(cast.path("agents/")).content.decode()
    assert f"/skills/{page_of}/" in page
    assert "Masonry &amp; more" in page
    assert "and 3 more" in page
    chosen = ada.get(cast.path("agents/"), {"skill": "masonry & more", "sort": "name"})
    assert [str(each) for each in chosen.context["agents"]] == ["smith"]
    assert "skill=masonry+%26+more" in chosen.content.decode()
    nobody = ada.get(cast.path("agents/"), {"skill": "juggling"}).content.decode()
    assert "No agent fits" in nobody


@pytest.mark.django_db(transaction=True)
@pytest.mark.req("CC-15", "CC-16", "CC-27")
def test_the_previewed_prompt_is_the_one_that_a_run_begins_with(committed_cast: Cast) -> None:
    cast = committed_cast
    set_demo(cast)
    make_skill(cast, "testing")
    save(cast, cast.engineer, persona="You are curt.", system_prompt="Ask first.")
    stage = Stage(cast)
    [run] = stage.say("@engineer, hello")
    stage.execute(run)
    [begun] = [event for event in stage.events(run) if event.kind is Kind.PROMPT]
    page = cast.client(cast.ada).get(f"{show(cast, cast.engineer)}prompt/")
    parts = {part.name: part for part in page.context["preview"].parts}
    stored = {each["name"]: each["text"] for each in begun.data["sections"]}
    assert list(parts) == list(stored)
    for name, part in parts.items():
        if name not in {"Identity", "Why you were woken"}:  # these name the space and the asker
            assert part.text == stored[name], name
        assert part.tokens == -(-len(f"# {name}\n\n{part.text}") // 4)
    assert parts["Agent instructions"].text == "Ask first."
    assert parts["Persona"].text == "You are curt."
    assert "Your skills: implementation, testing." in parts["Skills"].text
    assert "Do it." not in "".join(part.text for part in parts.values())


def test_deleting_says_what_goes_and_is_refused_during_a_run(cast: Cast) -> None:
    start_run(cast, cast.ceo, "succeeded")
    ada = cast.client(cast.ada)
    page = re.sub(r"\s+", " ", ada.get(show(cast, cast.ceo)).content.decode())
    assert "1 run with its transcript" in page
    assert "1 agent that reports to it will report to nobody" in page
    run = start_run(cast, cast.ceo)
    ada.post(f"{show(cast, cast.ceo)}delete/")
    with cast.bound():
        assert Agent.objects.filter(pk=cast.ceo.pk).exists()
        run.delete()
    for _twice in range(2):
        assert ada.post(f"{show(cast, cast.ceo)}delete/").status_code == 302
    with cast.bound():
        assert not Agent.objects.filter(pk=cast.ceo.pk).exists()


def test_a_search_in_the_roster_filters_list_and_table_and_news_leave_the_table(cast: Cast) -> None:
    ada, address = cast.client(cast.ada), f"http://testserver{cast.path('agents/')}"
    htmx = {"HX-Request": "true", "HX-Current-URL": address}
    found = ada.get(cast.path("agents/?q=engin"), headers=htmx | {"HX-Trigger-Name": "q"})
    page = found.content.decode()
    assert 'id="roster"' in page
    table = page[page.index('id="team" hx-swap-oob="true"') :]
    assert f'data-principal="{cast.engineer.principal_id}"' in table
    assert f'data-principal="{cast.ceo.principal_id}"' not in table
    news = ada.get(cast.path("agents/?q=engin"), headers=htmx).content.decode()
    assert 'id="team"' not in news
    elsewhere = {"HX-Current-URL": f"{address}x/", "HX-Trigger-Name": "q", "HX-Request": "true"}
    assert 'id="team"' not in ada.get(cast.path("agents/?q=x"), headers=elsewhere).content.decode()
    assert 'id="team"' in ada.get(cast.path("agents/")).content.decode()


# --- Org chart -----------------------------------------------------------------------------------


@pytest.mark.req("CC-23", "CC-14")
def test_the_chart_draws_everybody_and_moves_them_with_a_way_back(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    page = ada.get(cast.path("orgchart/")).content.decode()
    for who in (cast.ceo, cast.engineer, cast.ada, cast.ben):
        assert page.count(f'id="node-{who.principal_id}"') == 1
    move = {"who": cast.ceo.principal_id, "under": cast.ada.principal_id}
    moved = ada.post(cast.path("orgchart/move/"), move)
    assert "@ceo now reports to @ada" in moved.content.decode()
    assert fresh(cast, cast.ceo).reports_to_id == cast.ada.principal_id
    circle = {"who": cast.ada.principal_id, "under": cast.engineer.principal_id}
    refused = ada.post(cast.path("orgchart/move/"), circle)
    assert refused.status_code == 409
    assert "own superior" in refused.content.decode()
    ada.post(cast.path("orgchart/undo/"), {"undo": moved.context["moved"]["undo"]})
    assert fresh(cast, cast.ceo).reports_to_id is None


@pytest.mark.req("CC-80")
def test_a_chart_that_is_there_only_hears_how_each_stands(cast: Cast) -> None:
    from tests.agents.test_editing import start_run

    ada = cast.client(cast.ada)
    shape = ada.get(cast.path("orgchart/")).context["shape"]
    start_run(cast, cast.engineer)
    news = ada.get(cast.path("orgchart/"), {"shape": shape}, headers={"HX-Request": "true"})
    assert str(cast.engineer.principal_id) in news.json()["states"]["running"]
    assert "Running" in news.json()["looks"]["running"]["box"]
    ada.post(cast.path("orgchart/move/"), {"who": cast.ceo.principal_id, "under": ""})
    save(cast, cast.ceo, title="Chief of everything")
    drawn = ada.get(cast.path("orgchart/"), {"shape": shape}, headers={"HX-Request": "true"})
    assert "Chief of everything" in drawn.content.decode()
    assert drawn.context["shape"] != shape
    outline = {"outline": "1", "shape": drawn.context["shape"]}  # what a phone fetches apart
    assert 'class="tree"' in ada.get(cast.path("orgchart/"), outline).content.decode()


def test_what_is_below_can_be_folded_away(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    closed = ada.get(cast.path(f"orgchart/?closed={cast.ceo.principal_id}")).content.decode()
    assert f'id="node-{cast.engineer.principal_id}"' not in closed
    assert 'aria-expanded="false"' in closed


def test_the_chart_is_a_file_of_its_own_too(cast: Cast) -> None:
    from xml.etree import ElementTree

    save(cast, cast.engineer, title='<b>& "Sons"')
    answer = cast.client(cast.vera).get(cast.path("orgchart/svg/"))
    assert answer.headers["Content-Type"] == "image/svg+xml"
    drawn = ElementTree.fromstring(answer.content)
    words = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"ceo", "engineer", '<b>& "Sons"', "Ada Lovelace"} <= set(words)


# --- Library -------------------------------------------------------------------------------------

REVIEWER = """---
name: reviewer
description: Reviews changes. Use it after each commit.
tools: Read, Grep
model: sonnet
permissionMode: plan
---

You review.
"""


def test_the_library_shows_what_counts_and_why_the_rest_does_not(cast: Cast) -> None:
    from agents.paths import conversation_directory
    from repositories.models import Repository

    with cast.bound():
        Repository.objects.create(name="engine", address="https://example.org/engine.git")
    home = conversation_directory(cast.workspace.pk, cast.space.pk, cast.conversation.pk)
    (home / "repos/engine").mkdir(parents=True)
    (home / "repos/engine/.git").write_text("gitdir: ../../git/engine\n")
    for folder in (".claude/agents", ".agents/agents"):
        place = home / "repos/engine" / folder
        place.mkdir(parents=True)
        (place / "reviewer.md").write_text(REVIEWER)
    ben = cast.client(cast.ben)
    page = ben.get(cast.path("agents/library/"), {"from": "engine", "q": "reviewer"})
    standing = [(each["entry"].name, each["entry"].code) for each in page.context["entries"]]
    assert ("reviewer", "effective") in standing
    assert ("reviewer", "shadowed") in standing
    number = page.context["entries"][0]["n"]
    shown = ben.get(cast.path("agents/library/"), {"from": "engine", "show": number})
    verdicts = {each.tool: each.allowed for each in shown.context["shown"]["verdicts"]}
    assert verdicts["read"]
    assert not verdicts["write"]
    assert "You review." in shown.content.decode()


@pytest.mark.req("CC-77")
def test_a_file_is_previewed_first_and_adopted_paused(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    sent = {"text": REVIEWER, "path": ".claude/agents/reviewer.md"}
    page = ada.post(cast.path("agents/library/import/"), sent)
    assert page.context["preview"]["adopted"].title == "Reviews changes"
    assert page.context["preview"]["lost_model"] == "sonnet"
    with cast.bound():
        assert not Agent.objects.filter(name="reviewer").exists()
    assert ada.post(cast.path("agents/library/adopt/"), sent).status_code == 302
    with cast.bound():
        row = Agent.objects.get(name="reviewer")
    assert (row.persona, row.model_id, row.lifecycle) == ("You review.", None, "paused")
    assert row.unknown_keys["tools"] == "Read, Grep"
    assert ada.post(cast.path("agents/library/adopt/"), sent).status_code == 409
    other = ada.post(cast.path("agents/library/adopt/"), sent | {"name": "second"})
    assert other.status_code == 302


@pytest.mark.parametrize(
    "body", ["", "no agent", "---\nname: [\n---\n", "\x00", "---\nname: x\n" + "a" * 3_000_000]
)
def test_what_is_no_definition_creates_nothing(cast: Cast, body: str) -> None:
    ada = cast.client(cast.ada)
    assert ada.post(cast.path("agents/library/import/"), {"text": body}).status_code in {200, 413}
    answer = ada.post(cast.path("agents/library/adopt/"), {"text": body, "name": "x"})
    assert answer.status_code in {400, 409, 413}
    with cast.bound():
        assert Agent.objects.count() == 2


@pytest.mark.parametrize("dialect", ["cc", "jarvis", "fuxi", "qwen", "opencode", "copilot"])
def test_an_agent_is_exported_to_each_dialect_and_read_back(cast: Cast, dialect: str) -> None:
    from agents.library import reading
    from agents.library.definition import Dialect

    save(cast, cast.engineer, persona="You build.")
    ben = cast.client(cast.ben)
    answer = ben.get(f"{show(cast, cast.engineer)}export/{dialect}/")
    read = reading.read_text(answer.content.decode(), dialect=Dialect(dialect), path="engineer.md")
    assert (read.slug, read.body) == ("engineer", "You build.")
    assert ben.get(f"{show(cast, cast.engineer)}export/{dialect}/?show").status_code == 200
    with cast.bound():
        draft = create_draft()
    assert ben.get(f"{show(cast, draft)}export/{dialect}/").status_code == 404


@pytest.mark.req("CC-80", "CC-86")
def test_lists_and_single_pages_agree_about_every_state(cast: Cast) -> None:
    from datetime import timedelta
    from itertools import product

    from django.utils import timezone

    from agents.creating import Profile, create
    from agents.views.standing import with_states
    from runs.live_state import with_live_state
    from runs.models import Run

    states = [None, *Run.State.values]
    liveness = ["", "alive", "blocked", "looping", "dead"]
    with cast.bound():
        for number, (older, newer, word) in enumerate(product(states, states, liveness)):
            agent, _new = create(Profile(name=f"case-{number}"))
            for age, state in ((2, older), (1, newer)):
                if state:
                    Run.objects.create(
                        agent=agent, space=cast.space, conversation=cast.conversation,
                        adapter="x", state=state, liveness=word,
                        queued_at=timezone.now() - timedelta(hours=age),
                    )  # fmt: skip
        rows = Agent.objects.order_by("name")
        listed = [(row.name, row.live_state.value, row.live_order) for row in with_states(rows)]
        single = [(row.name, row.live_state, row.live_order) for row in with_live_state(rows)]
    assert listed == single
    assert {state for _name, state, _order in listed} == {
        "neverRun", "running", "failed", "blocked", "idle",
    }  # fmt: skip
