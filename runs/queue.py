"""Ringing for a worker. The message is a doorbell: the run itself stands in PostgreSQL."""

from django.utils import timezone

from harness.seam import BUILT_IN_ADAPTER
from workspaces.background import enqueue

from . import broadcast
from .models import Run

EXECUTE = "runs.tasks.execute_run"


def ring(run: Run) -> None:
    """On commit a worker hears of the run. A lost ring is repeated by the recovery sweep."""
    Run.objects.filter(pk=run.pk).update(rung_at=timezone.now())
    queue = "runs" if run.adapter == BUILT_IN_ADAPTER else "cli"
    enqueue(EXECUTE, run.workspace_id, run.pk, queue=queue)


def requeue(run: Run) -> bool:
    """A parked run is queued again; False when it was not parked any more."""
    moved = Run.objects.filter(pk=run.pk, state=Run.State.PARKED).update(
        state=Run.State.QUEUED, waiting_for="", waiting_on=None
    )
    if moved:
        broadcast.state(run.pk, run.workspace_id)
        ring(run)
    return bool(moved)
