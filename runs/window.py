"""Which part of a run's journal a page shows: the newest, and the way to what came before.

A long run is shown by windows that begin with a model turn: no call is torn from its result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from harness.events import Event

from . import transcript
from .models import Run, RunEvent

SHOWN = 400
# A page with many runs shows less of each, and of the oldest little.
SHOWN_TOGETHER = 1500
SHOWN_AT_LEAST = 40
BLOCKS = ["text", "thinking", "tool_call"]


@dataclass(slots=True)
class Window:
    """Events in order. `earlier` is the seq before which there is more; 0 when there is not."""

    events: list[Event] = field(default_factory=list)
    earlier: int = 0

    @property
    def last_seq(self) -> int:
        return (self.events[-1].seq or 0) if self.events else 0


def read(run_id: UUID, *, before: int = 0, shown: int = SHOWN) -> Window:
    """The newest window, or the one that ends before that seq; about `shown` events."""
    rows = RunEvent.objects.filter(run_id=run_id).order_by("seq")
    if before:
        rows = rows.filter(seq__lt=before)
    end = before or _last_seq(run_id) + 1
    first = _start_of_turn(run_id, end - shown) if end - shown > 1 else 1
    return Window([row.event for row in rows.filter(seq__gte=first)], first if first > 1 else 0)


def read_many(runs: Sequence[Run]) -> dict[UUID, Window]:
    """The newest window of each, with one query for all that are short. Runs have their cursors."""
    left, whole, found = SHOWN_TOGETHER, [], {}
    for run in sorted(runs, key=lambda run: run.queued_at, reverse=True):
        most = max(SHOWN_AT_LEAST, min(SHOWN, left))
        if run.cursor.last_seq <= most:
            whole.append(run.pk)
            found[run.pk] = Window()
        else:
            found[run.pk] = read(run.pk, shown=most)
        left -= min(run.cursor.last_seq, most)
    for row in RunEvent.objects.filter(run__in=whole).order_by("run_id", "seq"):
        found[row.run_id].events.append(row.event)
    return found


def context(run: Run, found: Window) -> dict[str, Any]:
    """What the run's fragment is rendered from."""
    return {
        "run": run,
        "entries": transcript.entries(found.events),
        "last_seq": found.last_seq,
        "earlier": found.earlier,
    }


def shown_runs() -> QuerySet[Run]:
    """Runs with all that their fragments name."""
    return Run.objects.select_related(
        *("agent__principal", "requested_by", "conversation", "space", "workspace", "cursor"),
        "subagent",
    )


def _last_seq(run_id: UUID) -> int:
    newest = RunEvent.objects.filter(run_id=run_id).order_by("-seq").values_list("seq", flat=True)
    return int(newest.first() or 0)


def _start_of_turn(run_id: UUID, seq: int) -> int:
    """The seq of the first block of the model turn that is under way at that seq; 1 before any."""
    blocks = RunEvent.objects.filter(run_id=run_id, kind__in=BLOCKS, seq__lte=seq)
    last: RunEvent | None = blocks.order_by("-seq").first()
    if last is None:
        return 1
    first = (
        blocks.filter(data__turn=last.data["turn"]).order_by("seq").values_list("seq", flat=True)
    )
    return int(first.first() or 1)
