"""The list pane of the spaces: each space with what happens in it."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from runs.models import Run
from workspaces.models import Membership

from ..models import Conversation, Space
from ..visibility import visible_spaces

NEEDS_SOMEBODY = {"waiting", "asking"}


def rail_of_spaces(membership: Membership) -> list[Space]:
    """The visible spaces, each with its newest conversation and how that stands."""
    newest = Conversation.objects.filter(space=OuterRef("pk"), archived_at=None).order_by(
        "-last_message_at"
    )
    rows: Any = (
        visible_spaces(membership)
        .filter(archived_at=None)
        .annotate(
            newest_id=Subquery(newest.values("pk")[:1]),
            newest_title=Subquery(newest.values("title")[:1]),
            last_message_at=Subquery(newest.values("last_message_at")[:1]),
        )
        .order_by("name")
    )
    spaces = list(rows)
    states = states_of(space.newest_id for space in spaces if space.newest_id)
    for space in spaces:
        space.shown_state = states.get(space.newest_id, "")
    return spaces


def with_states(conversations: Iterable[Conversation]) -> list[Conversation]:
    """The conversations, each with `shown_state`: running, what it waits for, or nothing."""
    found: list[Any] = list(conversations)
    states = states_of(each.pk for each in found)
    for each in found:
        each.shown_state = states.get(each.pk, "")
    return found


def states_of(conversations: Iterable[UUID]) -> dict[UUID, str]:
    """What the open runs of these conversations do; one that waits for a person wins."""
    states: dict[UUID, str] = {}
    open_runs = Run.objects.filter(conversation__in=list(conversations), state__in=Run.OPEN)
    for run in open_runs.only("conversation_id", "state", "waiting_for"):
        word = run.shown_state if run.shown_state in NEEDS_SOMEBODY else "running"
        if states.get(run.conversation_id) not in NEEDS_SOMEBODY:
            states[run.conversation_id] = word
    return states
