"""What an answered approval sets in motion: a push that leaves, or a run that goes on."""

from guardrails.asking import Kind
from guardrails.models import Approval

from . import dispatch, pushing


def hear(approval: Approval) -> None:
    """Called in the transaction of the decision, and again by the sweep for one nobody heard.

    A yes to a push first lets the push leave; the run then hears how that went.
    """
    if approval.kind == Kind.PUSH:
        pushing.answer_push(approval)
    else:
        dispatch.answer(approval)
