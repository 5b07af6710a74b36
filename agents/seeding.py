"""The team that every workspace begins with: a CEO and four specialists who report to it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from uuid import UUID

import yaml
from django.db import connection
from django.utils import timezone

from live.publish import publish
from skills.install import write_seeded
from workspaces.background import enqueue
from workspaces.members import create_workspace
from workspaces.models import Principal, User, Workspace
from workspaces.tenancy import across_workspaces, bind

from .creating import Profile, create

SEEDED = Path(__file__).parent / "seeded"
CHIEF = "ceo"


def found_workspace(user: User, name: str) -> Workspace:
    """A new workspace with the user as owner; its team arrives in the background."""
    workspace = create_workspace(user, name)
    enqueue("agents.tasks.seed_workspace", workspace.id)
    return workspace


def seed(workspace_id: UUID) -> None:
    """The team stands in the workspace, with files and links. Safe to run twice, also at once."""
    with bind(workspace_id):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"seed {workspace_id}"])
        for folder in sorted((SEEDED / "skills").iterdir()):
            write_seeded(folder)
        chief: Principal | None = None
        for profile in team():
            agent, _is_new = create(replace(profile, reports_to=chief))
            chief = chief or agent.principal
        Workspace.objects.filter(pk=workspace_id).update(seeded_at=timezone.now())
        publish(f"w/{workspace_id}/roster", "seeded")


def sweep() -> int:
    """Seeds workspaces whose background task was lost. Returns how many."""
    with across_workspaces():
        late = list(
            Workspace.objects.filter(
                seeded_at=None, created_at__lt=timezone.now() - timedelta(seconds=20)
            ).values_list("id", flat=True)
        )
    for workspace_id in late:
        seed(workspace_id)
    return len(late)


@cache
def team() -> tuple[Profile, ...]:
    """The seeded profiles, the chief first."""
    return tuple(_read_team())


def _read_team() -> Iterator[Profile]:
    for entry in yaml.safe_load((SEEDED / "team.yaml").read_text()):
        persona = (SEEDED / "personas" / f"{entry['name']}.md").read_text()
        yield Profile(
            name=entry["name"],
            title=entry["title"],
            skills=tuple(entry["skills"]),
            persona=persona.strip(),
        )
