"""Finding what was left behind: lost rings, dead workers, unheard decisions.

Called by the scheduler's tick. Each step looks across all workspaces for ids only and then works
inside one workspace at a time; a row that cannot be mended never keeps the next from it.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from guardrails.models import Approval
from harness import events
from harness.seam import BUILT_IN_ADAPTER
from outside.sentences import phrase as _
from workspaces.tenancy import across_workspaces, bind

from . import broadcast, claims, hearing, journal, locks, moves, queue, runner
from .models import Run, RunEvent

log = logging.getLogger(__name__)

RING_AGAIN = timedelta(seconds=10)
RING_AGAIN_AT_LAST = timedelta(minutes=5)
BATCH = 500
Ids = list[tuple[UUID, UUID]]

# A decision that no event tells of: it was made by a rule or by the clock, or before the question
# stood in the journal, or its hearing failed.
UNHEARD = """
SELECT a.workspace_id, a.id FROM runs_run r
JOIN guardrails_approval a ON a.run_id = r.id AND a.state <> 'pending'
WHERE r.state = 'parked' AND EXISTS (
    SELECT FROM runs_runevent e WHERE e.run_id = r.id AND e.kind = 'approval'
        AND e.data ->> 'approval_id' = a.id::text
    HAVING count(*) > 0 AND count(*) FILTER (WHERE e.data ->> 'phase' = 'decided') = 0
)
LIMIT %s
"""
# A question of a run that has ended meanwhile.
ORPHANED = """
SELECT a.workspace_id, a.run_id FROM guardrails_approval a
JOIN runs_run r ON r.id = a.run_id AND r.state IN ('succeeded', 'failed', 'cancelled')
WHERE a.state = 'pending' LIMIT %s
"""
# A subagent whose parent has ended: whoever should have ended it was lost.
FORSAKEN = """
SELECT r.workspace_id, r.id FROM runs_run r
JOIN runs_run p ON p.id = r.parent_id AND p.state IN ('succeeded', 'failed', 'cancelled')
WHERE r.state IN ('queued', 'running', 'parked') AND r.stop_requested_at IS NULL LIMIT %s
"""


def sweep() -> None:
    """Every queued run is rung for, every run of a dead worker goes on, every decision is heard."""
    _each(_lost_workers(), _reclaim)
    _each(_rows(UNHEARD), _hear)
    _each(_rows(ORPHANED), claims.release_claims)
    _each(_rows(FORSAKEN), moves.end_forsaken)
    _each(_unrung(), _ring)
    _show_parked()


def _each(ids: Ids, act: Callable[[UUID], object]) -> None:
    for workspace_id, key in ids:
        try:
            with bind(workspace_id):
                act(key)
        except Exception:
            log.exception("%s could not be recovered", key)


def _rows(statement: str) -> Ids:
    with across_workspaces(), connection.cursor() as cursor:
        cursor.execute(statement, [BATCH])
        return list(cursor.fetchall())


def _lost_workers() -> Ids:
    with across_workspaces():
        return _ids(Run.objects.filter(state=Run.State.RUNNING, lease_until__lt=Now()))


def _reclaim(run_id: UUID) -> None:
    """The old worker is fenced off; the run is queued again, or fails after too many losses."""
    run = locks.hold_with_claims(run_id)
    if run is None or not Run.objects.filter(
        pk=run_id, state=Run.State.RUNNING, lease_until__lt=Now()
    ):
        return
    if runner.stopped(run):
        runner.give_back(run)
        return
    lost = RunEvent.objects.filter(run=run, kind="notice", data__code="worker_lost").count() + 1
    if lost >= settings.RUN_ATTEMPTS:
        words = _("Its worker was lost %(count)d times. What it did so far is kept.")
        moves.end(run, state="failed", reason="worker_lost", summary=words % {"count": lost})
        return
    words = _("The worker was lost; the run goes on elsewhere.")
    journal.record(run, [events.notice(words, level="warning", code="worker_lost")])
    runner.give_back(run)


def _hear(approval_id: UUID) -> None:
    hearing.hear(Approval.objects.get(pk=approval_id))


def _unrung() -> Ids:
    """Queued runs whose ring was lost: no ring waits any more in their queue, or for too long.

    While rings wait the workers are busy, and more rings would only make the queue longer.
    """
    try:
        waiting = queue.waiting()
    except OperationalError as error:
        log.warning("nobody can be rung for while the broker is away: %s", error)
        return []
    is_late = Q(rung_at__isnull=True) | Q(rung_at__lt=Now() - RING_AGAIN_AT_LAST)
    if not waiting["runs"]:
        is_late |= Q(adapter=BUILT_IN_ADAPTER, rung_at__lt=Now() - RING_AGAIN)
    if not waiting["cli"]:
        is_late |= ~Q(adapter=BUILT_IN_ADAPTER) & Q(rung_at__lt=Now() - RING_AGAIN)
    with across_workspaces():
        return _ids(Run.objects.filter(is_late, state=Run.State.QUEUED).order_by("queued_at"))


def _ring(run_id: UUID) -> None:
    queue.ring(Run.objects.get(pk=run_id))


def _show_parked() -> None:
    """No worker speaks for a parked run: its place in the presence list would run out."""
    with across_workspaces():
        rows = Run.objects.filter(state=Run.State.PARKED).select_related("agent", "space")
        for run in rows.order_by("-queued_at")[:BATCH]:
            broadcast.show_presence(run)


def _ids(rows: object) -> Ids:
    return list(rows.values_list("workspace_id", "id")[:BATCH])  # type: ignore[attr-defined]
