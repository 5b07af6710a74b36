"""Agents for programs: the acts of the pages, told in JSON."""

import json
from typing import Any

import pytest
from django.test import Client

from agents import mirror
from agents.models import Agent
from tests.agents.conftest import make_skill, save, text
from tests.agents.test_editing import fresh, start_run
from tests.cast import Cast
from workspaces import tokens
from workspaces.models import ModelConnection

pytestmark = pytest.mark.django_db


class Program:
    """A script that holds Ada's token, and nothing else."""

    def __init__(self, cast: Cast) -> None:
        self.base = cast.path("api/")
        with cast.bound():
            _row, self.token = tokens.issue(cast.ada, name="t", may_write=True, days=None)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        return Client(enforce_csrf_checks=True).generic(
            method,
            self.base + path,
            data,
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.token}"}
            | {key.replace("_", "-"): value for key, value in headers.items()},
        )


@pytest.fixture
def program(cast: Cast) -> Program:
    return Program(cast)


def one(agent: Agent, rest: str = "") -> str:
    return f"agents/{agent.pk}/{rest}"


def test_the_list_is_narrowed_sorted_and_cut_into_pages(cast: Cast, program: Program) -> None:
    start_run(cast, cast.engineer)
    found = program("GET", "agents/").json()
    assert [each["name"] for each in found["agents"]] == ["engineer", "ceo"]
    assert (found["count"], found["next"]) == (2, None)
    assert found["agents"][0]["liveState"] == "running"
    assert "persona" not in found["agents"][0]

    def names(query: str) -> list[str]:
        return [each["name"] for each in program("GET", f"agents/?{query}").json()["agents"]]

    assert names("sort=name") == ["ceo", "engineer"]
    assert names("q=IMPLEMENT") == ["engineer"]
    assert names("state=neverRun") == ["ceo"]
    assert names("lifecycle=archived") == []
    first = program("GET", "agents/?sort=name&size=1").json()
    rest = Client().get(first["next"], headers={"Authorization": f"Bearer {program.token}"}).json()
    assert [first["agents"][0]["name"], rest["agents"][0]["name"]] == ["ceo", "engineer"]
    assert rest["next"] is None
    for wrong in ("sort=age", "page=0", "size=201", "state=queued", "mode=chat", "page=x"):
        answer = program("GET", f"agents/?{wrong}")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), wrong
        assert list(answer.json()["errors"]) == [wrong.partition("=")[0]]


@pytest.mark.req("CC-12", "CC-14", "CC-15", "CC-16", "CC-17", "CC-21", "CC-23")
def test_every_attribute_is_read_and_changed(cast: Cast, program: Program) -> None:
    with cast.bound():
        ModelConnection.objects.create(provider="anthropic", name="mine", is_default=True)
    read = program("GET", one(cast.engineer))
    assert read["ETag"] == '"1"'
    changes = {
        "name": "builder", "title": "Builder", "persona": "You build.\r\nWell.",
        "systemPrompt": "Ask first.", "skills": ["Testing", "testing", "Masonry, Joinery"],
        "adapterId": None, "modelId": "mine/claude-opus-5-5", "effort": "high",
        "contextSize": 100000, "silenceTimeoutMinutes": 240, "reportsTo": "@Ada",
        "lifecycle": "paused",
    }  # fmt: skip
    answer = program("PATCH", one(cast.engineer), changes | {"version": 1})
    assert answer.status_code == 200, answer.content
    told = answer.json()
    expected = changes | {
        "persona": "You build.\nWell.", "skills": ["Testing", "Masonry", "Joinery"],
        "reportsTo": "ada", "version": 2,
    }  # fmt: skip
    assert {key: told[key] for key in expected} == expected
    assert told == program("GET", one(cast.engineer)).json()
    assert "modelId: mine/claude-opus-5-5\n" in text(fresh(cast, cast.engineer))
    back = program("PATCH", one(cast.engineer), {"version": 2, "reportsTo": None, "modelId": None,
                                                 "effort": None, "contextSize": None})  # fmt: skip
    assert back.status_code == 200
    assert [back.json()[key] for key in ("reportsTo", "modelId", "effort", "contextSize")] == [
        None
    ] * 4
    assert back.json()["title"] == "Builder"


@pytest.mark.req("CC-12", "CC-19", "CC-20", "CC-22")
@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        *(({"silenceTimeoutMinutes": value}, "silenceTimeoutMinutes")
          for value in (0, 241, -1, 1.5, "5", True)),
        ({"contextSize": 0}, "contextSize"),
        ({"contextSize": 10**12}, "contextSize"),
        ({"name": "A b"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "ceo"}, "name"),
        ({"name": "ada"}, "name"),
        ({"name": "../x"}, "name"),
        ({"title": "x" * 121}, "title"),
        ({"persona": "x" * 200_001}, "persona"),
        ({"persona": "a\u0000b"}, "persona"),
        ({"systemPrompt": 7}, "systemPrompt"),
        ({"skills": "testing"}, "skills"),
        ({"skills": ["x" * 65]}, "skills"),
        ({"skills": ["a\u0000"]}, "skills"),
        ({"adapterId": "nothing"}, "adapterId"),
        ({"modelId": "none/none"}, "modelId"),
        ({"effort": "high"}, "effort"),
        ({"reportsTo": "nobody"}, "reportsTo"),
        ({"lifecycle": "dead"}, "lifecycle"),
        ({"canPush": True}, "canPush"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_told_at_its_field(
    cast: Cast, program: Program, wrong: dict[str, Any], field: str
) -> None:
    answer = program("PATCH", one(cast.engineer), wrong | {"version": 1})
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    told = answer.json()
    assert (told["code"], told["status"], list(told["errors"])) == ("invalid", 422, [field])
    assert told["type"] == "/help/api/#invalid"
    assert told["detail"]
    assert fresh(cast, cast.engineer).version == 1


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"\xff", b'{"title": "\\ud800"}', b"null", b"{" * 10_000, b"NaN"]
)
def test_what_is_no_json_object_is_refused_in_words(
    cast: Cast, program: Program, body: bytes
) -> None:
    answer = program("PATCH", one(cast.engineer), body)
    assert answer.status_code in {400, 422}
    assert answer.json()["detail"]
    form = Client().post(
        program.base + "agents/",
        {"name": "x"},
        headers={"Authorization": f"Bearer {program.token}"},
    )
    assert (form.status_code, form.json()["code"]) == (415, "not-json")


def test_who_comes_late_gets_the_fresh_state_and_writes_nothing(
    cast: Cast, program: Program
) -> None:
    first = program("PATCH", one(cast.engineer), {"title": "One", "version": 1})
    assert (first.status_code, first["ETag"]) == (200, '"2"')
    late = program("PATCH", one(cast.engineer), {"title": "Two", "version": 1})
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert late.json()["current"] == first.json()
    again = program("PATCH", one(cast.engineer), {"title": "Two"}, If_Match=first["ETag"])
    assert (again.status_code, again.json()["title"]) == (200, "Two")
    for value in ("*", "", "x", '"99999999999"'):
        blind = program("PATCH", one(cast.engineer), {"title": "Three"}, If_Match=value)
        assert (blind.status_code, blind.json()["code"]) == (428, "version-missing")


def test_a_hand_edited_file_is_shown_and_only_gone_over_when_asked(
    cast: Cast, program: Program
) -> None:
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    file.write_text(file.read_text().replace("Engineer", "Tinkerer"))
    answer = program("PATCH", one(cast.engineer), {"persona": "New.", "version": 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "hand-edited")
    assert "Tinkerer" in answer.json()["file"]
    assert b"Tinkerer" in file.read_bytes()
    change = {"persona": "New.", "version": 1, "overFile": True}
    assert program("PATCH", one(cast.engineer), change).status_code == 200
    assert b"Tinkerer" not in file.read_bytes()


def test_row_and_directory_are_seen_side_by_side_and_healed(cast: Cast, program: Program) -> None:
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    (file.parent.parent / "stray").mkdir()
    file.unlink()
    found = program("GET", "agents/mirror/").json()
    assert [each["name"] for each in found["differing"]] == ["engineer"]
    assert found["strays"] == ["stray"]
    seen = program("GET", one(cast.engineer, "mirror/"))
    assert seen.json() == found["differing"][0]
    assert seen.json()["drift"] == [{"kind": "missing_file", "detail": "AGENTS.md"}]
    assert (seen.json()["agrees"], seen.json()["file"], seen["ETag"]) == (False, None, '"1"')
    for body, status in (({}, 428), ({"version": 2}, 409), ({"overfile": True}, 422)):
        assert program("POST", one(cast.engineer, "mirror/heal/"), body).status_code == status
        assert not file.exists()
    for _twice in range(2):
        healed = program("POST", one(cast.engineer, "mirror/heal/"), {}, If_Match=seen["ETag"])
        assert (healed.status_code, healed.json()["agrees"]) == (200, True)
        assert file.read_text() == seen.json()["row"]
    assert fresh(cast, cast.engineer).version == 1


def test_a_hand_edited_file_is_taken_or_the_row_kept(cast: Cast, program: Program) -> None:
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    heal, take = (one(cast.engineer, f"mirror/{act}/") for act in ("heal", "take-file"))
    mine = file.read_text().replace("title: Engineer", "title: Tinkerer")
    file.write_text(mine)
    kept = program("POST", heal, {"version": 1})
    assert (kept.status_code, kept.json()["code"], kept.json()["file"]) == (
        409, "hand-edited", mine,
    )  # fmt: skip
    late = program("POST", take, {"version": 7})
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    taken = program("POST", take, {"version": 1})
    assert (taken.status_code, taken.json()["title"], taken["ETag"]) == (200, "Tinkerer", '"2"')
    assert program("POST", take, {"version": 2}).json()["version"] == 2
    file.write_text(file.read_text().replace("reportsTo: ceo", "reportsTo: nobody"))
    wrong = program("POST", take, {"version": 2})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid")
    assert "@nobody" in wrong.json()["errors"]["file"][0]
    assert "reportsTo: nobody" in file.read_text()
    over = program("POST", heal, {"version": 2, "overFile": True})
    assert (over.status_code, over.json()["file"]) == (200, None)
    assert "reportsTo: ceo" in file.read_text()


def test_a_draft_has_no_directory_to_look_at(cast: Cast, program: Program) -> None:
    address = f"agents/{program('POST', 'agents/', {}).json()['id']}/mirror/"
    assert program("GET", address).status_code == 404
    for act in ("heal/", "take-file/"):
        assert program("POST", address + act, {"version": 1}).status_code == 404


def test_a_name_does_not_change_and_an_agent_does_not_go_during_a_run(
    cast: Cast, program: Program
) -> None:
    start_run(cast, cast.engineer)
    renamed = program("PATCH", one(cast.engineer), {"name": "builder", "version": 1})
    gone = program("DELETE", one(cast.engineer))
    for answer in (renamed, gone):
        assert (answer.status_code, answer.json()["code"]) == (409, "busy")
    assert program("GET", one(cast.engineer, "loss/")).json()["possible"] is False


@pytest.mark.req("CC-06", "CC-25")
def test_a_draft_is_made_and_then_filled_in(cast: Cast, program: Program) -> None:
    made = program("POST", "agents/", {"title": "Scout", "skills": ["maps"]})
    assert made.status_code == 201
    draft = made.json()
    assert (draft["name"], draft["title"], draft["skills"]) == ("", "Scout", ["maps"])
    address = f"agents/{draft['id']}/"
    assert made["Location"] == program.base + address
    assert program("GET", f"{address}prompt/").status_code == 404
    nameless = program("PATCH", address, {"title": "A scout", "version": draft["version"]})
    assert nameless.status_code == 200
    named = program("PATCH", address, {"name": "scout"}, If_Match=nameless["ETag"])
    assert named.status_code == 200
    with cast.bound():
        assert text(Agent.objects.get(name="scout")).startswith("---\nname: scout\n")


@pytest.mark.req("CC-10")
def test_a_named_one_is_made_once_and_healed_after(cast: Cast, program: Program) -> None:
    body = {"name": "scout", "title": "Scout", "reportsTo": "ceo", "skills": ["maps"]}
    first = program("POST", "agents/", body)
    assert first.status_code == 201
    with cast.bound():
        row = Agent.objects.get(name="scout")
    assert "reportsTo: ceo\n" in text(row)
    (mirror.directory(row) / "AGENTS.md").unlink()
    again = program("POST", "agents/", body | {"title": "Another"})
    assert (again.status_code, again.json()["title"]) == (200, "Scout")
    assert text(row)
    for taken in ("ada", "here"):
        assert program("POST", "agents/", {"name": taken}).json()["errors"].keys() == {"name"}


def test_lifecycles_alone_and_together_with_the_way_back(cast: Cast, program: Program) -> None:
    for act, is_now in (("pause", "paused"), ("archive", "archived"), ("resume", "active")):
        for _twice in range(2):
            told = program("POST", one(cast.ceo, f"{act}/")).json()
            assert told["lifecycle"] == is_now
    both = {"agents": [str(cast.ceo.pk), str(cast.engineer.pk)], "lifecycle": "paused"}
    changed = program("POST", "agents/several/", both).json()["changed"]
    assert changed == {str(cast.ceo.pk): "active", str(cast.engineer.pk): "active"}
    assert program("POST", "agents/several/", both).json()["changed"] == {}
    for wrong in ([str(cast.ceo.pk), "x"], [str(cast.workspace.pk)]):
        answer = program("POST", "agents/several/", both | {"agents": wrong, "lifecycle": "active"})
        assert answer.status_code == 422
        assert fresh(cast, cast.ceo).lifecycle == "paused"


def test_deleting_is_told_beforehand_and_happens_once(cast: Cast, program: Program) -> None:
    start_run(cast, cast.ceo, "succeeded")
    loss = program("GET", one(cast.ceo, "loss/")).json()
    assert loss["possible"] is True
    assert loss["goes"] == {"runs": 1, "directory": "agents/ceo"}
    assert loss["passedUp"] == {"agents": 1, "to": None}
    assert program("DELETE", one(cast.ceo)).status_code == 204
    assert program("DELETE", one(cast.ceo)).status_code == 404


@pytest.mark.req("CC-23")
def test_somebody_moves_in_the_chart_and_no_circle_closes(cast: Cast, program: Program) -> None:
    moved = program("POST", "orgchart/move/", {"who": "ceo", "under": "@ada"})
    assert moved.json() == {"who": "ceo", "under": "ada", "before": None}
    circle = program("POST", "orgchart/move/", {"who": "ada", "under": "engineer"})
    assert (circle.status_code, circle.json()["code"]) == (409, "circle")
    over = program("PATCH", one(cast.ceo), {"reportsTo": "engineer", "version": 2})
    assert (over.status_code, over.json()["code"]) == (409, "circle")
    for wrong in ({"who": "nobody", "under": None}, {"who": "ceo", "under": "nobody"}):
        assert program("POST", "orgchart/move/", wrong).status_code == 422
    assert program("POST", "orgchart/move/", {"who": "ceo", "under": None}).status_code == 200


def test_prompt_and_export_are_those_of_the_pages(cast: Cast, program: Program) -> None:
    make_skill(cast, "testing")
    save(cast, cast.engineer, persona="You are curt.", system_prompt="Ask first.")
    told = program("GET", one(cast.engineer, "prompt/?mode=plan")).json()
    page = cast.client(cast.ada).get(cast.path(one(cast.engineer, "prompt/?mode=plan")))
    shown = page.context["preview"]
    assert [each["text"] for each in told["sections"]] == [part.text for part in shown.parts]
    assert told["tokens"] == shown.tokens == sum(each["tokens"] for each in told["sections"])
    assert program("GET", one(cast.engineer, "prompt/?mode=wild")).status_code == 422
    for dialect in ("cc", "jarvis", "fuxi", "qwen", "opencode", "copilot"):
        made = program("GET", one(cast.engineer, f"export/{dialect}/")).json()
        assert "You are curt." in made["text"]
        assert made["fileName"].endswith(".md")
    assert program("GET", one(cast.engineer, "export/none/")).status_code == 404


def test_a_disk_that_refuses_leaves_everything_as_it_was(
    cast: Cast, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = text(cast.engineer)

    def full(*_args: Any, **_more: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agents.folders.replace_file", full)
    answer = program("PATCH", one(cast.engineer), {"title": "New", "version": 1})
    assert (answer.status_code, answer.json()["code"]) == (507, "not-written")
    assert "No space left on device" in answer.json()["detail"]
    monkeypatch.undo()
    assert (fresh(cast, cast.engineer).title, text(cast.engineer)) == ("Engineer", before)


def test_the_list_asks_as_often_for_fifty_agents_as_for_two(
    cast: Cast, program: Program, django_assert_max_num_queries: Any
) -> None:
    from agents.creating import Profile, create

    with django_assert_max_num_queries(60) as few:
        program("GET", "agents/")
    with cast.bound():
        for number in range(48):
            create(
                Profile(
                    name=f"agent-{number}", skills=("one", "two"), reports_to=cast.ceo.principal
                )
            )
    with django_assert_max_num_queries(len(few)):
        answer = program("GET", "agents/")
    assert "agent-47" in answer.content.decode()


def test_a_bug_and_an_address_that_is_none_are_told_in_json_too(
    cast: Cast, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("nothing/", "agents/x/", "agents/../../../"):
        missing = program("GET", path)
        assert (missing.status_code, missing.json()["code"]) == (404, "not-found"), path
    monkeypatch.delattr("agents.api.brief")
    client = Client(raise_request_exception=False)
    answer = client.get(
        f"{program.base}agents/", headers={"Authorization": f"Bearer {program.token}"}
    )
    assert (answer.status_code, answer.json()["code"]) == (500, "fault")
    assert b"<html" in Client().get("/nothing/").content


@pytest.mark.django_db(transaction=True)
def test_of_two_programs_at_once_one_is_told(committed_cast: Cast) -> None:
    from tests.runs.stage import together

    program = Program(committed_cast)

    def change(title: str) -> Any:
        body = {"title": title, "version": 1}
        return lambda: program("PATCH", one(committed_cast.engineer), body).status_code

    assert sorted(together([change("One"), change("Two")])) == [200, 409]
    assert fresh(committed_cast, committed_cast.engineer).version == 2
