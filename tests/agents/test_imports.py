"""Importing many agent files: by upload, from a folder, from a repository at one commit."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from agents import importing
from agents.definitions import DefinitionChange, DefinitionImport, Shelf
from agents.models import Agent
from agents.shelves import Owner
from repositories import agent_files
from repositories.models import Repository
from tests.cast import Cast
from tests.remote.server import Remote, serve
from workspaces.models import Membership

pytestmark = pytest.mark.django_db

LIBRARY = "agents/library/"


def text(name: str, body: str = "Do it.", front: str = "") -> str:
    return f"---\nname: {name}\ndescription: About {name}.\n{front}---\n\n{body}\n"


def shelf_of(cast: Cast, who: Membership | None = None) -> Owner:
    if who is None:
        return Owner(Shelf.ORGANISATION, cast.workspace.pk)
    return Owner(Shelf.MEMBER, cast.workspace.pk, who.principal)


def kept(owner: Owner) -> dict[str, str]:
    """Every file of a shelf."""
    return {
        str(file.relative_to(owner.root)): file.read_text()
        for file in sorted(owner.root.rglob("*"))
        if file.is_file()
    }


def ask(client: Any, cast: Cast, **form: object) -> DefinitionImport:
    """Asks for an import and reads it as the worker would."""
    answer = client.post(cast.path(f"{LIBRARY}imports/"), form)
    assert answer.status_code == 302
    with cast.bound():
        row = DefinitionImport.objects.order_by("-created_at")[0]
    assert answer.headers["Location"].endswith(f"{row.pk}/")
    agent_files.gather(cast.workspace.pk, row.pk)
    with cast.bound():
        return DefinitionImport.objects.get(pk=row.pk)


def page_of(client: Any, cast: Cast, row: DefinitionImport, **query: str) -> Any:
    return client.get(cast.path(f"{LIBRARY}imports/{row.pk}/"), query)


def confirm(client: Any, cast: Cast, row: DefinitionImport, target: str, *numbers: int) -> Any:
    form = {"target": target, "file": [str(number) for number in numbers]}
    return client.post(cast.path(f"{LIBRARY}imports/{row.pk}/"), form)


def uploads(*files: tuple[str, str]) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, body.encode(), "text/markdown") for name, body in files]


@pytest.fixture
def remote(tmp_path: Path, settings: Any) -> Iterator[Remote]:
    with serve(tmp_path / "hosted") as running:
        settings.ALLOW_HOSTS = [f"127.0.0.1:{running.port}"]
        yield running


# --- Upload -----------------------------------------------------------------------------------


def test_a_hundred_files_are_shown_first_and_created_together(cast: Cast) -> None:
    good = [(f"a-{n:03}.md", text(f"a-{n:03}")) for n in range(100)]
    bad = [
        ("broken.md", "---\nname: [x\n---\nb"),
        ("nameless.md", "---\ndescription: d\nmodel: opus\n---\nb"),
        ("README.md", "# No agent"),
        ("twin.md", text("a-007", "Another body.")),
    ]
    ben = cast.client(cast.ben)
    form = {"kind": "upload", "files": uploads(*good, *bad)}
    row = ask(ben, cast, **form)
    page = page_of(ben, cast, row)
    found = {each.path: each for each in page.context["candidates"]}
    assert page.context["proposed"] == 100
    assert page.context["bad"] == 2
    assert page.context["passed_over"] == 1
    assert found["twin.md"].twin == "a-007.md"
    assert "Line" not in kept(shelf_of(cast, cast.ben))
    for sentence in ("cannot be read", "`name` is missing", "is called so too"):
        assert sentence in page.content.decode()
    numbers = [each.number for each in found.values() if each.is_proposed]
    done = confirm(ben, cast, row, "member", *numbers)
    files = kept(shelf_of(cast, cast.ben))
    assert len(files) == 100
    assert files[".jarvis-code/agents/a-000.md"] == text("a-000")
    with cast.bound():
        assert DefinitionChange.objects.values("batch").distinct().count() == 1
    confirm(ben, cast, row, "member", *numbers)  # a second click
    with cast.bound():
        assert DefinitionChange.objects.count() == 100
    batch = ben.get(done.headers["Location"]).context["undo"].batch
    ben.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch})
    assert kept(shelf_of(cast, cast.ben)) == {}


def test_what_is_there_already_is_named(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    first = ask(ben, cast, kind="upload", files=uploads(("one.md", text("one"))))
    confirm(ben, cast, first, "member", 0)
    again = ask(
        ben, cast, kind="upload",
        files=uploads(("one.md", text("one")), ("two.md", text("one", "New.")),
                      ("coder.md", text("coder"))),
    )  # fmt: skip
    same, other, built_in = page_of(ben, cast, again).context["candidates"]
    assert same.is_there
    assert "one.md" in other.namesake
    assert "Built in" in built_in.namesake
    done = confirm(ben, cast, again, "member", 1)
    assert kept(shelf_of(cast, cast.ben))[".jarvis-code/agents/one.md"] == text("one", "New.")
    batch = ben.get(done.headers["Location"]).context["undo"].batch
    ben.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch})
    assert kept(shelf_of(cast, cast.ben))[".jarvis-code/agents/one.md"] == text("one")


def test_pasted_text_is_one_file(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    path = ".qwen/agents/x.md"
    row = ask(ben, cast, kind="upload", text=text("pasted-one"), path=path)
    (one,) = page_of(ben, cast, row).context["candidates"]
    assert (one.definition.dialect, one.is_proposed) == ("qwen", True)
    confirm(ben, cast, row, "member", 0)
    assert list(kept(shelf_of(cast, cast.ben))) == [".qwen/agents/pasted-one.md"]


@pytest.mark.req("CC-77")
def test_files_become_paused_agents_of_the_roster_and_go_again(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    row = ask(
        ada, cast, kind="upload",
        files=uploads(("one.md", text("One Agent", front="model: opus\n")),
                      ("two.md", text("two-x")), ("e.md", text("engineer"))),
    )  # fmt: skip
    page = page_of(ada, cast, row, target="roster")
    first, second, taken = page.context["candidates"]
    assert taken.namesake == "@engineer"
    confirm(ada, cast, row, "roster", first.number, second.number, taken.number)
    with cast.bound():
        made = Agent.objects.filter(name__in=["one-agent", "two-x"])
        assert {agent.lifecycle for agent in made} == {"paused"}
        row = DefinitionImport.objects.get(pk=row.pk)
        kept_one = Agent.objects.get(name="two-x")
        kept_one.lifecycle = "active"
        kept_one.version += 1
        kept_one.save()
    ada.post(cast.path(f"{LIBRARY}imports/{row.pk}/undo/"))
    with cast.bound():
        assert {a.name for a in Agent.objects.exclude(name="")} == {"ceo", "engineer", "two-x"}


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "upload"},
        {"kind": "nonsense"},
        {"kind": "repository"},
        {"kind": "upload", "text": "x" * 3_000_000},
        {"kind": "upload", "text": "é" * 1_500_000},  # counted in bytes, as a file is
    ],
)
def test_a_form_without_sense_says_so_and_creates_nothing(cast: Cast, form: Any) -> None:
    answer = cast.client(cast.ben).post(cast.path(f"{LIBRARY}imports/"), form, follow=True)
    assert answer.status_code in {200, 400, 413}
    with cast.bound():
        assert not DefinitionImport.objects.exists()


@pytest.mark.parametrize("head", [b"PK\x03\x04", b"\x1f\x8b\x08"])
def test_an_archive_is_sent_back_with_a_word(cast: Cast, head: bytes) -> None:
    form = {"kind": "upload", "files": [SimpleUploadedFile("kit.zip", head + b"\0" * 40)]}
    answer = cast.client(cast.ben).post(cast.path(f"{LIBRARY}imports/"), form, follow=True)
    assert "kit.zip is an archive. Unpack it" in answer.content.decode()
    with cast.bound():
        assert not DefinitionImport.objects.exists()


@pytest.mark.parametrize("target", ["roster", "member"])
def test_an_import_of_which_all_is_refused_waits_and_says_why(cast: Cast, target: str) -> None:
    ada = cast.client(cast.ada)
    bad = "---\nname: [x\n---\nb"
    row = ask(ada, cast, kind="upload", files=uploads(("bad.md", bad)))
    answer = ada.post(
        cast.path(f"{LIBRARY}imports/{row.pk}/"), {"target": target, "file": "0"}, follow=True
    )
    assert answer.status_code == 200
    assert "bad.md: " in answer.content.decode()
    with cast.bound():
        row.refresh_from_db()
        assert (row.state, row.created) == ("ready", [])
        assert not DefinitionChange.objects.exists()


def test_bytes_of_every_kind_are_kept_as_they_came(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    body = "﻿" + text("odd", "Ünïcode 新聞 🎭\tTab").replace("\n", "\r\n")
    row = ask(ben, cast, kind="upload", files=uploads(("../../odd.md", body)))
    confirm(ben, cast, row, "member", 0)
    file = shelf_of(cast, cast.ben).root / ".jarvis-code/agents/odd.md"
    assert file.read_bytes() == body.encode()


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_import_once_and_can_be_undone(cast: Cast) -> None:
    import threading

    from django.db import connection

    ada = cast.client(cast.ada)
    row = ask(ada, cast, kind="upload", files=uploads(("a.md", text("a-x")), ("b.md", text("b-x"))))
    gate = threading.Barrier(2)

    def click() -> None:
        gate.wait(30)
        confirm(cast.client(cast.ada), cast, row, "roster", 0, 1)
        connection.close()

    threads = [threading.Thread(target=click) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    with cast.bound():
        assert len(DefinitionImport.objects.get(pk=row.pk).created) == 2
    ada.post(cast.path(f"{LIBRARY}imports/{row.pk}/undo/"))
    with cast.bound():
        assert not Agent.objects.filter(name__in=["a-x", "b-x"]).exists()


def test_an_import_is_its_members_own(cast: Cast) -> None:
    row = ask(cast.client(cast.ben), cast, kind="upload", text=text("mine"))
    assert page_of(cast.client(cast.ada), cast, row).status_code == 404
    assert confirm(cast.client(cast.ada), cast, row, "member", 0).status_code == 404
    ben = cast.client(cast.ben)
    confirm(ben, cast, row, "organisation", 0)  # not his to write: his own shelf it is
    assert kept(shelf_of(cast)) == {}
    assert len(kept(shelf_of(cast, cast.ben))) == 1


# --- Folder -----------------------------------------------------------------------------------


def test_a_folder_that_the_operator_allowed_is_read(
    cast: Cast, tmp_path: Path, settings: Any
) -> None:
    top = tmp_path / "shared"
    for path, body in {
        ".claude/agents/reviewer.md": text("reviewer"),
        "kit/agents/deep/helper.md": text("helper"),
        "node_modules/x/agents/vendored.md": text("vendored"),
        "notes/plain.md": "---\ndescription: no agent home\n---\nb",
    }.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(body)
    (tmp_path / "secret.md").write_text(text("secret"))
    (top / "kit/agents/link.md").symlink_to(tmp_path / "secret.md")
    (top / "kit/agents/circle.md").symlink_to("circle.md")
    Path(os.fsdecode(os.fsencode(top) + b"/kit/agents/caf\xe9.md")).write_text(text("cafe"))
    os.mkfifo(top / "kit/agents/pipe.md")
    settings.ALLOW_PATHS = [str(top)]
    ada = cast.client(cast.ada)
    row = ask(ada, cast, kind="folder", folder=str(top))
    assert {each["path"] for each in row.files} == {
        *(".claude/agents/reviewer.md", "kit/agents/deep/helper.md")
    }
    assert {each["path"].rpartition("/")[2]: each["why"] for each in row.left_out} == {
        "link.md": "A link that leads out of its folder.",
        "circle.md": "This is no plain file.",
        "pipe.md": "This is no plain file.",
        "caf\ufffd.md": "Its name is no UTF-8. Rename it and read again.",
    }
    page = page_of(ada, cast, row, target="organisation")
    confirm(ada, cast, row, "organisation", *[c.number for c in page.context["candidates"]])
    assert set(kept(shelf_of(cast))) == {".fuxi/agents/reviewer.md", ".fuxi/agents/helper.md"}


def test_another_folder_is_refused_in_words(cast: Cast, tmp_path: Path, settings: Any) -> None:
    settings.ALLOW_PATHS = [str(tmp_path / "allowed")]
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed/circle").symlink_to("circle")
    ada = cast.client(cast.ada)
    circle = f"{tmp_path}/allowed/circle"
    for folder in (str(tmp_path), "/etc", "relative", f"{tmp_path}/allowed/../x", circle):
        row = ask(ada, cast, kind="folder", folder=folder)
        assert row.state == "failed"
        page = page_of(ada, cast, row)
        assert "Nothing was created" in page.content.decode()
    form = {"kind": "folder", "folder": str(tmp_path)}
    ben = cast.client(cast.ben).post(cast.path(f"{LIBRARY}imports/"), form)
    assert ben.status_code == 403


# --- Repository -------------------------------------------------------------------------------

TREE = {
    "README.md": "# Kit\n",
    ".claude/agents/reviewer.md": text("reviewer", "First."),
    ".qwen/agents/tester.md": text("tester"),
    "docs/guide.md": "---\ntitle: guide\n---\nb",
}


def test_a_repository_is_read_at_one_commit(cast: Cast, remote: Remote) -> None:
    address = remote.create("kit", TREE)
    ada = cast.client(cast.ada)
    row = ask(ada, cast, kind="repository", address=address)
    assert (row.state, row.error) == ("ready", "")
    assert len(row.commit) == 40
    names = {c.definition.name for c in page_of(ada, cast, row).context["candidates"]}
    assert names == {"reviewer", "tester"}
    old = row.commit
    remote.commit("kit", {".claude/agents/reviewer.md": text("reviewer", "Second.")})
    again = ask(ada, cast, kind="repository", address=address, ref=old)
    bodies = [c.definition.body for c in page_of(ada, cast, again).context["candidates"]]
    assert "First." in bodies
    newest = ask(ada, cast, kind="repository", address=address)
    assert "Second." in [
        c.definition.body for c in page_of(ada, cast, newest).context["candidates"]
    ]
    assert remote.writes == []


def test_a_member_imports_from_a_repository_of_the_workspace(cast: Cast, remote: Remote) -> None:
    address = remote.create("kit", TREE)
    with cast.bound():
        repository = Repository.objects.create(name="kit", address=address)
    ben = cast.client(cast.ben)
    row = ask(ben, cast, kind="repository", repository=str(repository.pk))
    assert row.state == "ready"
    form = {"kind": "repository", "address": address}
    assert ben.post(cast.path(f"{LIBRARY}imports/"), form).status_code == 403


@pytest.mark.parametrize(
    ("address", "ref", "words"),
    [
        ("http://127.0.0.1:9/none.git", "", ""),
        ("KIT", "no-such-branch", "no branch, tag or commit"),
        ("KIT", "0" * 40, ""),
        ("http://10.0.0.1/x.git", "", ""),
    ],
)
def test_what_cannot_be_read_says_why(
    cast: Cast, remote: Remote, address: str, ref: str, words: str
) -> None:
    kit = remote.create("kit", TREE)
    ada = cast.client(cast.ada)
    row = ask(ada, cast, kind="repository", address=address.replace("KIT", kit), ref=ref)
    assert row.state == "failed"
    assert words in row.error
    assert row.error
    with cast.bound():
        assert not DefinitionChange.objects.exists()


@pytest.mark.req("JA-37", "QW-100", "QW-102", "FX-43")
def test_a_package_is_installed_whole_and_counts_last(cast: Cast, remote: Remote) -> None:
    address = remote.create(
        "kit",
        {
            ".fuxi-plugin/plugin.json": '{"name": "My Plugin", "agents": "./agents/"}',
            "agents/review/security.md": text("security"),
            "agents/plain.md": text("plain"),
            "hooks/run.sh": "#!/bin/sh\nexit 1\n",
        },
    )
    ada = cast.client(cast.ada)
    row = ask(ada, cast, kind="repository", address=address)
    page = page_of(ada, cast, row, target="package")
    assert page.context["package"] == "my-plugin"
    done = confirm(ada, cast, row, "package")
    owner = Owner(Shelf.PACKAGE, cast.workspace.pk)
    assert set(kept(owner)) == {
        "my-plugin/.fuxi-plugin/plugin.json",
        "my-plugin/agents/plain.md",
        "my-plugin/agents/review/security.md",
    }
    library = cast.client(cast.vera).get(cast.path(LIBRARY), {"q": "security"})
    lines = [line for group in library.context["groups"] for line in group.lines]
    assert [line.title for line in lines] == ["my-plugin:review:security"]
    batch = ada.get(done.headers["Location"]).context["undo"].batch
    ada.post(cast.path(f"{LIBRARY}undo/"), {"batch": batch})
    assert kept(owner) == {}


def test_an_import_that_a_worker_forgot_can_be_read_again(cast: Cast, remote: Remote) -> None:
    from datetime import timedelta

    from django.utils import timezone

    address = remote.create("kit", TREE)
    ada = cast.client(cast.ada)
    ada.post(cast.path(f"{LIBRARY}imports/"), {"kind": "repository", "address": address})
    with cast.bound():
        row = DefinitionImport.objects.get()
        old = timezone.now() - timedelta(seconds=importing.STUCK_SECONDS + 1)
        DefinitionImport.objects.update(state="reading", begun_at=old)
    now = ada.get(cast.path(f"{LIBRARY}imports/{row.pk}/now/"))
    assert "interrupted" in now.content.decode()
    ada.post(cast.path(f"{LIBRARY}imports/{row.pk}/again/"))
    agent_files.gather(cast.workspace.pk, row.pk)
    with cast.bound():
        assert DefinitionImport.objects.get().state == "ready"
