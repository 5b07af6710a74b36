"""Whom one can mention, as the composer completes it: people, agents, and subagents by name."""

from typing import Any
from uuid import UUID

from django.http import JsonResponse
from django.views.decorators.http import require_GET

from agents.library.places import Scope
from agents.library.scopes import SCOPE_WORDS, Entry
from agents.models import Agent
from runs import beginning
from runs.catalog import session_agents
from runs.live_state import LiveState, with_live_state
from runs.nursery import MAIN
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Principal, Role, Workspace
from workspaces.sentences import translated

from ..visibility import visible_conversations

LONGEST_TITLE = 120


@require_GET
@workspace_view(Role.GUEST)
def mention_list(request: MemberRequest, workspace: Workspace) -> JsonResponse:
    """Everybody here; with `conversation` also the subagents that can be called there."""
    found = _principals()
    if key := request.GET.get("conversation", ""):
        found += _subagents(request, key)
    return JsonResponse(found, safe=False)


def _principals() -> list[dict[str, Any]]:
    people = Principal.objects.filter(removed_at=None)
    agents = with_live_state(Agent.objects.exclude(name=""))
    states = {agent.principal_id: agent for agent in agents}
    words = {key: vars(agent)["live_state"] for key, agent in states.items()}
    return [
        {
            "handle": each.handle,
            "name": each.name,
            "kind": each.kind,
            "title": states[each.pk].title if each.pk in states else each.name,
            "state": words.get(each.pk, ""),
            "word": LiveState(words[each.pk]).label if each.pk in words else "",
        }
        for each in people
    ]


def _subagents(request: MemberRequest, key: str) -> list[dict[str, Any]]:
    """By `agent-<name>`, a package's under its scoped name. What leads nothing is left out."""
    rows = visible_conversations(request.membership).select_related("space", "created_by", "agent")
    conversation = get_or_404(rows, _uuid(key))
    founder = conversation.created_by
    if founder is None or founder.is_agent:
        return []
    own = session_agents(conversation)
    library = beginning.choices(conversation.space, by=founder, session=own)
    named = sorted(library.by_name.items(), key=lambda each: (_is_builtin(each[1]), each[0]))
    return [_subagent(name, entry) for name, entry in named if _is_callable(name, entry)]


def _is_callable(name: str, entry: Entry) -> bool:
    is_main = name == MAIN and _is_builtin(entry)
    return name == entry.name and not is_main and not entry.definition.executor


def _is_builtin(entry: Entry) -> bool:
    return entry.found.place.scope is Scope.BUILTIN


def _subagent(name: str, entry: Entry) -> dict[str, Any]:
    return {
        "handle": f"agent-{name}",
        "name": name,
        "kind": "definition",
        "glyph": "file-text",
        "title": " ".join(entry.definition.description.split())[:LONGEST_TITLE],
        "state": "",
        "word": translated(SCOPE_WORDS[entry.found.place.scope]),
    }


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)
