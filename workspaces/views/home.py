"""The home of a workspace: what needs me, what works, what has finished."""

from datetime import timedelta

from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

import live
from guardrails.models import Approval
from runs import topics
from runs.models import Run
from spaces.visibility import visible_spaces

from ..access import MemberRequest, workspace_view
from ..models import ModelConnection, Role, Workspace


@require_GET
@workspace_view(Role.GUEST)
def home(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    cursor = live.cursor(topics.runs(workspace.pk))
    spaces = visible_spaces(request.membership)
    runs = Run.objects.filter(space__in=spaces).select_related(
        "agent__principal", "space", "conversation", "requested_by", "workspace"
    )
    week = runs.filter(queued_at__gt=timezone.now() - timedelta(days=7))
    waiting = Approval.objects.filter(state=Approval.State.PENDING, space__in=spaces)
    context = {
        "waiting": waiting.select_related("asked_by", "conversation")[:10],
        "waiting_count": waiting.count(),
        "working": runs.filter(state__in=Run.OPEN)[:10],
        "working_count": runs.filter(state__in=Run.OPEN).count(),
        "finished": runs.filter(state__in=Run.ENDED).order_by("-ended_at")[:10],
        "week_count": week.count(),
        "week_cents": (week.aggregate(cost=Sum("cost_microusd"))["cost"] or 0) / 10_000,
        "has_model": ModelConnection.objects.exists(),
        "has_space": spaces.exists(),
        "topic": topics.runs(workspace.pk),
        "cursor": cursor,
    }
    template = (
        "workspaces/_home.html" if request.headers.get("HX-Request") else "workspaces/home.html"
    )
    return render(request, template, context)
