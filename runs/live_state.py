"""The live state of an agent: derived from its runs on each read, stored nowhere (CC-79..86)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from agents.models import Agent

from .models import Run, shown_state


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
WAITS = {"waiting", "asking", "paused"}
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
    newest = Run.objects.filter(agent=OuterRef("pk"), parent=None).order_by("-queued_at", "-id")
    order = _LiveOrder(F("pk"))
    return agents.annotate(
        live_order=order,
        live_state=_Word(order),
        last_run_at=Subquery(newest.values("queued_at")[:1]),
    )


def say_who_waits(agents: Iterable[Any]) -> None:
    """Gives each its `shown_state`: the live state, but for one at work whose representative run
    waits for somebody, what it waits for, in the words of the run."""
    rows = list(agents)
    waits: dict[UUID, str] = {}
    if any(row.live_state == LiveState.RUNNING for row in rows):
        open_runs = Run.objects.filter(state__in=Run.IN_PROGRESS).order_by("started_at", "pk")
        for agent, *how in open_runs.values_list("agent", "state", "waiting_for"):
            waits[agent] = shown_state(*how)
    for row in rows:
        word = waits.get(row.pk, Run.State.RUNNING)
        row.shown_state = word if word in WAITS else row.live_state


def _one_of(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


# Written out: from nested conditions Django would write the same subqueries thirty times.
ORDER = """(SELECT CASE
    WHEN EXISTS (SELECT FROM runs_run r WHERE r.agent_id = %(expressions)s
        AND r.state IN ({in_progress})) THEN {running}
    ELSE coalesce(
        (SELECT CASE WHEN r.state = 'failed' OR r.liveness IN ({failing}) THEN {failed}
            WHEN r.liveness IN ({blocking}) THEN {blocked} ELSE {idle} END
         FROM runs_run r WHERE r.agent_id = %(expressions)s AND r.state <> 'queued'
             AND r.parent_id IS NULL
         ORDER BY r.queued_at DESC, r.id DESC LIMIT 1),
        CASE WHEN EXISTS (SELECT FROM runs_run r WHERE r.agent_id = %(expressions)s)
            THEN {idle} ELSE {never_run} END)
END)""".format(
    in_progress=_one_of(Run.IN_PROGRESS),
    failing=_one_of(FAILING),
    blocking=_one_of(BLOCKING),
    **{state.name.lower(): ROSTER_ORDER.index(state) for state in LiveState},
)


class _LiveOrder(models.Func):
    """The place of an agent's live state in the roster; its argument is the agent's key."""

    template = ORDER
    output_field = models.IntegerField()


class _Word(models.Func):
    """The word for such a place."""

    template = f"(ARRAY[{_one_of(ROSTER_ORDER)}])[1 + %(expressions)s]"
    output_field = models.CharField()


def facts_of(agent: Agent) -> list[RunFacts]:
    """The facts of the agent's own runs, for the pure function; what becomes of a subagent is told
    by the run that started it."""
    rows: Any = agent.runs.filter(parent=None).values_list("state", "liveness", "queued_at", "id")
    return [RunFacts(*row) for row in rows]
