"""One agent: settings, runs, files, deletion."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from runs.adapters import capabilities_of, registry
from runs.live_state import with_live_state
from runs.models import Run
from spaces.visibility import visible_spaces
from workspaces.access import MemberRequest, get_or_404, require, workspace_view
from workspaces.models import Role, Workspace

from .. import editing, mirror
from ..forms import AgentForm
from ..models import Agent
from .roster import roster_context


@require_http_methods(["GET", "POST"])
@workspace_view()
def agent_show(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The settings of an agent. A POST saves all of them at once."""
    row = _agent(agent)
    form = AgentForm(request.POST or None, instance=Agent.objects.get(pk=row.pk))
    context = _page(request, row, "settings") | {"form": form}
    if request.method != "POST":
        return render(request, "agents/settings.html", context)
    require(request.membership, Role.ADMIN)
    if not form.is_valid():
        return render(request, "agents/settings.html", context, status=422)
    try:
        saved = editing.save(
            row,
            _changes(form),
            version=form.cleaned_data["version"],
            by=request.principal,
            is_busy=is_busy,
        )
    except editing.Conflict as conflict:
        context["conflict"] = _difference(form, conflict.agent)
        return render(request, "agents/settings.html", context, status=409)
    except editing.Busy as busy:
        form.add_error("name", str(busy))
        return render(request, "agents/settings.html", context, status=409)
    except ValidationError as error:
        form.add_error(None, error)
        return render(request, "agents/settings.html", context, status=422)
    messages.success(request, _("%(agent)s is saved.") % {"agent": saved})
    return redirect("agents:agent-show", workspace.slug, row.pk)


@require_GET
@workspace_view()
def agent_runs(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    row = _agent(agent)
    runs = row.runs.filter(space__in=visible_spaces(request.membership)).select_related(
        "space", "conversation", "requested_by", "agent__principal"
    )
    context = _page(request, row, "runs") | {
        "page": Paginator(runs, 50).get_page(request.GET.get("page"))
    }
    return render(request, "agents/runs.html", context)


@require_GET
@workspace_view()
def agent_files(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The agent's directory as the row says it is, and what differs on disk."""
    row = _agent(agent)
    context = _page(request, row, "files")
    if not row.is_draft:
        context |= {"definition": mirror.definition(row), "drift": mirror.drift(row)}
    return render(request, "agents/files.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def agent_heal(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The directory is written again from the row."""
    mirror.write(_agent(agent))
    messages.success(request, _("The directory is as the settings say."))
    return redirect("agents:agent-files", workspace.slug, agent)


@require_POST
@workspace_view(Role.ADMIN)
def agent_delete(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    row = Agent.objects.filter(pk=agent).select_related("principal").first()
    if row is None:
        return redirect("agents:agent-list", workspace.slug)
    try:
        editing.delete(row, by=request.principal, is_busy=is_busy)
    except editing.Busy as busy:
        messages.error(request, str(busy))
        return redirect("agents:agent-show", workspace.slug, agent)
    messages.success(request, _("%(agent)s is deleted.") % {"agent": row})
    return redirect("agents:agent-list", workspace.slug)


def is_busy(agent: Agent) -> bool:
    """Whether a run of the agent is queued, at work or waiting."""
    return Run.objects.filter(agent=agent, state__in=Run.OPEN).exists()


def _agent(key: UUID) -> Agent:
    rows: Any = with_live_state(Agent.objects.select_related("principal", "reports_to"))
    found: Agent = get_or_404(rows.prefetch_related("skill_names"), key)
    return found


def _page(request: MemberRequest, row: Agent, tab: str) -> dict[str, Any]:
    return roster_context(request) | {
        "agent": row,
        "tab": tab,
        "capabilities": capabilities_of(row.adapter),
        "adapters": registry(),
    }


def _changes(form: AgentForm) -> dict[str, Any]:
    data = form.cleaned_data
    return {name: data[name] for name in (*editing.FIELDS, "skills") if name in data}


def _difference(form: AgentForm, stored: Agent) -> list[dict[str, Any]]:
    """Field by field what the other one saved, beside what this form says."""
    theirs = AgentForm(instance=stored)
    found = []
    for name in form.changed_data:
        if name == "version":
            continue
        value = theirs[name].value()
        if value != form[name].value():
            found.append({"label": form[name].label, "theirs": value, "yours": form[name].value()})
    return [*found, {"version": stored.version}]
