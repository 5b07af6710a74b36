"""The live state of an agent: derived from its runs on each read, stored nowhere (CC-79..86)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Case, Exists, OuterRef, QuerySet, Subquery, Value, When
from django.utils.translation import gettext_lazy as _

from agents.models import Agent

from .models import Run


class LiveState(models.TextChoices):
    NEVER_RUN = "neverRun", _("Never run")
    RUNNING = "running", _("Running")
    FAILED = "failed", _("Failed")
    BLOCKED = "blocked", _("Blocked")
    IDLE = "idle", _("Idle")


ROSTER_ORDER = [
    LiveState.RUNNING,
    LiveState.BLOCKED,
    LiveState.FAILED,
    LiveState.IDLE,
    LiveState.NEVER_RUN,
]
FAILING = ("failed", "dead")
BLOCKING = ("blocked", "stalled", "looping")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What of a run counts for its agent's state."""

    state: str
    liveness: str
    queued_at: datetime
    id: UUID


def live_state(runs: Iterable[RunFacts]) -> LiveState:
    """First match in the table's order: never run, running, failed, blocked, idle.

    A run that is only queued is a record, so the agent is no longer `never run`, but it is
    neither in progress nor the most recent run that the later rows look at.
    """
    records = list(runs)
    if not records:
        return LiveState.NEVER_RUN
    if any(run.state in Run.IN_PROGRESS for run in records):
        return LiveState.RUNNING
    ended = [run for run in records if run.state != Run.State.QUEUED]
    if not ended:
        return LiveState.IDLE
    latest = max(ended, key=lambda run: (run.queued_at, run.id))
    if latest.state == Run.State.FAILED or latest.liveness in FAILING:
        return LiveState.FAILED
    if latest.liveness in BLOCKING:
        return LiveState.BLOCKED
    return LiveState.IDLE


def with_live_state(agents: QuerySet[Agent]) -> QuerySet[Any]:
    """The agents with `live_state`, `live_order` and `last_run_at`, in one query."""
    own = Run.objects.filter(agent=OuterRef("pk"))
    latest = own.exclude(state=Run.State.QUEUED).order_by("-queued_at", "-id")
    return (
        agents.annotate(
            has_any=Exists(own),
            has_in_progress=Exists(own.filter(state__in=Run.IN_PROGRESS)),
            newest_state=Subquery(latest.values("state")[:1]),
            newest_liveness=Subquery(latest.values("liveness")[:1]),
            last_run_at=Subquery(own.order_by("-queued_at").values("queued_at")[:1]),
        )
        .annotate(
            live_state=Case(
                When(has_any=False, then=Value(LiveState.NEVER_RUN)),
                When(has_in_progress=True, then=Value(LiveState.RUNNING)),
                When(newest_state=Run.State.FAILED, then=Value(LiveState.FAILED)),
                When(newest_liveness__in=FAILING, then=Value(LiveState.FAILED)),
                When(newest_liveness__in=BLOCKING, then=Value(LiveState.BLOCKED)),
                default=Value(LiveState.IDLE),
                output_field=models.CharField(),
            )
        )
        .annotate(
            live_order=Case(
                *(When(live_state=state, then=Value(n)) for n, state in enumerate(ROSTER_ORDER)),
                output_field=models.IntegerField(),
            )
        )
    )


def facts_of(agent: Agent) -> list[RunFacts]:
    """The facts of all the agent's runs, for the pure function."""
    rows: Any = agent.runs.values_list("state", "liveness", "queued_at", "id")
    return [RunFacts(*row) for row in rows]
