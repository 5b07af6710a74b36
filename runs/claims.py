"""What an ended run still holds open: its approvals and its held pushes."""

from guardrails import approvals
from repositories import push_requests

from .models import Run


def release_claims(run: Run) -> None:
    """Open approvals of the run are cancelled, and so are pushes that wait for them."""
    approvals.cancel_for_run(run.pk)
    push_requests.cancel_for_run(run.pk)
