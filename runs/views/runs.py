"""Runs: the list, one run, its transcript, and what a member can do to it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

import live
from spaces.visibility import visible_spaces
from workspaces import saying
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from .. import dispatch, topics, window
from ..adapters import capabilities_of
from ..models import Run

MOST_DIGITS = 19


@require_GET
@workspace_view()
def run_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """What works now on top, then what has ended, the newest first."""
    cursor = live.cursor(topics.runs(workspace.pk))
    wanted = request.GET.get("state", "")
    runs = _visible(request).filter(parent=None).order_by("-queued_at", "-id")
    is_of_one_state = wanted in Run.State.values
    listed = runs.filter(state=wanted) if is_of_one_state else runs.filter(state__in=Run.ENDED)
    page = Paginator(listed, 50).get_page(request.GET.get("page"))
    working = [] if is_of_one_state or page.number > 1 else runs.filter(state__in=Run.OPEN)[:200]
    context = {
        "page": page,
        "rows": [*working, *page],
        "wanted": wanted,
        "wanted_query": f"state={wanted}" if wanted else "",
        "states": Run.State.choices,
        "table_url": request.path,
        "topic": topics.runs(workspace.pk),
        "cursor": cursor,
    }
    template = "runs/_table.html" if request.headers.get("HX-Request") else "runs/list.html"
    return render(request, template, context)


@require_GET
@workspace_view(Role.GUEST)
def run_show(request: MemberRequest, workspace: Workspace, run: UUID) -> HttpResponse:
    row = get_or_404(_shown(request), run)
    context = window.context(row, window.read(row.pk)) | {
        "capabilities": capabilities_of(row.adapter),
        "children": row.children.select_related("agent", "subagent").order_by("queued_at"),
        "spent": _with_children(row),
    }
    return render(request, "runs/show.html", context)


@require_GET
@workspace_view(Role.GUEST)
def run_transcript(request: MemberRequest, workspace: Workspace, run: UUID) -> HttpResponse:
    """The run's fragment as it is now, for a tab that missed something; or an earlier window."""
    row = get_or_404(_shown(request), run)
    asked = request.GET.get("before", "")
    before = int(asked) if asked.isdecimal() and len(asked) < MOST_DIGITS else 0
    template = "runs/_entries.html" if before else "runs/_run.html"
    return render(request, template, window.context(row, window.read(row.pk, before=before)))


@require_POST
@workspace_view(Role.MEMBER)
def run_stop(request: MemberRequest, workspace: Workspace, run: UUID) -> HttpResponse:
    return _act(request, run, lambda row: dispatch.stop(row, by=request.principal))


@require_POST
@workspace_view(Role.MEMBER)
def run_pause(request: MemberRequest, workspace: Workspace, run: UUID) -> HttpResponse:
    return _act(request, run, lambda row: dispatch.pause(row, by=request.principal))


@require_POST
@workspace_view(Role.MEMBER)
def run_resume(request: MemberRequest, workspace: Workspace, run: UUID) -> HttpResponse:
    return _act(request, run, lambda row: dispatch.resume(row, by=request.principal))


@require_POST
@workspace_view(Role.MEMBER)
def run_steer(request: MemberRequest, workspace: Workspace, run: UUID) -> HttpResponse:
    text = request.POST.get("text", "")
    return _act(request, run, lambda row: dispatch.steer(row, text=text, by=request.principal))


def _with_children(run: Run) -> dict[str, float]:
    """What the run and all the subagents below it took."""
    tokens, cost, level = run.all_tokens, run.cost_microusd, [run.pk]
    while level:
        below = list(Run.objects.filter(parent__in=level))
        tokens += sum(each.all_tokens for each in below)
        cost += sum(each.cost_microusd for each in below)
        level = [each.pk for each in below]
    return {"tokens": tokens, "cents": cost / 10_000}


def _visible(request: MemberRequest) -> Any:
    return Run.objects.filter(space__in=visible_spaces(request.membership)).select_related(
        "agent__principal", "space", "conversation", "requested_by", "subagent"
    )


def _shown(request: MemberRequest) -> QuerySet[Run]:
    return window.shown_runs().filter(space__in=visible_spaces(request.membership))


def _act(request: MemberRequest, key: UUID, act: Callable[[Run], None]) -> HttpResponse:
    """Does it and answers with the run's head; a refusal says why and changes nothing."""
    row = get_or_404(_visible(request), key)
    try:
        act(row)
    except dispatch.CannotDo as refusal:
        return saying.refusal(str(refusal), status=409)
    except ValidationError as error:
        return saying.refusal(error.messages[0], status=422)
    row = _visible(request).get(pk=key)
    return render(request, "runs/_run_state.html", {"run": row})
