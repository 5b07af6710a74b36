"""Finding what was left behind: lost rings, dead workers, silent runs, unheard decisions.

Called by the scheduler's tick. Each step looks across all workspaces for ids only and then works
inside one workspace at a time; a row that cannot be mended never keeps the next from it.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from guardrails.models import Approval
from harness import events
from workspaces.tenancy import across_workspaces, bind

from . import broadcast, dispatch, hearing, journal, queue
from .models import Run, RunCursor, RunEvent

log = logging.getLogger(__name__)

RING_AGAIN = timedelta(seconds=10)
BATCH = 500
Ids = list[tuple[UUID, UUID]]


def sweep() -> None:
    """Every queued run is rung for, every run of a dead worker goes on, every decision is heard."""
    _each(_lost_workers(), _reclaim)
    _each(_unheard_decisions(), _hear)
    _each(_unrung(), _ring)
    _each(_parked(), _show)


def watch_silence() -> None:
    """Runs that gave no output for their limit are stopped, with that as the reason."""
    _each(_silent(), _silence)


def _each(ids: Ids, act: Callable[[Run], None]) -> None:
    for workspace_id, run_id in ids:
        try:
            with bind(workspace_id):
                act(Run.objects.select_related("agent", "space", "conversation").get(pk=run_id))
        except Exception:
            log.exception("run %s could not be recovered", run_id)


def _lost_workers() -> Ids:
    with across_workspaces():
        return list(
            Run.objects.filter(state=Run.State.RUNNING, lease_until__lt=Now()).values_list(
                "workspace_id", "id"
            )[:BATCH]
        )


def _reclaim(run: Run) -> None:
    """The old worker is fenced off; the run is queued again, or fails after too many losses."""
    lost = RunEvent.objects.filter(run=run, kind="notice", data__code="worker_lost").count() + 1
    is_over = lost >= settings.RUN_ATTEMPTS
    moved = Run.objects.filter(
        pk=run.pk, state=Run.State.RUNNING, fence=run.fence, lease_until__lt=Now()
    ).update(state=Run.State.QUEUED, fence=F("fence") + 1, lease_owner="", lease_until=None)
    if not moved:
        return
    RunCursor.objects.filter(run=run).update(fence=F("fence") + 1)
    if run.stop_requested_at is not None:
        dispatch.end_unattended(
            run, "cancelled", "cancelled_by_user", _("Stopped; its worker was already gone.")
        )
        return
    if is_over:
        dispatch.end_unattended(
            run,
            "failed",
            "worker_lost",
            _("Its worker was lost %(count)d times. What it did so far is kept.") % {"count": lost},
        )
        return
    lost_notice = events.notice(
        _("The worker was lost; the run goes on elsewhere."), level="warning", code="worker_lost"
    )
    journal.record(run, [lost_notice], is_output=False)
    broadcast.state(run.pk, run.workspace_id)
    queue.ring(run)


def _unheard_decisions() -> Ids:
    """Runs parked for an approval that has been answered: the answer's own ring was lost."""
    with across_workspaces():
        answered = Approval.objects.exclude(state=Approval.State.PENDING).filter(
            decided_at__lt=timezone.now() - timedelta(seconds=2)
        )
        return list(
            Run.objects.filter(
                state=Run.State.PARKED,
                waiting_for=Run.WaitingFor.APPROVAL,
                waiting_on__in=answered.values("id"),
            ).values_list("workspace_id", "id")[:BATCH]
        )


def _hear(run: Run) -> None:
    hearing.hear(Approval.objects.get(pk=run.waiting_on))


def _unrung() -> Ids:
    with across_workspaces():
        return list(
            Run.objects.filter(state=Run.State.QUEUED)
            .exclude(rung_at__gt=timezone.now() - RING_AGAIN)
            .order_by("queued_at")
            .values_list("workspace_id", "id")[:BATCH]
        )


def _ring(run: Run) -> None:
    queue.ring(run)


def _parked() -> Ids:
    with across_workspaces():
        return list(
            Run.objects.filter(state=Run.State.PARKED).values_list("workspace_id", "id")[:BATCH]
        )


def _show(run: Run) -> None:
    broadcast.show_presence(run)


def _silent() -> Ids:
    with across_workspaces(), connection.cursor() as cursor:
        cursor.execute(SILENT, [BATCH])
        return cursor.fetchall()


SILENT = """
SELECT r.workspace_id, r.id FROM runs_run r
JOIN runs_runcursor c ON c.run_id = r.id
JOIN agents_agent a ON a.id = r.agent_id
WHERE r.state = 'running' AND r.stop_requested_at IS NULL
  AND coalesce(c.last_output_at, r.started_at) < clock_timestamp() - make_interval(mins =>
      coalesce(a.silence_timeout_minutes::int,
               CASE WHEN r.mode IN ('plan', 'review') THEN 10 ELSE 15 END))
LIMIT %s
"""


def _silence(run: Run) -> None:
    Run.objects.filter(pk=run.pk, state=Run.State.RUNNING, fence=run.fence).update(
        stop_requested_at=timezone.now(), stop_reason="silence"
    )
