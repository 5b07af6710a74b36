"""Rows and directories of all agents side by side: take the file, or keep the row."""

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Principal, Role, Workspace

from .. import editing, mirror, taking
from ..forms import AgentForm
from ..models import Agent
from .agent import find, is_busy
from .roster import roster_context


@require_GET
@workspace_view()
def mirror_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """What differs between rows and directories, agent by agent."""
    found = mirror.drift_of_all(workspace.pk)
    by_agent: dict[UUID, list[mirror.Drift]] = {}
    for each in found:
        if each.agent is not None:
            by_agent.setdefault(each.agent.pk, []).append(each)
    context = roster_context(request) | {
        "differing": [
            {
                "agent": drifts[0].agent,
                "drift": drifts,
                "text": mirror.hand_edit(drifts[0].agent) if drifts[0].agent else None,
                "row": mirror.definition(drifts[0].agent) if drifts[0].agent else "",
            }
            for drifts in by_agent.values()
        ],
        "strays": [each.detail for each in found if each.agent is None],
    }
    return render(request, "agents/mirror.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def agent_heal(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """Keeps the row: the directory is written again from it."""
    row = get_or_404(Agent, agent)
    try:
        editing.heal(row, version=row.version, by=request.principal, over_file=True)
    except (editing.Conflict, OSError) as error:
        why = {"why": getattr(error, "strerror", None) or error}
        messages.error(request, _("It could not be written: %(why)s.") % why)
    else:
        messages.success(request, _("The directory is as the settings say."))
    return _back(request, workspace, agent)


@require_POST
@workspace_view(Role.ADMIN)
def agent_take_file(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """Takes the file: what stands in AGENTS.md becomes the row. All of it or nothing."""
    row = find(agent)
    try:
        taken = take_file(row, version=row.version, by=request.principal)
    except (ValidationError, editing.Busy, editing.Conflict, OSError) as error:
        reasons = " ".join(error.messages if isinstance(error, ValidationError) else [str(error)])
        messages.error(
            request, _("The file was not taken, nothing changed. %(why)s") % {"why": reasons}
        )
    else:
        if taken:
            messages.success(request, _("The settings are as AGENTS.md says."))
        else:
            messages.info(request, _("Row and file agree already."))
    return _back(request, workspace, agent)


def take_file(row: Agent, *, version: int, by: Principal) -> bool:
    """What stands in AGENTS.md is the row; False when they agree already.

    Raises ValidationError with what the settings page would refuse, Conflict, Busy, OSError; then
    nothing was changed, neither here nor there.
    """
    taken = taking.read(row)
    if taken is None:
        return False
    problems = [*taken.problems, *(_problems(row, taken) if taken.changes else [])]
    if problems:
        raise ValidationError(problems)
    editing.save(row, taken.changes, version=version, by=by, is_busy=is_busy, over_file=True)
    return True


def _problems(row: Agent, taken: taking.Taken) -> list[str]:
    """What the settings page would refuse: an adapter, model or effort that is not there."""
    values = {name: value for name, value in taken.changes.items() if value is not None}
    values["skills"] = ", ".join(values.get("skills", []))
    values |= {"version": row.version, "lifecycle": row.lifecycle}
    if superior := taken.changes.get("reports_to"):
        values["reports_to"] = superior.pk
    form = AgentForm(values, instance=row)
    return [f"{name}: {error}" for name, errors in form.errors.items() for error in errors]


def _back(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """To the page that asked, if it is one of ours."""
    place = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(place, allowed_hosts=None) and place.startswith("/w/"):
        return HttpResponseRedirect(place)
    return redirect("agents:agent-files", workspace.slug, agent)
