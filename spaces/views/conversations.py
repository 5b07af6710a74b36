"""A conversation: its page, its timeline, what is said in it."""

import json
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

import live
from agents.models import Agent
from guardrails.models import Autonomy
from repositories.models import SpaceRepository
from runs import dispatch, timeline
from runs import topics as run_topics
from runs.bound import bound_of
from runs.live_state import with_live_state
from workspaces import saying
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Principal, Role, Workspace

from .. import topics
from ..mentions import unborne
from ..models import Conversation, Message, Space
from ..visibility import visible_conversations
from . import commands, skills
from .overview import rail_of_spaces, with_states

MOST_NAMES = 5


@require_GET
@workspace_view(Role.GUEST)
def conversation_show(
    request: MemberRequest, workspace: Workspace, space: str, conversation: UUID
) -> HttpResponse:
    row = _conversation(request, conversation)
    cursor = live.cursor(topics.conversation(workspace.pk, row.pk))
    runs_cursor = live.cursor(run_topics.runs(workspace.pk))
    now = _now(request, row)
    context = {
        "runs_cursor": runs_cursor,
        **now,
        "topic": topics.conversation(workspace.pk, row.pk),
        "cursor": cursor,
        "mentions_url": f"{reverse('spaces:mention-list', args=[workspace.slug])}"
        f"?conversation={row.pk}",
        **_context_pane(row.space, now["participants"]),
    }
    return render(request, "spaces/conversation.html", context)


@require_GET
@workspace_view(Role.GUEST)
def conversation_now(
    request: MemberRequest, workspace: Workspace, space: str, conversation: UUID
) -> HttpResponse:
    """What of the page changes beside its timeline: title, list, runs, files, buttons."""
    return render(request, "spaces/_now.html", _now(request, _conversation(request, conversation)))


@require_GET
@workspace_view(Role.GUEST)
def conversation_timeline(
    request: MemberRequest, workspace: Workspace, space: str, conversation: UUID
) -> HttpResponse:
    """A page of the timeline: before a message number, or everything anew for a tab that missed."""
    row = _conversation(request, conversation)
    cursor = live.cursor(topics.conversation(workspace.pk, row.pk))
    before = request.GET.get("before", "")
    page = timeline.read(row, before=int(before) if before.isdecimal() else 0)
    context = {"conversation": row, "space": row.space, "timeline": page}
    template = "spaces/_items.html" if before else "spaces/_timeline.html"
    answer = render(request, template, context)
    answer.headers["Live-Cursor"] = cursor
    return answer


@require_POST
@workspace_view(Role.MEMBER)
def message_post(
    request: MemberRequest, workspace: Workspace, space: str, conversation: UUID
) -> HttpResponse:
    """Says it; each page hears of it by its socket. A refused text stays in its field."""
    row = _conversation(request, conversation)
    if answer := commands.page_of(request, request.POST.get("text", "")):
        return answer
    try:
        message, _runs = dispatch.post(
            row,
            author=request.principal,
            body=request.POST.get("text", ""),
            client_key=_client_key(request.POST.get("client_key", "")),
        )
    except ValidationError as error:
        return saying.refusal(error.messages[0], status=422)
    if request.headers.get("HX-Request"):
        return _sent(message)
    return redirect("spaces:conversation-show", workspace.slug, row.space.slug, row.pk)


def _sent(message: Message) -> HttpResponse:
    """Nothing to show; who wrote a name that nobody bears is told."""
    answer = HttpResponse(status=204)
    names = unborne(message.body, message.handles)
    if names:
        shown = ", ".join(f"@{name}" for name in names[:MOST_NAMES])
        text = _("Sent, but nobody here is called %(names)s.") % {"names": shown}
        answer["HX-Trigger"] = json.dumps({"toast": {"text": text, "tone": "blocked"}})
    return answer


def _now(request: MemberRequest, row: Conversation) -> dict[str, Any]:
    page = timeline.read(row)
    runs = [item.run for item in page.items if item.run]
    working = [run["run"] for run in runs if run["run"].is_open]
    stop = [request.workspace.slug, working[0].pk] if len(working) == 1 else None
    return {
        "space": row.space,
        "conversation": row,
        "conversations": with_states(row.space.conversations.filter(archived_at=None)[:50]),
        "spaces": rail_of_spaces(request.membership),
        "timeline": page,
        "changes": timeline.changes([*runs, *timeline.below(runs)]),
        "working": working,
        "stop_url": reverse("runs:run-stop", args=stop) if stop else "",
        "may_write": request.membership.may(Role.MEMBER),
        "participants": _participants(row.space),
        **skills.now(row),
        "bound": bound_of(row),
    }


def _conversation(request: MemberRequest, key: UUID) -> Conversation:
    rows = visible_conversations(request.membership).select_related("space", "agent")
    return get_or_404(rows, key)


def _client_key(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _participants(space: Space) -> list[Principal]:
    rows = space.participants.select_related("principal").order_by("joined_at")
    return [row.principal for row in rows]


def _context_pane(space: Space, participants: list[Principal]) -> dict[str, object]:
    agents = with_live_state(Agent.objects.filter(principal__in=participants))
    levels = dict(Autonomy.objects.filter(space=space).values_list("agent_id", "level"))
    return {
        "space_agents": [
            {"agent": agent, "autonomy": levels.get(agent.pk, "act_with_approval")}
            for agent in agents.order_by("live_order", "name")
        ],
        "space_repositories": [
            row.repository
            for row in SpaceRepository.objects.filter(space=space).select_related("repository")
        ],
    }
