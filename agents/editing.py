"""Changing an agent: one save of all fields, refused when somebody saved meanwhile."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from live.publish import publish
from workspaces import audit
from workspaces.models import Membership, Principal

from . import mirror
from .creating import claim_handle, hold_skills
from .models import Agent

FIELDS = (
    "name",
    "title",
    "persona",
    "system_prompt",
    "adapter_id",
    "model_id",
    "effort",
    "context_size",
    "silence_timeout_minutes",
    "reports_to",
    "lifecycle",
)
MOST_DEPTH = 1000


@dataclass
class Conflict(RuntimeError):
    """Somebody saved the agent since the form was opened; nothing was written."""

    agent: Agent

    def __str__(self) -> str:
        return _("Somebody else saved this agent while you were editing it.")


class Busy(RuntimeError):
    """The agent works, so its directory cannot move."""


def save(
    agent: Agent, changes: dict[str, Any], *, version: int, by: Principal, is_busy: bool
) -> Agent:
    """Row, file and links hold the changes. `changes` maps names of FIELDS and `skills` to values.

    Raises Conflict, Busy for a new name during a run, ValidationError for a value that cannot be.
    """
    row = Agent.objects.select_for_update().get(pk=agent.pk)
    if row.version != version:
        raise Conflict(row)
    old_name, skills = row.name, changes.pop("skills", None)
    for name in FIELDS:
        if name in changes:
            setattr(row, name, changes[name])
    _rename(row, old_name, is_busy=is_busy)
    if "reports_to" in changes:
        require_acyclic(row)
    row.full_clean(exclude=["workspace", "principal", "reports_to"])
    row.version += 1
    row.save()
    if row.principal is not None and row.principal.name != (row.title or row.name):
        Principal.objects.filter(pk=row.principal.pk).update(name=row.title or row.name)
    if skills is not None:
        hold_skills(row, skills)
    row = Agent.objects.prefetch_related("skill_names").get(pk=row.pk)
    if old_name and old_name != row.name:
        mirror.move(row, old_name=old_name)
    else:
        mirror.write(row)
    audit.record("agent.edit", actor=by, subject=str(row), detail={"fields": sorted(changes)})
    publish(f"w/{row.workspace_id}/roster", "changed", data={"agent": str(row.pk)})
    return row


def _rename(row: Agent, old_name: str, *, is_busy: bool) -> None:
    if row.name == old_name:
        return
    if not row.name:
        raise ValidationError({"name": _("An agent that had a name keeps one.")})
    if not old_name:
        row.clean_fields(exclude=["workspace", "principal", "reports_to"])
        row.principal = claim_handle(row.name, shown=row.title or row.name)
        return
    if is_busy:
        raise Busy(
            _("@%(name)s is at work; rename it when its run has ended.") % {"name": old_name}
        )
    assert row.principal is not None, "a named agent has a principal"
    taken = Principal.objects.filter(handle__iexact=row.name).exclude(pk=row.principal.pk)
    if taken.exists():
        raise ValidationError({"name": _("Somebody in this workspace is already called that.")})
    Principal.objects.filter(pk=row.principal.pk).update(handle=row.name)


def require_acyclic(row: Agent) -> None:
    """Raises ValidationError when the agent would report to itself, over however many steps.

    Moves in one workspace are made one after the other, so two at once cannot close a circle.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"chain {row.workspace_id}"])
    above, steps = row.reports_to_id, 0
    chain = dict(Agent.objects.exclude(principal=None).values_list("principal_id", "reports_to_id"))
    chain |= dict(Membership.objects.values_list("principal_id", "reports_to_id"))
    while above is not None and steps < MOST_DEPTH:
        if above == row.principal_id:
            raise ValidationError(
                {"reports_to": _("That would make the agent its own superior in the end.")}
            )
        above, steps = chain.get(above), steps + 1


def delete(agent: Agent, *, by: Principal) -> None:
    """The agent, its runs and its directory are gone; its messages keep their author's name."""
    principal = agent.principal
    mirror.remove(agent)
    audit.record("agent.delete", actor=by, subject=str(agent))
    agent.delete()
    if principal is not None:
        # The name is free again; what it wrote still says who wrote it.
        Principal.objects.filter(pk=principal.pk).update(
            handle=f"{principal.handle[:50]}-{principal.pk.hex[-12:]}", removed_at=timezone.now()
        )
    publish(f"w/{by.workspace_id}/roster", "changed", data={})
