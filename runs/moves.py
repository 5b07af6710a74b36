"""The moves of a run from state to state: each a compare-and-set, and none is made elsewhere.

Every move makes the fence grow, in the run and in its cursor: what an earlier holder still writes
is refused, and of two pieces of news about a run the one with the higher fence is the newer.
"""

from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import BigIntegerField, F, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Now

from harness import events
from harness.errors import FinalState, TerminalReason
from live.publish import after_commit
from outside.sentences import phrase as _
from workspaces.tenancy import bind, call

from . import broadcast, claims, journal, locks, queue, reports, worktrees
from .liveness import Health, liveness
from .models import Run, RunCursor, RunEvent, Subagent

State = Run.State

SPENT = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
UNHELD: dict[str, Any] = {"lease_owner": "", "lease_until": None}
UNASKED: dict[str, Any] = {
    "stop_requested_at": None,
    "pause_requested_at": None,
    "stop_reason": "",
}


def claim(workspace_id: UUID, run_id: UUID, *, owner: str) -> bool:
    """The queued run is the owner's, under a lease; False when it was not there to be had.

    What was asked of the run meanwhile stays asked: its keeper hears of it at once.
    """
    fence = call(workspace_id, "runs_claim", run_id, owner, settings.LEASE_SECONDS)
    return fence is not None


def park(run: Run, *, waiting_for: str, waiting_on: UUID | str | None) -> bool:
    """The slot is free until somebody answers; False when the run was not the caller's any more.

    A pause that was asked for while the run parks for something else still holds afterwards.
    """
    asked = UNASKED if waiting_for == Run.WaitingFor.PAUSE else {}
    return _move(
        run,
        {"state": State.RUNNING, "fence": run.fence},
        state=State.PARKED,
        waiting_for=waiting_for,
        waiting_on=waiting_on,
        liveness=liveness(Health(state=State.PARKED, waiting_for=waiting_for)),
        **UNHELD,
        **asked,
        **_spent(run),
    )


def requeue(run: Run) -> bool:
    """A parked run is queued again; False when it was not parked any more."""
    moved = _move(run, {"state": State.PARKED}, state=State.QUEUED, waiting_for="", waiting_on=None)
    if moved:
        queue.ring(run)
    return moved


def release(run: Run) -> bool:
    """An unfinished run is queued again for any worker; False when it was not the caller's.

    The caller has its fence: the worker that stops, or the sweep that found a dead one.
    """
    moved = _move(
        run, {"state": State.RUNNING, "fence": run.fence}, state=State.QUEUED, **UNHELD, **UNASKED
    )
    if moved:
        queue.ring(run)
    return moved


def end(run: Run, *, state: FinalState, reason: str, summary: str) -> bool:
    """The run is over, its `done` event is its last, and what it held open is closed.

    `run` has been read under its lock; False when it has been moved since.
    """
    has_output = RunEvent.objects.filter(run=run, kind__in=["text", "tool_result"]).exists()
    health = Health(state=state, terminal_reason=reason, has_output=has_output)
    moved = _move(
        run,
        {"state__in": Run.OPEN, "fence": run.fence},
        state=state,
        terminal_reason=reason,
        summary=summary,
        liveness=liveness(health),
        waiting_for="",
        waiting_on=None,
        ended_at=Now(),
        **UNHELD,
        **_spent(run),
    )
    if moved:
        journal.record(run, [events.done(state, reason, summary)])
        claims.release_claims(run.pk)
        if run.parent_id:
            _tell_parent(run, state=state, reason=reason, summary=summary)
        if Run.objects.filter(parent=run, state__in=Run.OPEN).exists():
            after_commit(partial(end_children, run.workspace_id, run.pk))
    return moved


def end_children(workspace_id: UUID, parent_id: UUID) -> None:
    """Whoever started them is over: what they started ends too, at once or at its next breath."""
    with bind(workspace_id):
        rows = Run.objects.filter(parent_id=parent_id, state__in=Run.OPEN)
        keys = list(rows.values_list("pk", flat=True))
    for key in keys:
        with bind(workspace_id):
            end_forsaken(key)


def end_forsaken(run_id: UUID) -> None:
    """A child whose parent has ended is over, too; its worker, if it has one, hears of it."""
    run = locks.hold_with_claims(run_id)
    if run is None or not run.is_open:
        return
    mine = Run.objects.filter(pk=run_id)
    if run.state == State.RUNNING and mine.filter(lease_until__gte=Now()).exists():
        mine.filter(stop_requested_at=None).update(stop_requested_at=Now(), stop_reason="cancel")
        return
    words = _("The run that started it has ended.")
    end(run, state="cancelled", reason=TerminalReason.STOPPED_BY_MODEL.value, summary=words)


def _tell_parent(run: Run, *, state: str, reason: str, summary: str) -> None:
    """The parent hears how its child ended, in the same transaction, and goes on if it waits."""
    parent = locks.hold(run.parent_id) if run.parent_id else None
    made = Subagent.objects.filter(run=run).first()
    if made is not None and made.worktrees:
        worktrees.clear_later(run)
    if parent is None or made is None or not parent.is_open:
        return
    moments = Run.objects.filter(pk=run.pk).values_list("started_at", "ended_at").get()
    begun, ended = moments
    told = reports.ended(
        journal.read(run.pk),
        run_id=str(run.pk),
        call_id=made.call_id,
        agent=made.name,
        state=state,
        reason=reason,
        summary=str(summary),
        seconds=(ended - begun).total_seconds() if begun and ended else 0.0,
        background=made.background,
        branches=[f"{e['branch']} in {e['repository']}" for e in made.worktrees if e["kept"]],
    )
    journal.record(parent, [told])
    if parent.waiting_for == Run.WaitingFor.CHILD and not _waits_for_another(parent, made):
        requeue(parent)


def _waits_for_another(parent: Run, made: Subagent) -> bool:
    """A turn goes on when all of its children have ended; one in the background counts alone."""
    others = Subagent.objects.filter(parent=parent, background=False, run__state__in=Run.OPEN)
    return not made.background and others.exists()


def _move(run: Run, before: dict[str, Any], **after: Any) -> bool:
    if not Run.objects.filter(pk=run.pk, **before).update(fence=F("fence") + 1, **after):
        return False
    RunCursor.objects.filter(run_id=run.pk).update(fence=F("fence") + 1)
    broadcast.state(run.pk, run.workspace_id)
    return True


def _spent(run: Run) -> dict[str, int]:
    """The sums of the run's usage events, as columns of its row."""

    def total(key: str) -> Coalesce:
        number = Cast(KeyTextTransform(key, "data"), BigIntegerField())
        return Coalesce(Sum(number), 0)

    names = (*SPENT, "cost_microusd")
    rows = RunEvent.objects.filter(run=run, kind="usage")
    found: dict[str, int] = rows.aggregate(**{f"{name}": total(name) for name in names})
    return found
