"""Many agents with their live state: the facts in one query, the rule applied to them here.

`runs.live_state.with_live_state` says the same in SQL; for lists of hundreds its nested cases cost
several times as much as the facts themselves, so the pure function does it.
"""

from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery

from runs.live_state import ROSTER_ORDER, RunFacts, live_state
from runs.models import Run

from ..models import Agent


def with_states(agents: QuerySet[Agent]) -> list[Any]:
    """The agents with `live_state`, `live_order` and `last_run_at`, in the query's own order."""
    own = Run.objects.filter(agent=OuterRef("pk"))
    ended = own.exclude(state=Run.State.QUEUED).order_by("-queued_at", "-id")
    at_work = Run.objects.filter(state__in=Run.IN_PROGRESS).values("agent")
    rows: list[Any] = list(
        agents.annotate(
            is_at_work=ExpressionWrapper(Q(pk__in=at_work), output_field=BooleanField()),
            newest_state=Subquery(ended.values("state")[:1]),
            newest_liveness=Subquery(ended.values("liveness")[:1]),
            last_run_at=Subquery(own.order_by("-queued_at").values("queued_at")[:1]),
        )
    )
    for row in rows:
        row.live_state = live_state(_facts(row))
        row.live_order = ROSTER_ORDER.index(row.live_state)
    return rows


def _facts(row: Any) -> list[RunFacts]:
    """As many runs as the rule looks at: one in progress, the newest that began, or one queued."""
    if row.last_run_at is None:
        return []
    at, key = row.last_run_at, UUID(int=0)
    found = [RunFacts(Run.State.QUEUED, "", at, key)]
    if row.newest_state is not None:
        found.append(RunFacts(row.newest_state, row.newest_liveness, at, key))
    if row.is_at_work:
        found.append(RunFacts(Run.State.RUNNING, "", at, key))
    return found
