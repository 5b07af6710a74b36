"""The team that every workspace begins with."""

from pathlib import Path

import pytest
from django.apps import apps

from agents import mirror, seeding, tasks
from agents.models import Agent
from agents.paths import skill_directory
from tests.agents.conftest import links, text
from tests.cast import Cast
from tests.runs.stage import together
from workspaces.tenancy import bind

pytestmark = pytest.mark.django_db


def everything(root: Path) -> dict[str, tuple[int, int]]:
    """Each path with its inode and time of change: a file that was written again differs."""
    return {
        str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns)
        for path in root.rglob("*")
    }  # fmt: skip


@pytest.mark.req("CC-73", "CC-75")
def test_the_second_workspace_gets_the_team_with_directories_and_skills(cast: Cast) -> None:
    seeding.seed(cast.elsewhere.pk)
    with bind(cast.elsewhere):
        team = {row.name: row for row in Agent.objects.prefetch_related("skill_names")}
        assert sorted(team) == ["architect", "ceo", "engineer", "librarian", "qa"]
        assert team["ceo"].reports_to_id is None
        for row in team.values():
            assert (row.adapter_id, row.model_id, row.effort) == (None, None, None)
            assert row.persona in text(row)
            held = {name.key for name in row.skill_names.all()}
            assert held == set(links(row))
            for slug in held:
                skill = skill_directory(cast.elsewhere.pk, slug) / "SKILL.md"
                assert len(skill.read_text()) > 400
            assert mirror.drift(row) == []
    assert "reportsTo: ceo\n" in text(team["qa"])


@pytest.mark.req("CC-76")
def test_seeding_again_changes_nothing_and_keeps_what_was_edited(cast: Cast) -> None:
    tasks.seed_workspace(str(cast.elsewhere.pk))
    with bind(cast.elsewhere):
        Agent.objects.filter(name="qa").update(title="Head of Quality")
    tasks.seed_workspace(str(cast.elsewhere.pk))
    with bind(cast.elsewhere):
        assert Agent.objects.count() == 5
        assert Agent.objects.get(name="qa").title == "Head of Quality"


@pytest.mark.req("CC-76")
@pytest.mark.django_db(transaction=True)
def test_two_deliveries_at_once_seed_once(committed_cast: Cast) -> None:
    workspace = committed_cast.elsewhere.pk
    assert together([lambda: seeding.seed(workspace)] * 2) == [None, None]
    with bind(workspace):
        assert Agent.objects.count() == 5


@pytest.mark.req("CC-11")
def test_starting_the_server_rewrites_nothing(cast: Cast, data_dir: Path) -> None:
    seeding.seed(cast.elsewhere.pk)
    with bind(cast.workspace):
        from workspaces.models import Workspace

        Workspace.objects.update(seeded_at="2026-01-01T00:00:00Z")
    (mirror.directory(cast.engineer) / "AGENTS.md").write_text("edited by hand")
    before = everything(data_dir)
    for config in apps.get_app_configs():
        config.ready()
    seeding.sweep()  # what the scheduler calls all the time
    assert everything(data_dir) == before


@pytest.mark.req("CC-79", "CC-51")
def test_no_column_holds_a_state_or_a_permission(cast: Cast) -> None:
    columns = {field.name for field in Agent._meta.get_fields() if getattr(field, "column", None)}
    assert columns == {
        "id", "workspace", "principal", "name", "title", "persona", "system_prompt", "adapter_id",
        "model_id", "effort", "context_size", "silence_timeout_minutes", "reports_to", "lifecycle",
        "unknown_keys", "version", "created_at", "updated_at",
    }  # fmt: skip
