"""Many agents with their live state: the facts in one query, the rule applied to them here.

`runs.live_state.with_live_state` says the same in SQL; for lists of hundreds its nested cases cost
several times as much as the facts themselves, so the pure function does it.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Concat

from runs.live_state import ROSTER_ORDER, LiveState, RunFacts, live_state
from runs.models import Run

from ..models import Agent

NO_RUN = UUID(int=0)


def with_facts(agents: QuerySet[Agent]) -> QuerySet[Any]:
    """The agents with `is_at_work`, `newest` (state/liveness of the newest run that began, or
    None) and `last_run_at`, in one query."""
    own = Run.objects.filter(agent=OuterRef("pk"))
    began = own.exclude(state=Run.State.QUEUED).order_by("-queued_at", "-id")
    both = Concat("state", Value("/"), "liveness")
    at_work = Run.objects.filter(state__in=Run.IN_PROGRESS).values("agent")
    return agents.annotate(
        is_at_work=ExpressionWrapper(Q(pk__in=at_work), output_field=BooleanField()),
        newest=Subquery(began.annotate(both=both).values("both")[:1]),
        last_run_at=Subquery(own.order_by("-queued_at").values("queued_at")[:1]),
    )


def with_states(agents: QuerySet[Agent]) -> list[Any]:
    """The agents with `live_state`, `live_order` and `last_run_at`, in the query's own order;
    `shown_state` says of one at work whether it waits."""
    rows: list[Any] = list(with_facts(agents))
    for row in rows:
        row.live_state = state_of(row.is_at_work, row.newest, row.last_run_at)
        row.live_order = ROSTER_ORDER.index(row.live_state)
    waiting = waiting_agents() if any(row.is_at_work for row in rows) else set()
    for row in rows:
        row.shown_state = "waiting" if row.pk in waiting else row.live_state
    return rows


def waiting_agents() -> set[UUID]:
    """The agents at work whose representative run waits for a person, as the presence says it."""
    open_runs = Run.objects.filter(state__in=Run.IN_PROGRESS).order_by("started_at", "pk")
    newest = {
        agent: state == Run.State.PARKED and waiting_for != Run.WaitingFor.CHILD
        for agent, state, waiting_for in open_runs.values_list("agent", "state", "waiting_for")
    }
    return {agent for agent, is_waiting in newest.items() if is_waiting}


def state_of(is_at_work: bool, newest: str | None, last_run_at: datetime | None) -> LiveState:
    """The rule, given as many runs as it looks at: one in progress, the newest that began, or
    one that is only queued."""
    if last_run_at is None:
        return live_state(())
    found = [RunFacts(Run.State.QUEUED, "", last_run_at, NO_RUN)]
    if newest is not None:
        state, _slash, liveness = newest.partition("/")
        found.append(RunFacts(state, liveness, last_run_at, NO_RUN))
    if is_at_work:
        found.append(RunFacts(Run.State.RUNNING, "", last_run_at, NO_RUN))
    return live_state(found)
