"""Changing an agent: one save of all fields, refused when somebody saved meanwhile."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from live.publish import publish
from workspaces import audit
from workspaces.models import Principal
from workspaces.tenancy import bind

from . import mirror, reporting
from .creating import claim_handle, hold_skills, require_free, tidy
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
    "unknown_keys",
)
TEXTS = ("persona", "system_prompt")
NOT_CLEANED = ["workspace", "principal", "reports_to"]


@dataclass
class Conflict(RuntimeError):
    """Somebody saved the agent since the form was opened; nothing was written."""

    agent: Agent

    def __str__(self) -> str:
        return _("Somebody else saved this agent while you were editing it.")


@dataclass
class HandEdited(RuntimeError):
    """Somebody edited the agent's file on disk, to this text; nothing was written."""

    agent: Agent
    text: str

    def __str__(self) -> str:
        return _("AGENTS.md of @%(name)s was edited by hand.") % {"name": self.agent.name}


class Busy(RuntimeError):
    """The agent works, so its directory can neither move nor go."""


def save(
    agent: Agent,
    changes: dict[str, Any],
    *,
    version: int,
    by: Principal,
    is_busy: Callable[[Agent], bool],
    over_file: bool = False,
) -> Agent:
    """Row, file and links hold the changes. `changes` maps names of FIELDS and `skills` to values.

    Raises Conflict, HandEdited unless `over_file`, Busy for a new name during a run,
    ValidationError for a value that cannot be. Then nothing was written, neither here nor there.
    """
    with bind(agent.workspace_id):
        row = _locked(agent, version=version)
        if not over_file and (text := mirror.hand_edit(row)) is not None:
            raise HandEdited(row, text)
        old_name = row.name
        for name in FIELDS:
            if name in changes:
                value = changes[name]
                setattr(row, name, tidy(value) if name in TEXTS else value)
        row.clean_fields(exclude=NOT_CLEANED)
        _rename(row, old_name, is_busy=is_busy)
        if "reports_to" in changes and row.principal is not None:
            reporting.require_acyclic(row.principal, under=row.reports_to)
        row.version += 1
        row.save()
        _show_as(row)
        if "skills" in changes:
            hold_skills(row, changes["skills"])
        row = Agent.objects.select_related("reports_to", "principal").get(pk=row.pk)
        _mirror(row, old_name)
        audit.record("agent.edit", actor=by, subject=str(row), detail={"fields": sorted(changes)})
        publish(f"w/{row.workspace_id}/roster", "changed", data={"agent": str(row.pk)})
    return row


def heal(agent: Agent, *, version: int, by: Principal, over_file: bool = False) -> Agent:
    """Keeps the row: directory, file and links stand as it says, and its version stays.

    Raises Conflict, and HandEdited unless `over_file`. Then nothing was written.
    """
    with bind(agent.workspace_id):
        row = _locked(agent, version=version)
        if not over_file and (text := mirror.hand_edit(row)) is not None:
            raise HandEdited(row, text)
        mirror.write(row)
        audit.record("agent.heal", actor=by, subject=str(row))
    return row


def _locked(agent: Agent, *, version: int) -> Agent:
    row: Agent = Agent.objects.select_for_update().get(pk=agent.pk)
    if row.version != version:
        raise Conflict(row)
    return row


def _rename(row: Agent, old_name: str, *, is_busy: Callable[[Agent], bool]) -> None:
    if row.name == old_name:
        return
    if not row.name:
        raise ValidationError({"name": _("An agent that had a name keeps one.")})
    if not old_name:
        row.principal = claim_handle(row.name, shown=row.title or row.name)
        return
    if is_busy(row):
        raise Busy(
            _("@%(name)s is at work; rename it when its run has ended.") % {"name": old_name}
        )
    assert row.principal is not None, "a named agent has a principal"
    require_free(row.name, but=row.principal)
    try:
        with transaction.atomic():
            Principal.objects.filter(pk=row.principal.pk).update(handle=row.name)
    except IntegrityError as error:
        sentence = _("Somebody in this workspace is already called that.")
        raise ValidationError({"name": sentence}) from error


def _show_as(row: Agent) -> None:
    shown = row.title or row.name
    if row.principal is not None and row.principal.name != shown:
        Principal.objects.filter(pk=row.principal.pk).update(name=shown)


def _mirror(row: Agent, old_name: str) -> None:
    """The directory as the row says; after a new name also the files that name it."""
    if not old_name or old_name == row.name:
        mirror.write(row)
        return
    below = Agent.objects.filter(reports_to=row.principal).prefetch_related("skill_names")
    mirror.move(row, old_name=old_name)
    for agent in below:
        agent.reports_to = row.principal
        mirror.write(agent)


def set_lifecycle(agents: Iterable[Agent], lifecycle: str, *, by: Principal) -> dict[str, str]:
    """Pauses, archives or activates. Returns what each one that changed was, by its id."""
    before: dict[str, str] = {}
    for agent in agents:
        row = Agent.objects.select_for_update().get(pk=agent.pk)
        if row.lifecycle == lifecycle:
            continue
        before[str(row.pk)] = row.lifecycle
        row.lifecycle, row.version = lifecycle, row.version + 1
        row.save(update_fields=["lifecycle", "version", "updated_at"])
        audit.record(f"agent.{lifecycle}", actor=by, subject=str(row))
    if before:
        publish(f"w/{by.workspace_id}/roster", "changed", data={})
    return before


def delete(agent: Agent, *, by: Principal, is_busy: Callable[[Agent], bool]) -> None:
    """The agent, its runs and its directory are gone; its messages keep their author.

    Who reported to it reports to the one above it; its name is free again. Raises Busy.
    """
    with bind(agent.workspace_id):
        row = Agent.objects.select_for_update().filter(pk=agent.pk).first()
        if row is None:
            return
        if is_busy(row):
            raise Busy(_("@%(name)s is at work. Stop its runs first, or pause it.") % {"name": row})
        principal = row.principal
        if principal is not None:
            reporting.pass_up(principal, to=row.reports_to)
        mirror.remove(row)
        audit.record("agent.delete", actor=by, subject=str(row))
        row.delete()
        if principal is not None:
            principal.participations.all().delete()
            # The name is free again; what it wrote still says who wrote it.
            free = f"{principal.handle[:50]}-{principal.pk.hex[-12:]}"
            Principal.objects.filter(pk=principal.pk).update(handle=free, removed_at=timezone.now())
        publish(f"w/{by.workspace_id}/roster", "changed", data={})
