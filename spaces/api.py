"""Conversations for programs: beginning one with a chosen agent, and reading how it is bound."""

import json
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field

from agents.library.choosing import ChoiceError
from agents.library.definition import Dialect
from agents.models import Agent
from runs import beginning, dispatch
from runs.beginning import File, Wanted
from runs.bound import bound_of
from workspaces.access import MemberRequest, api_view, get_or_404
from workspaces.json_body import read
from workspaces.models import Role, Workspace
from workspaces.problem import Problem
from workspaces.sentences import translated

from .models import Conversation
from .visibility import visible_conversations, visible_spaces


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AgentFile(Shape):
    """A definition of its own; `dialect` is found out from the text when it is left out."""

    name: str = Field("agent.md", min_length=1, max_length=200)
    text: str
    dialect: str | None = None


class Beginning(Shape):
    """Whom to begin a conversation with. `agent` and `agent_file` exclude each other."""

    title: str = Field("", max_length=200)
    lead: str | None = None
    agent: str | None = Field(None, max_length=200)
    agent_file: AgentFile | None = None
    agents: dict[str, Any] | None = None
    joins: bool = False
    append_subagent_system_prompt: str = Field("", max_length=20_000)
    text: str | None = None


@api_view(Role.MEMBER)
def conversation_create(request: MemberRequest, workspace: Workspace, space: str) -> HttpResponse:
    """A conversation bound to its agent for life; with `text` its first message is said too."""
    row = get_object_or_404(visible_spaces(request.membership), slug=space)
    sent = read(request, Beginning)
    if sent.agent and sent.agent_file:
        raise Problem(400, "choice", _("Nothing was begun: give agent or agent_file, not both."))
    try:
        conversation = beginning.begin(
            row, by=request.principal, wanted=_wanted(sent), title=sent.title
        )
        if sent.text is not None:
            dispatch.post(conversation, author=request.principal, body=sent.text)
    except ChoiceError as error:
        raise Problem(
            422, "choice", translated(error.sentence), available=list(error.available)
        ) from None
    except ValidationError as error:
        raise Problem(
            422, "invalid", " ".join(error.messages), errors={"text": error.messages}
        ) from None
    conversation.refresh_from_db()
    answer = JsonResponse(_told(conversation), status=201)
    answer["Location"] = reverse(
        "spaces:api-conversation", args=[workspace.slug, row.slug, conversation.pk]
    )
    return answer


@api_view(Role.GUEST)
def conversation_read(
    request: MemberRequest, workspace: Workspace, space: str, conversation: UUID
) -> HttpResponse:
    rows = visible_conversations(request.membership).select_related("space", "agent")
    return JsonResponse(_told(get_or_404(rows, conversation, space__slug=space)))


def _wanted(sent: Beginning) -> Wanted:
    lead = Agent.objects.filter(name=sent.lead.lstrip("@").lower()).first() if sent.lead else None
    if sent.lead and lead is None:
        sentence = _("No agent of the roster is called @%(name)s.") % {"name": sent.lead}
        raise Problem(422, "invalid", sentence, errors={"lead": [sentence]})
    file = sent.agent_file
    if file is not None and file.dialect not in {None, *(each.value for each in Dialect)}:
        sentence = _("There is no such dialect.")
        raise Problem(422, "invalid", sentence, errors={"agent_file.dialect": [sentence]})
    return Wanted(
        lead=lead,
        agent=sent.agent or "",
        file=File(file.name, file.text, Dialect(file.dialect) if file.dialect else None)
        if file
        else None,
        agents=json.dumps(sent.agents) if sent.agents else "",
        joins=sent.joins,
        subagent_prompt=sent.append_subagent_system_prompt,
    )


def _told(row: Conversation) -> dict[str, Any]:
    bound = bound_of(row)
    return {
        "id": str(row.pk),
        "space": row.space.slug,
        "title": row.title,
        "lead": row.agent.name if row.agent else None,
        "agent": bound.name or None if bound else None,
        "dialect": bound.dialect or None if bound else None,
        "joins": bool(bound and bound.joins),
        "agents": list(json.loads(bound.session_agents)) if bound and bound.session_agents else [],
        "createdAt": row.created_at,
    }
