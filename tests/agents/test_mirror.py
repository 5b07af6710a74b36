"""The agent is a directory: written with the row, undone with it, and healed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents import editing, mirror
from agents.library import cc
from agents.models import Agent
from agents.paths import BadSegment, agent_directory
from tests.agents.conftest import links, make_skill, save, text
from tests.cast import Cast

pytestmark = pytest.mark.django_db


@pytest.mark.req("CC-07")
def test_the_definition_lies_in_the_agents_own_folder(cast: Cast, engineer_folder: Path) -> None:
    assert engineer_folder.parts[-4:] == (
        "workspaces", str(cast.workspace.pk), "agents", "engineer",
    )  # fmt: skip
    read = cc.parse((engineer_folder / "AGENTS.md").read_text())
    assert read.fields == {
        "name": "engineer",
        "title": "Engineer",
        "skills": ["implementation", "testing"],
        "reportsTo": "ceo",
    }
    assert list(read.fields) == [key for key in cc.KEYS if key in read.fields]


@pytest.mark.req("CC-07")
@pytest.mark.parametrize(
    "name", ["", ".", "..", "../ceo", "a/b", "/etc", "A", "a b", "a\n", "-a", "a" * 64, "é", "a\0"]
)
def test_no_path_is_built_from_what_is_no_slug(cast: Cast, name: str) -> None:
    with pytest.raises(BadSegment):
        agent_directory(cast.workspace.pk, name)


@pytest.mark.req("CC-08", "CC-29")
def test_skills_are_linked_and_the_links_survive_a_move(cast: Cast, data_dir: Path) -> None:
    make_skill(cast, "testing")
    save(cast, cast.engineer)
    assert links(cast.engineer) == {"testing": "../../../../skills/testing"}
    moved = data_dir.with_name("moved")
    data_dir.rename(moved)
    here = moved / "workspaces" / str(cast.workspace.pk) / "agents/engineer/.agents/skills/testing"
    assert (here / "SKILL.md").read_text().endswith("Do it.\n")


@pytest.mark.req("CC-29")
def test_a_skill_that_is_not_there_leaves_no_dangling_link(cast: Cast) -> None:
    make_skill(cast, "testing")
    save(cast, cast.engineer, skills=["Testing", "implementation"])
    assert list(links(cast.engineer)) == ["testing"]
    with cast.bound():
        assert mirror.without_link(cast.engineer) == [("implementation", "missing")]


@pytest.mark.req("CC-29")
def test_a_quarantined_skill_loses_its_link_and_gets_it_back(cast: Cast) -> None:
    make_skill(cast, "testing")
    save(cast, cast.engineer)
    for verdict, present in [("quarantine", []), ("pass", ["testing"]), ("warn", ["testing"])]:
        with cast.bound():
            from skills.models import Skill

            Skill.objects.filter(slug="testing").update(verdict=verdict)
            mirror.relink(["testing"])
            held = set(cast.engineer.skill_names.values_list("key", flat=True))
            reasons = mirror.without_link(cast.engineer)
        assert sorted(links(cast.engineer)) == present
        assert held == {"implementation", "testing"}
        assert (("testing", "quarantined") in reasons) == (not present)


@pytest.mark.req("CC-08")
@pytest.mark.parametrize("place", [".agents/skills/testing", ".agents/skills", ".agents", ""])
def test_reconciling_never_follows_what_it_removes(
    cast: Cast, engineer_folder: Path, tmp_path: Path, place: str
) -> None:
    make_skill(cast, "testing")
    outside = tmp_path / "outside"
    (outside / "skills").mkdir(parents=True)
    (outside / "precious.txt").write_text("precious")
    (outside / "skills" / "precious.txt").write_text("precious")
    trap = engineer_folder / place
    if trap.is_dir() and not trap.is_symlink():
        shutil.rmtree(trap)
    trap.parent.mkdir(parents=True, exist_ok=True)
    trap.symlink_to(outside)
    with cast.bound():
        mirror.write(cast.engineer)
    assert (outside / "precious.txt").read_text() == "precious"
    assert (outside / "skills" / "precious.txt").read_text() == "precious"
    assert sorted(p.name for p in outside.rglob("*")) == ["precious.txt", "precious.txt", "skills"]
    assert links(cast.engineer) == {"testing": "../../../../skills/testing"}


def test_a_definition_that_is_a_link_is_replaced_not_written_through(
    cast: Cast, engineer_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "passwd").write_text("root")
    (engineer_folder / "AGENTS.md").unlink()
    (engineer_folder / "AGENTS.md").symlink_to(tmp_path / "passwd")
    with cast.bound():
        assert mirror.hand_edit(cast.engineer) is None
        assert [each.kind for each in mirror.drift(cast.engineer)] == ["missing_file"]
        mirror.write(cast.engineer)
    assert (tmp_path / "passwd").read_text() == "root"
    assert text(cast.engineer).startswith("---\nname: engineer\n")


@pytest.mark.req("CC-09")
def test_a_failed_file_write_rolls_the_row_back(
    cast: Cast, engineer_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    before = text(cast.engineer)
    monkeypatch.setattr("workspaces.files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        save(cast, cast.engineer, title="Someone else")
    with cast.bound():
        row = Agent.objects.get(pk=cast.engineer.pk)
        assert (row.title, row.version) == ("Engineer", 1)
        assert row.principal is not None
        assert row.principal.name == "Engineer"
    assert text(cast.engineer) == before
    assert sorted(entry.name for entry in engineer_folder.iterdir()) == [".agents", "AGENTS.md"]


def refuse_commit(agent: Agent) -> None:
    """A reference that leads nowhere: PostgreSQL finds it when the transaction commits."""
    Agent.objects.filter(pk=agent.pk).update(reports_to_id=uuid4())


@pytest.mark.req("CC-09")
@pytest.mark.django_db(transaction=True)
def test_a_failed_commit_restores_the_file_and_the_links(committed_cast: Cast) -> None:
    cast = committed_cast
    make_skill(cast, "testing")
    save(cast, cast.engineer)
    before = text(cast.engineer)

    def act() -> None:
        with cast.bound():
            save(cast, cast.engineer, title="New", skills=["nothing"], persona="You are new.")
            assert "You are new." in text(cast.engineer)
            assert links(cast.engineer) == {}
            refuse_commit(cast.engineer)

    with pytest.raises(IntegrityError):
        act()
    assert text(cast.engineer) == before
    assert list(links(cast.engineer)) == ["testing"]


@pytest.mark.req("CC-09")
@pytest.mark.django_db(transaction=True)
def test_a_failed_commit_takes_a_new_directory_away_and_moves_a_renamed_one_back(
    committed_cast: Cast,
) -> None:
    from agents.creating import Profile, create

    cast = committed_cast
    before = text(cast.engineer)

    def act() -> None:
        with cast.bound():
            create(Profile(name="newcomer"))
            save(cast, cast.engineer, name="builder")
            editing.delete(cast.ceo, by=cast.ada.principal, is_busy=lambda _agent: False)
            refuse_commit(cast.engineer)

    with pytest.raises(IntegrityError):
        act()
    root = mirror.directory(cast.engineer).parent
    assert sorted(entry.name for entry in root.iterdir()) == ["ceo", "engineer"]
    assert text(cast.engineer) == before


@pytest.mark.django_db(transaction=True)
def test_what_was_removed_is_gone_after_the_commit(committed_cast: Cast) -> None:
    cast = committed_cast
    root = mirror.directory(cast.ceo).parent
    with cast.bound():
        editing.delete(cast.ceo, by=cast.ada.principal, is_busy=lambda _agent: False)
    assert [entry.name for entry in root.iterdir()] == ["engineer"]


def test_drift_is_found_for_all_in_a_constant_number_of_queries(
    cast: Cast, engineer_folder: Path, django_assert_num_queries: object
) -> None:
    make_skill(cast, "testing")
    (engineer_folder / "AGENTS.md").write_text("mine")
    (engineer_folder / ".agents/skills/own").mkdir()
    (engineer_folder.parent / "left-over").mkdir()
    shutil.rmtree(mirror.directory(cast.ceo))
    with cast.bound(), django_assert_num_queries(3):  # type: ignore[operator]
        found = mirror.drift_of_all(cast.workspace.pk)
    assert [(str(each.agent or ""), each.kind, each.detail) for each in found] == [
        ("ceo", "missing_file", "AGENTS.md"),
        ("engineer", "edited_file", "AGENTS.md"),
        ("engineer", "missing_link", "testing"),
        ("engineer", "stray_link", "own (no link of ours)"),
        ("", "stray_directory", "left-over"),
    ]
    with cast.bound():
        mirror.write(Agent.objects.get(name="ceo"))
        mirror.write(Agent.objects.get(name="engineer"))
        assert [each.kind for each in mirror.drift_of_all(cast.workspace.pk)] == ["stray_directory"]


hostile = st.text(
    st.one_of(
        st.sampled_from(":#->|'\"\n\t&*!%@`{}[],~é 0"), st.characters(exclude_categories=["Cs"])
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(title=hostile, persona=hostile, instructions=hostile)
def test_whatever_a_row_holds_the_file_gives_it_back(
    title: str, persona: str, instructions: str
) -> None:
    row = {"name": "a", "title": title or None, "systemPrompt": instructions or None}
    rendered = cc.render(row, persona)
    again = cc.parse(rendered)
    assert cc.render(again.fields, again.body) == rendered


def drift_of(cast: Cast) -> list[mirror.Drift]:
    with cast.bound():
        return mirror.drift(Agent.objects.get(pk=cast.engineer.pk))


def not_taken(cast: Cast, change: Callable[[Path], object]) -> str:
    """What the page says when a file that was changed so is to be taken; row and file stay."""
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    change(file)
    before = file.read_bytes() if file.is_file() else None
    address = cast.path(f"agents/{cast.engineer.pk}/take-file/")
    answer = cast.client(cast.ada).post(address, follow=True)
    with cast.bound():
        assert Agent.objects.get(pk=cast.engineer.pk).version == cast.engineer.version
    assert (file.read_bytes() if file.is_file() else None) == before
    return answer.content.decode()


def test_a_file_of_which_something_would_be_lost_is_not_taken(cast: Cast) -> None:
    def append(data: bytes) -> Callable[[Path], object]:
        return lambda file: file.write_bytes(file.read_bytes() + data)

    assert "of AGENTS.md is not UTF-8" in not_taken(cast, append(b"caf\xe9"))
    assert "AGENTS.md is larger than 4 MB" in not_taken(cast, append(b"x" * mirror.MOST_BYTES))


def test_a_file_that_is_none_is_not_said_to_agree(cast: Cast) -> None:
    said = not_taken(cast, Path.unlink)
    assert "There is no plain AGENTS.md there" in said
    assert "agree already" not in said
    assert "There is no plain AGENTS.md there" in not_taken(cast, Path.mkdir)


def test_a_file_that_cannot_be_read_counts_as_edited_and_is_not_written_over(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    before = file.read_bytes()
    opened = Path.open

    def refusing(path: Path, *args: Any, **kwargs: Any) -> Any:
        if path == file:
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refusing)
        page = cast.client(cast.ada).get(cast.path("agents/mirror/"))
        assert page.status_code == 200
        assert [each.kind for each in drift_of(cast)] == ["edited_file"]
        with cast.bound(), pytest.raises(editing.HandEdited):
            save(cast, cast.engineer, title="New")
    assert file.read_bytes() == before
