"""The roster, the org chart, and bringing agents in."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from runs import topics
from runs.live_state import with_live_state
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Membership, Role, Workspace

from .. import chart
from ..creating import create_draft
from ..models import Agent


@require_GET
@workspace_view()
def agent_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """People and agents in one list; agents by what needs attention first."""
    template = "agents/_roster.html" if request.headers.get("HX-Request") else "agents/list.html"
    return render(request, template, roster_context(request))


def roster_context(request: MemberRequest) -> dict[str, Any]:
    """What the list pane of the agents' pages is rendered from."""
    wanted = request.GET.get("q", "").strip().lower()
    agents = list(
        with_live_state(Agent.objects.select_related("principal", "reports_to"))
        .prefetch_related("skill_names")
        .order_by("live_order", "name", "created_at")
    )
    people = list(
        Membership.objects.select_related("principal", "user")
        .filter(is_active=True)
        .order_by("principal__handle")
    )
    if wanted:
        agents = [a for a in agents if wanted in f"{a.name} {a.title}".lower()]
        people = [m for m in people if wanted in f"{m.principal.handle} {m.user}".lower()]
    return {
        "agents": [a for a in agents if a.lifecycle != Agent.Lifecycle.ARCHIVED],
        "archived": [a for a in agents if a.lifecycle == Agent.Lifecycle.ARCHIVED],
        "people": people,
        "wanted": wanted,
        "is_seeding": request.workspace.seeded_at is None,
        "may_manage": request.membership.may(Role.ADMIN),
        "topic": topics.roster(request.workspace.pk),
    }


@require_POST
@workspace_view(Role.ADMIN)
def agent_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A nameless draft that its page then fills in."""
    return redirect("agents:agent-show", workspace.slug, create_draft(by=request.principal).pk)


@require_GET
@workspace_view()
def orgchart_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Everybody by whom they report to."""
    agents = with_live_state(Agent.objects.exclude(name="").select_related("principal")).exclude(
        lifecycle=Agent.Lifecycle.ARCHIVED
    )
    members = Membership.objects.select_related("principal", "user").filter(is_active=True)
    nodes = [
        *(chart.Person(m.principal_id, m.reports_to_id, m) for m in members),
        *(
            chart.Person(a.principal.pk, a.reports_to_id, a)
            for a in agents.order_by("name")
            if a.principal is not None
        ),
    ]
    context = {
        "roots": chart.drawn(chart.tree(nodes), lambda person: _card(person, workspace)),
        "count": len(nodes),
        "topic": topics.roster(workspace.pk),
        "is_seeding": workspace.seeded_at is None,
    }
    template = "agents/_chart.html" if request.headers.get("HX-Request") else "agents/chart.html"
    return render(request, template, context)


def _card(person: chart.Person, workspace: Workspace) -> dict[str, Any]:
    row = person.row
    if isinstance(row, Agent):
        return {
            "id": row.pk,
            "name": row.name,
            "kind": "agent",
            "title": row.title,
            "state": vars(row)["live_state"],
            "url": reverse("agents:agent-show", args=[workspace.slug, row.pk]),
        }
    return {
        "id": row.principal_id,
        "name": str(row.user),
        "kind": "member",
        "title": row.title or row.get_role_display(),
        "state": "active",
        "url": reverse("workspaces:member-list", args=[workspace.slug]),
    }
