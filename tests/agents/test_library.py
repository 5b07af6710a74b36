"""The library's pages: making a definition, changing it, taking it back."""

import threading
from html import unescape
from pathlib import Path

import pytest

from agents import shelves
from agents.definitions import DefinitionChange
from tests.agents.libraries import KEPT, LIBRARY, filled, library, put, shelf_of, standing
from tests.cast import Cast

pytestmark = pytest.mark.django_db


# --- Making -----------------------------------------------------------------------------------


@pytest.mark.req("QW-96", "FX-26", "FX-29", "FX-39")
def test_a_definition_is_previewed_then_saved_then_taken_back(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    form = filled(
        name="improver", description="Improves code.", tools="Read, Grep", body="Improve."
    )
    preview = ben.post(cast.path(f"{LIBRARY}new/"), form | {"act": "preview"})
    assert {v.tool for v in preview.context["preview"]["verdicts"] if v.allowed} == {"read", "grep"}
    file = shelf_of(cast, cast.ben).root / ".fuxi/agents/improver.md"
    assert not file.exists()
    saved = ben.post(cast.path(f"{LIBRARY}new/"), form | {"act": "save"})
    assert saved.status_code == 302
    assert file.read_text() == (
        "---\nname: improver\ndescription: Improves code.\ntools: Read, Grep\n---\n\nImprove.\n"
    )
    page = ben.get(saved.headers["Location"])
    assert standing(page)["member improver.md"] == "effective"
    assert "member improver.md" not in standing(library(cast.client(cast.ada), cast))
    batch = page.context["undo"].batch
    assert ben.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch}).status_code == 302
    assert not file.exists()
    ben.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch})
    assert not file.exists()


def test_saving_twice_writes_once_and_another_file_is_not_overwritten(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    form = filled(name="one", description="d", body="b", act="save")
    assert ben.post(cast.path(f"{LIBRARY}new/"), form).status_code == 302
    assert ben.post(cast.path(f"{LIBRARY}new/"), form).status_code == 302
    with cast.bound():
        assert DefinitionChange.objects.count() == 1
    other = ben.post(cast.path(f"{LIBRARY}new/"), form | {"body": "another"})
    assert other.status_code == 422
    assert "another" in other.content.decode()
    assert "b\n" in (shelf_of(cast, cast.ben).root / ".fuxi/agents/one.md").read_text()


@pytest.mark.parametrize("dialect", ["jarvis", "fuxi", "qwen", "opencode", "copilot"])
def test_each_dialect_is_written_and_read_back(cast: Cast, dialect: str) -> None:
    ben = cast.client(cast.ben)
    tools = {"qwen": "read_file", "opencode": "read, !bash", "copilot": "read, search"}
    form = filled(name="a-b", description="d: e", dialect=dialect, body="b", act="save")
    form["f.tools"] = tools.get(dialect, "Read")
    assert ben.post(cast.path(f"{LIBRARY}new/"), form).status_code == 302
    lines = [
        line for group in library(ben, cast, q="a-b").context["groups"] for line in group.lines
    ]
    assert [(line.definition.dialect, line.entry.code) for line in lines] == [
        (dialect, "effective")
    ]
    assert lines[0].definition.description == "d: e"
    shown = library(ben, cast, show=lines[0].key).context["shown"]
    allowed = {verdict.tool for verdict in shown["verdicts"] if verdict.allowed}
    assert "read" in allowed
    assert "bash" not in allowed


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "", "description": "d"},
        {"name": "x", "description": ""},
        {"name": "a:b", "description": "d"},
        {"name": "../../etc", "description": ""},
    ],
)
def test_what_would_not_load_is_not_saved_and_stays_in_the_form(
    cast: Cast, fields: dict[str, str]
) -> None:
    ben = cast.client(cast.ben)
    answer = ben.post(cast.path(f"{LIBRARY}new/"), filled(**fields, body="mine", act="save"))
    assert answer.status_code == 422
    assert answer.context["draft"].problem
    assert answer.context["draft"].body == "mine"
    with cast.bound():
        assert not DefinitionChange.objects.exists()


def test_a_text_that_is_too_long_is_refused_and_kept_in_the_form(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    form = filled(name="long", description="d", body="x" * 3_000_000, act="save")
    answer = ben.post(cast.path(f"{LIBRARY}new/"), form)
    assert answer.status_code == 422
    assert len(answer.context["draft"].body) == 3_000_000
    odd = filled(name="odd", description="NUL \0 and 🎭", body="a\0b", act="save")
    assert ben.post(cast.path(f"{LIBRARY}new/"), odd).status_code in {302, 422}
    page = library(ben, cast, q="odd")
    assert page.status_code == 200


def test_a_name_never_leads_out_of_the_shelf(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    form = filled(name="../../x y", description="d", body="b", act="save")
    assert ben.post(cast.path(f"{LIBRARY}new/"), form).status_code == 302
    root = shelf_of(cast, cast.ben).root
    assert [str(f.relative_to(root)) for f in root.rglob("*.md")] == [".fuxi/agents/x-y.md"]


@pytest.mark.req("QW-144", "FX-224", "QW-145", "QW-146", "QW-147", "QW-148")
def test_the_form_offers_examples_and_says_what_makes_a_good_one(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    page = ben.get(cast.path(f"{LIBRARY}new/"))
    names = {each.name for each in page.context["examples"]}
    assert names >= {"testing-expert", "documentation-writer", "code-reviewer"}
    text = page.content.decode()
    for advice in ("One clear purpose", "Say when to call it", "Fewer tools", "the steps in their"):
        assert advice in text
    for name in names:
        begun = ben.get(cast.path(f"{LIBRARY}new/"), {"like": f"example:{name}"})
        assert len(begun.context["uses"]) == 3, name
        assert all(f"“{use}”" in unescape(begun.content.decode()) for use in begun.context["uses"])
    like = {"like": "example:testing-expert", "dialect": "qwen"}
    begun = ben.get(cast.path(f"{LIBRARY}new/"), like)
    assert "run_shell_command" in begun.context["draft"].filled["tools"]
    assert begun.context["draft"].body.startswith("You write tests")


# --- Changing ---------------------------------------------------------------------------------


@pytest.mark.req("QW-97")
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_an_edit_keeps_comments_order_unknown_keys_and_line_ends(cast: Cast, ends: str) -> None:
    text = KEPT.replace("\n", ends)
    file = put(cast, ".claude/agents/reviewer.md", text, cast.ben)
    ben = cast.client(cast.ben)
    where = {"shelf": "member", "path": ".claude/agents/reviewer.md"}
    page = ben.get(cast.path(f"{LIBRARY}edit/"), where)
    draft = page.context["draft"]
    assert draft.filled["tools"] == "Read, Grep"
    assert page.context["other_keys"] == ("x-team",)
    form = filled(**{**draft.filled, "model": "opus"}, body=draft.body, act="save")
    form |= where | {"digest": draft.digest}
    saved = ben.post(cast.path(f"{LIBRARY}edit/"), form)
    assert saved.status_code == 302
    assert file.read_bytes().decode() == text.replace("model: sonnet", "model: opus")
    batch = ben.get(saved.headers["Location"]).context["undo"].batch
    ben.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch})
    assert file.read_bytes().decode() == text


def test_nothing_changed_writes_nothing(cast: Cast) -> None:
    put(cast, ".claude/agents/reviewer.md", KEPT, cast.ben)
    ben = cast.client(cast.ben)
    where = {"shelf": "member", "path": ".claude/agents/reviewer.md"}
    draft = ben.get(cast.path(f"{LIBRARY}edit/"), where).context["draft"]
    form = filled(**draft.filled, body=draft.body.replace("\n", "\r\n"), act="save")
    ben.post(cast.path(f"{LIBRARY}edit/"), form | where | {"digest": draft.digest})
    with cast.bound():
        assert not DefinitionChange.objects.exists()


def test_two_who_edit_the_same_file_see_it_and_lose_nothing(cast: Cast) -> None:
    file = put(cast, ".fuxi/agents/reviewer.md", KEPT)
    ada = cast.client(cast.ada)
    where = {"shelf": "organisation", "path": ".fuxi/agents/reviewer.md"}
    draft = ada.get(cast.path(f"{LIBRARY}edit/"), where).context["draft"]
    file.write_text(KEPT.replace("sonnet", "haiku"))
    form = filled(**{**draft.filled, "description": "Mine."}, body=draft.body, act="save")
    form |= where | {"digest": draft.digest}
    refused = ada.post(cast.path(f"{LIBRARY}edit/"), form)
    assert refused.status_code == 409
    assert file.read_text() == KEPT.replace("sonnet", "haiku")
    assert refused.context["draft"].filled["description"] == "Mine."
    assert "-model: haiku" in refused.context["preview"]["diff"]
    again = form | {"digest": refused.context["draft"].digest}
    assert ada.post(cast.path(f"{LIBRARY}edit/"), again).status_code == 302
    assert "description: Mine." in file.read_text()


@pytest.mark.django_db(transaction=True)
def test_two_saves_at_once_cannot_both_win(cast: Cast) -> None:
    put(cast, ".fuxi/agents/reviewer.md", KEPT)
    where = {"shelf": "organisation", "path": ".fuxi/agents/reviewer.md"}
    digest = shelves.digest(KEPT.encode())
    form = filled(name="reviewer", description="Reviews changes.", tools="Read, Grep", act="save")
    form |= where | {"digest": digest}
    answers: list[int] = []

    def save(word: str) -> None:
        from django.db import connection

        client = cast.client(cast.ada)
        answer = client.post(cast.path(f"{LIBRARY}edit/"), form | {"body": word})
        answers.append(answer.status_code)
        connection.close()

    threads = [threading.Thread(target=save, args=(word,)) for word in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == [302, 409]


def test_an_unreadable_file_is_mended_as_text(cast: Cast) -> None:
    file = put(cast, ".fuxi/agents/broken.md", "---\nname: [x\n---\nBody\n", cast.ben)
    ben = cast.client(cast.ben)
    where = {"shelf": "member", "path": ".fuxi/agents/broken.md"}
    draft = ben.get(cast.path(f"{LIBRARY}edit/"), where).context["draft"]
    assert draft.by_text
    form = where | {"by": "text", "act": "save", "digest": draft.digest}
    wrong = ben.post(cast.path(f"{LIBRARY}edit/"), form | {"text": draft.text + "more"})
    assert wrong.status_code == 422
    good = "---\r\nname: x\r\ndescription: d\r\n---\r\nBody\r\n"
    assert ben.post(cast.path(f"{LIBRARY}edit/"), form | {"text": good}).status_code == 302
    assert file.read_bytes() == good.replace("\r\n", "\n").encode()


def test_what_others_changed_since_is_not_taken_back(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    saved = ben.post(
        cast.path(f"{LIBRARY}new/"), filled(name="one", description="d", body="b", act="save")
    )
    file = shelf_of(cast, cast.ben).root / ".fuxi/agents/one.md"
    file.write_text(file.read_text() + "\nby hand\n")
    batch = ben.get(saved.headers["Location"]).context["undo"].batch
    page = ben.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch}, follow=True)
    assert "by hand" in file.read_text()
    assert "one.md" in page.content.decode()


def test_a_deleted_file_comes_back_with_undo(cast: Cast) -> None:
    file = put(cast, ".qwen/agents/reviewer.md", KEPT, cast.ben)
    ben = cast.client(cast.ben)
    where = {"shelf": "member", "path": ".qwen/agents/reviewer.md"}
    stale = ben.post(cast.path(f"{LIBRARY}remove/"), where | {"digest": "0" * 64})
    assert stale.status_code == 302
    assert file.exists()
    digest = shelves.digest(file.read_bytes())
    gone = ben.post(cast.path(f"{LIBRARY}remove/"), where | {"digest": digest})
    assert not file.exists()
    assert ben.post(cast.path(f"{LIBRARY}remove/"), where | {"digest": digest}).status_code == 302
    batch = ben.get(gone.headers["Location"]).context["undo"].batch
    ben.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch})
    assert file.read_text() == KEPT


def test_who_may_change_what(cast: Cast) -> None:
    put(cast, ".fuxi/agents/reviewer.md", KEPT)
    put(cast, ".fuxi/agents/mine.md", KEPT, cast.ada)
    ben, vera = cast.client(cast.ben), cast.client(cast.vera)
    where = {"shelf": "organisation", "path": ".fuxi/agents/reviewer.md"}
    assert ben.get(cast.path(f"{LIBRARY}edit/"), where).status_code == 404
    assert ben.post(cast.path(f"{LIBRARY}remove/"), where).status_code == 404
    mine = {"shelf": "member", "path": ".fuxi/agents/mine.md"}
    assert ben.get(cast.path(f"{LIBRARY}edit/"), mine).status_code == 404
    assert vera.get(cast.path(f"{LIBRARY}new/")).status_code == 403
    eve = cast.client(cast.eve)
    assert eve.get(cast.path(f"{LIBRARY}new/")).status_code == 404


@pytest.mark.parametrize(
    "path", ["", "../x.md", "/etc/passwd", ".fuxi/../../x", "a\0b", ".fuxi//agents/x.md", "x" * 500]
)
def test_a_path_that_leads_elsewhere_is_not_there(cast: Cast, path: str) -> None:
    ben = cast.client(cast.ben)
    where = {"shelf": "member", "path": path}
    assert ben.get(cast.path(f"{LIBRARY}edit/"), where).status_code == 404
    answer = ben.post(cast.path(f"{LIBRARY}remove/"), where | {"digest": ""})
    assert answer.status_code in {302, 404}


def test_a_link_on_the_shelf_is_neither_read_nor_followed(cast: Cast, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "x.md").write_text(KEPT)
    root = shelf_of(cast, cast.ben).root
    root.mkdir(parents=True)
    (root / ".fuxi").symlink_to(secret)
    ben = cast.client(cast.ben)
    assert (
        ben.get(cast.path(f"{LIBRARY}edit/"), {"shelf": "member", "path": ".fuxi/x.md"}).status_code
        == 404
    )
    form = filled(name="new", description="d", body="b", act="save")
    assert ben.post(cast.path(f"{LIBRARY}new/"), form).status_code == 422
    assert [file.name for file in secret.iterdir()] == ["x.md"]
