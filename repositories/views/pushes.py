"""Push requests: the list, one of them, its diff in pages and whole."""

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

import live
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from .. import showing, topics
from ..models import PushRequest
from ..visibility import visible_pushes


@require_GET
@workspace_view(Role.GUEST)
def push_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    cursor = live.cursor(topics.repositories(workspace.pk))
    wanted = request.GET.get("state", "")
    rows = visible_pushes(request.membership)
    if wanted in PushRequest.State.values:
        rows = rows.filter(state=wanted)
    context = {
        "page": Paginator(rows, 50).get_page(request.GET.get("page")),
        "wanted": wanted,
        "wanted_query": f"state={wanted}" if wanted else "",
        "states": PushRequest.State.choices,
        "topic": topics.repositories(workspace.pk),
        "cursor": cursor,
    }
    is_part = bool(request.headers.get("HX-Request"))
    template = "repositories/_pushes.html" if is_part else "repositories/pushes.html"
    return render(request, template, context)


@require_GET
@workspace_view(Role.GUEST)
def push_show(request: MemberRequest, workspace: Workspace, push: UUID) -> HttpResponse:
    topic = topics.repositories(workspace.pk)
    cursor = live.cursor(topic)
    row = get_or_404(visible_pushes(request.membership), push)
    context = {"push_request": row, "topic": topic, "cursor": cursor}
    is_part = bool(request.headers.get("HX-Request"))
    template = "repositories/_push_page.html" if is_part else "repositories/push.html"
    return render(request, template, context)


@require_GET
@workspace_view(Role.GUEST)
def push_diff(request: MemberRequest, workspace: Workspace, push: UUID) -> HttpResponse:
    """The diff page by page; what is not on a page is said."""
    row = get_or_404(visible_pushes(request.membership), push)
    asked = request.GET.get("page", "1")
    page = showing.diff_page(row, int(asked) if asked.isdecimal() else 1)
    context = {"push_request": row, "shown": page}
    return render(request, "repositories/diff.html", context)


@require_GET
@workspace_view(Role.GUEST)
def push_diff_whole(request: MemberRequest, workspace: Workspace, push: UUID) -> HttpResponse:
    """The stored diff as a file to keep; it is never shown as a page."""
    row = get_or_404(visible_pushes(request.membership), push)
    name = f"push-{row.number}.diff"
    return HttpResponse(
        showing.diff_of(row),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
