"""The team that every workspace begins with: a CEO and four specialists who report to it."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from uuid import UUID

import yaml
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from live.publish import publish
from skills import seeded
from skills.lockfile import LockUnreadable
from skills.models import Skill
from workspaces.background import enqueue
from workspaces.members import create_workspace
from workspaces.models import Principal, User, Workspace
from workspaces.tenancy import across_workspaces, bind

from .creating import Profile, create

log = logging.getLogger(__name__)

SEEDED = Path(__file__).parent / "seeded"
CHIEF = "ceo"


def found_workspace(user: User, name: str) -> Workspace:
    """A new workspace with the user as owner; its team arrives in the background."""
    workspace = create_workspace(user, name)
    enqueue("agents.tasks.seed_workspace", workspace.id)
    return workspace


def seed(workspace_id: UUID) -> None:
    """The team stands in the workspace, with files and links. Safe to run twice, also at once."""
    seeded.judge_all()
    with bind(workspace_id):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"seed {workspace_id}"])
        seeded.put_all(workspace_id)
        chief: Principal | None = None
        for profile in team():
            agent, _is_new = create(replace(profile, reports_to=chief))
            chief = chief or agent.principal
        Workspace.objects.filter(pk=workspace_id).update(seeded_at=timezone.now())
        publish(f"w/{workspace_id}/roster", "seeded")


def sweep() -> int:
    """Seeds workspaces whose background task was lost, or whose seeded skills are from before these
    were scanned. Returns how many."""
    with across_workspaces():
        unscanned = Skill.objects.filter(ruleset=seeded.LEGACY).values("workspace_id")
        rows = Workspace.objects.filter(
            Q(seeded_at=None, created_at__lt=timezone.now() - timedelta(seconds=20))
            | Q(pk__in=unscanned)
        )
        late = list(rows.values_list("id", flat=True))
    for workspace_id in late:
        try:
            seed(workspace_id)
        except LockUnreadable:
            log.exception("the team of %s cannot be seeded", workspace_id)
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
