"""The order in which rows are locked, so that acts on one run wait for each other and end.

conversation → open approvals → push requests → the run → its cursor. Whoever needs two of them
takes them in this order; who only needs the run takes the run. A reader is never kept waiting,
nor is a row that refers to a locked one.
"""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from guardrails.models import Approval
from repositories.models import PushRequest
from spaces.models import Conversation

from .models import Run


def hold_conversation(conversation_id: UUID) -> None:
    """Until the transaction ends nobody else says anything in the conversation."""
    _hold(Conversation.objects.filter(pk=conversation_id))


def hold(run_id: UUID) -> Run | None:
    """The run as it is now; until the transaction ends its state stays. None when it is gone."""
    rows = Run.objects.filter(pk=run_id).select_for_update(of=("self",), no_key=True)
    row: Run | None = rows.select_related("agent", "space", "conversation").first()
    return row


def hold_with_claims(run_id: UUID) -> Run | None:
    """The same for a run that may end: what it has asked for and wants to push stays too."""
    _hold(Approval.objects.pending().filter(run_id=run_id))
    _hold(PushRequest.objects.open().filter(run_id=run_id))
    return hold(run_id)


def _hold(rows: QuerySet[Any]) -> None:
    list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
