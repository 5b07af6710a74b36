"""Many agents with their live state, for lists that sort and draw them here."""

from typing import Any

from django.db.models import QuerySet

from runs.live_state import LiveState, say_who_waits, with_live_state

from ..models import Agent


def with_states(agents: QuerySet[Agent]) -> list[Any]:
    """The agents with `live_state`, `shown_state`, `live_order` and `last_run_at`, in the query's
    own order."""
    rows: list[Any] = list(with_live_state(agents))
    for row in rows:
        row.live_state = LiveState(row.live_state)
    say_who_waits(rows)
    return rows
