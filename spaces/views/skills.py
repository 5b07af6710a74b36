"""Skills in a conversation: what the composer offers, and which repository an agent works in."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from agents.models import Agent
from repositories import active, skill_names, skill_showing
from repositories.models import Repository
from workspaces import saying
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from ..models import Conversation
from ..visibility import visible_conversations


@require_GET
@workspace_view(Role.MEMBER)
def skill_list(
    request: MemberRequest, workspace: Workspace, space: str, conversation: UUID
) -> HttpResponse:
    """What can be named behind `/skill:` in this conversation."""
    known = skill_names.offered(_conversation(request, conversation))
    rows = [one for one in skill_showing.choices(known) if one.pop("can")]
    return JsonResponse(rows, safe=False)


@require_POST
@workspace_view(Role.MEMBER)
def active_choose(
    request: MemberRequest, workspace: Workspace, space: str, conversation: UUID
) -> HttpResponse:
    """The agent works in that repository; it carries its skills from its next turn on."""
    row = _conversation(request, conversation)
    agent = get_or_404(Agent.objects.exclude(name=""), _key(request.POST.get("agent", "")))
    try:
        active.choose(row, agent, request.POST.get("repository", ""), by=request.principal)
    except Repository.DoesNotExist:
        words = _("This space has no such repository any more. Reload the page.")
        return saying.refusal(words, status=409)
    return HttpResponse(status=204)


def now(conversation: Conversation) -> dict[str, Any]:
    """What the page shows of it: who works where, and what is withheld."""
    repositories = active.linked(conversation)
    if not repositories:
        return {"working_places": [], "skill_panels": [], "repositories": []}
    known = skill_names.offered(conversation)
    return {
        "working_places": skill_showing.working_places(conversation, repositories),
        "skill_panels": skill_showing.panels(known, repositories),
        "repositories": repositories,
    }


def _conversation(request: MemberRequest, key: UUID) -> Conversation:
    rows = visible_conversations(request.membership).select_related("space", "agent")
    return get_or_404(rows, key)


def _key(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)
