"""What an ended run still holds open: its approvals and its held pushes."""

from uuid import UUID

from guardrails import approvals
from repositories import push_requests


def release_claims(run_id: UUID) -> None:
    """Open approvals of the run are cancelled, and so are pushes that wait for them."""
    approvals.cancel_for_run(run_id)
    push_requests.cancel_for_run(run_id)
