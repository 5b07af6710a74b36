"""The home of a workspace: what needs me, what works, what has finished."""

from datetime import timedelta
from typing import Any

from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

import live
from agents.models import Agent
from guardrails.models import Approval
from repositories.models import Repository
from runs import topics
from runs.live_state import say_who_waits, with_live_state
from runs.models import Run
from spaces.visibility import visible_spaces

from ..access import MemberRequest, workspace_view
from ..models import ModelConnection, Role, Workspace


@require_GET
@workspace_view(Role.GUEST)
def home(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    cursor = live.cursor(topics.runs(workspace.pk))
    spaces = visible_spaces(request.membership)
    every = Run.objects.filter(space__in=spaces)
    runs = every.filter(parent=None).select_related(
        "agent__principal", "space", "conversation", "requested_by", "workspace"
    )
    week = every.filter(queued_at__gt=timezone.now() - timedelta(days=7))
    waiting = Approval.objects.filter(state=Approval.State.PENDING, space__in=spaces)
    has_model = ModelConnection.objects.exists()
    sees_team = request.membership.role != Role.GUEST
    context = {
        "waiting": waiting.select_related("asked_by", "conversation")[:10],
        "waiting_count": waiting.count(),
        "working": runs.filter(state__in=Run.OPEN)[:10],
        "working_count": runs.filter(state__in=Run.OPEN).count(),
        "finished": runs.filter(state__in=Run.ENDED).order_by("-ended_at")[:10],
        "week_count": week.filter(parent=None).count(),
        "week_cents": (week.aggregate(cost=Sum("cost_microusd"))["cost"] or 0) / 10_000,
        "has_model": has_model,
        "has_space": spaces.exists(),
        "steps": _first_steps(has_model=has_model, has_space=spaces.exists()),
        "sees_team": sees_team,
        "team": _team() if sees_team else [],
        "is_seeding": workspace.seeded_at is None,
        "topic": topics.runs(workspace.pk),
        "cursor": cursor,
    }
    template = (
        "workspaces/_home.html" if request.headers.get("HX-Request") else "workspaces/home.html"
    )
    return render(request, template, context)


def _first_steps(*, has_model: bool, has_space: bool) -> list[dict[str, Any]]:
    """What is left until an agent can work in a checkout; empty when all is done."""
    done = [has_model, Repository.objects.exists(), has_space]
    words = [_("Connect a model"), _("Add a repository"), _("Open a space")]
    if all(done):
        return []
    return [
        {"word": word, "done": is_done, "current": index == done.index(False)}
        for index, (word, is_done) in enumerate(zip(words, done, strict=True))
    ]


def _team() -> list[Any]:
    """The first of the agents, the busy ones before the others."""
    named = Agent.objects.filter(lifecycle=Agent.Lifecycle.ACTIVE).exclude(name="")
    rows: list[Any] = list(with_live_state(named).order_by("live_order", "name")[:8])
    say_who_waits(rows)
    return rows
