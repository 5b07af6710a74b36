"""Bringing agents in: idempotent, refused without a workspace, and never under a taken name."""

import shutil
from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from agents import mirror
from agents.creating import Profile, create, create_draft
from agents.models import Agent
from spaces import posting
from tests.agents.conftest import links, make_skill, save, text
from tests.cast import Cast
from tests.runs.stage import together
from workspaces.models import Principal
from workspaces.tenancy import NoWorkspaceBound, bind

pytestmark = pytest.mark.django_db


@pytest.mark.req("CC-01", "CC-12", "CC-14")
def test_an_agent_is_a_name_a_persona_skills_and_an_adapter(cast: Cast) -> None:
    with cast.bound():
        profile = Profile(
            name="scribe", title="Scribe", persona="You write.", skills=("Notes",), adapter_id="x"
        )
        agent, is_new = create(profile, by=cast.ada.principal)
        assert is_new
        assert (agent.name, agent.title, agent.persona, agent.adapter) == (
            "scribe", "Scribe", "You write.", "x",
        )  # fmt: skip
        assert [name.display for name in agent.skill_names.all()] == ["Notes"]
        assert agent.principal is not None
        assert (agent.principal.kind, agent.principal.handle) == ("agent", "scribe")


@pytest.mark.req("CC-10")
def test_creating_twice_is_one_row_and_heals_files_and_links(cast: Cast) -> None:
    make_skill(cast, "testing")
    with cast.bound():
        create(Profile(name="engineer"))
    whole, folder = text(cast.engineer), mirror.directory(cast.engineer)
    damages: list[Callable[[], object]] = [
        lambda: shutil.rmtree(folder),
        lambda: (folder / "AGENTS.md").write_text("something else"),
        lambda: (folder / ".agents/skills/testing").unlink(),
        lambda: (folder / ".agents/skills/stray").symlink_to("/etc"),
    ]
    for damage in damages:
        damage()
        with cast.bound():
            agent, is_new = create(Profile(name="engineer", title="Ignored"))
            assert not is_new
            assert agent.title == "Engineer"
            assert Agent.objects.filter(name="engineer").count() == 1
        assert text(cast.engineer) == whole
        assert list(links(cast.engineer)) == ["testing"]


@pytest.mark.req("CC-10")
@pytest.mark.django_db(transaction=True)
def test_the_same_name_at_the_same_moment_is_one_agent(committed_cast: Cast) -> None:
    def act() -> bool:
        with bind(committed_cast.workspace):
            return create(Profile(name="twin"))[1]

    assert sorted(together([act] * 4)) == [False, False, False, True]


@pytest.mark.req("CC-04", "CC-06")
def test_without_a_workspace_there_is_no_agent(cast: Cast) -> None:
    with pytest.raises(NoWorkspaceBound):
        create(Profile(name="lost"))
    with pytest.raises(NoWorkspaceBound):
        create_draft()
    with pytest.raises(NoWorkspaceBound):
        Agent(name="").save()
    column = "SELECT is_nullable FROM information_schema.columns WHERE table_name = 'agents_agent'"
    with connection.cursor() as cursor:
        cursor.execute(f"{column} AND column_name = 'workspace_id'")
        assert cursor.fetchone() == ("NO",)


@pytest.mark.req("CC-05")
def test_an_agent_is_not_there_in_another_workspace(cast: Cast) -> None:
    with bind(cast.elsewhere):
        assert not Agent.objects.filter(pk=cast.engineer.pk).exists()
        other, _new = create(Profile(name="engineer"))
    assert mirror.directory(other) != mirror.directory(cast.engineer)
    path = f"agents/{cast.engineer.pk}/"
    assert cast.client(cast.eve).get(f"/w/elsewhere/{path}").status_code == 404


NO_SLUGS = ["Architect", "a b", "-a", "é", "新聞", "a/b", "..", "a.b", "a_b", "a" * 64, "a\n", " a"]


@pytest.mark.req("CC-12")
@pytest.mark.parametrize("name", NO_SLUGS)
def test_a_name_is_a_slug(cast: Cast, name: str) -> None:
    with cast.bound():
        with pytest.raises(ValidationError):
            create(Profile(name=name))
        assert not Principal.objects.filter(handle=name).exists()
        assert Agent.objects.count() == 2


@pytest.mark.req("CC-12", "CC-13")
@pytest.mark.parametrize("name", ["ada", "all", "here", "everyone", "system"])
def test_a_name_that_means_somebody_else_is_refused(cast: Cast, name: str) -> None:
    with cast.bound(), pytest.raises(ValidationError):
        create(Profile(name=name))


@pytest.mark.req("CC-12")
def test_no_two_names_differ_only_by_case_in_the_database_either(cast: Cast) -> None:
    with cast.bound():
        other = Principal.objects.create(kind="agent", handle="other", name="Other")
        with pytest.raises(IntegrityError, match="agent_name_any_case"), transaction.atomic():
            Agent.objects.create(name="ENGINEER", principal=other)


@pytest.mark.req("CC-17", "CC-26")
def test_skills_are_a_set_without_regard_to_case(cast: Cast) -> None:
    save(cast, cast.engineer, skills=["Testing", "testing", " TESTING ", "Deep  work", ""])
    with cast.bound():
        assert [(row.key, row.display) for row in cast.engineer.skill_names.all()] == [
            ("testing", "Testing"),
            ("deep work", "Deep work"),
        ]
    assert "skills:\n  - Testing\n  - Deep work\n" in text(cast.engineer)


@pytest.mark.req("CC-25")
def test_drafts_may_be_several_and_have_nothing_until_they_are_named(cast: Cast) -> None:
    with cast.bound():
        first, second = create_draft(), create_draft()
        assert first.principal is None
        assert not first.is_dispatchable
        assert mirror.drift(first) == []
    root = mirror.directory(cast.engineer).parent
    assert sorted(entry.name for entry in root.iterdir()) == ["ceo", "engineer"]
    named = save(cast, second, name="scout", title="Scout")
    assert text(named).startswith("---\nname: scout\n")
    with cast.bound():
        said, _new = posting.post(cast.conversation, author=cast.ada.principal, body="@scout, look")
        assert [each.principal_id for each in said.mentions.all()] == [named.principal_id]
