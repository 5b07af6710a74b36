"""The journal: the only writer of run events.

An event and its number are one statement (`runs_append`): the cursor's row is counted up where its
fence is still the writer's, and the rows are inserted from what that returned. A writer who lost
the run writes nothing.
"""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from harness.events import Event, Kind
from harness.text import storable
from workspaces.ids import uuid7
from workspaces.tenancy import call

from . import broadcast
from .models import Run, RunEvent
from .transcript import Calls

# What a run's executor writes because something came out of the model or of a tool.
OUTPUT = frozenset(
    {
        Kind.TEXT,
        Kind.THINKING,
        Kind.TOOL_CALL,
        Kind.TOOL_START,
        Kind.TOOL_RESULT,
        Kind.USAGE,
        Kind.ERROR,
        Kind.COMPACTION,
    }
)


class FenceLost(RuntimeError):
    """Somebody else has the run now; nothing was written."""


def record(
    run: Run,
    events: Sequence[Event],
    *,
    fence: int | None = None,
    ids: Sequence[UUID] = (),
    calls: Calls | None = None,
) -> int:
    """Stores the events in order, in the current transaction or one of their own. Returns the seq
    of the last.

    With a fence it is the executing worker who writes: raises FenceLost, and writes nothing, when
    the run is no longer this worker's. Without one it is somebody who adds to the run, which is
    locked and open. `ids` are the keys of the rows, for a writer who may have to ask whether they
    arrived; `calls` are what this writer knows of the run's calls.
    """
    if not events:
        return 0
    keys = ids or [uuid7() for _ in events]
    rows = [
        {"id": str(key), "kind": event.kind.value, "data": event.data}
        for key, event in zip(keys, events, strict=True)
    ]
    is_output = fence is not None and any(event.kind in OUTPUT for event in events)
    last = call(
        run.workspace_id,
        "runs_append",
        *(run.workspace_id, run.pk, fence, run.attempt, is_output, _json(rows)),
    )
    if last is None:
        raise FenceLost(f"The run {run.pk} is no longer this worker's.")
    first = last - len(events) + 1
    broadcast.events(run, [event.at(first + n) for n, event in enumerate(events)], calls=calls)
    return int(last)


def repeat(run: Run, ids: Sequence[UUID], *, calls: Calls | None = None) -> int:
    """The seq of the last of these rows if they were stored, else 0.

    For a writer who does not know how his commit ended: the tabs are told again, because they may
    not have heard of it.
    """
    stored = [row.event for row in RunEvent.objects.filter(pk__in=ids).order_by("seq")]
    broadcast.events(run, stored, calls=calls)
    return (stored[-1].seq or 0) if stored else 0


def read(run_id: UUID, *, after: int = 0) -> list[Event]:
    """The run's events with a seq above `after`, in order."""
    rows = RunEvent.objects.filter(run_id=run_id, seq__gt=after).order_by("seq")
    return [row.event for row in rows]


def last_seq(run_id: UUID) -> int:
    """The seq of the newest event; 0 when there is none."""
    newest = RunEvent.objects.filter(run_id=run_id).order_by("-seq").values_list("seq", flat=True)
    return newest.first() or 0


def _json(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, default=str)
    if "\\u0000" in text:
        # PostgreSQL's jsonb has no NUL; it is shown as its own symbol. Six characters that only
        # look like one, as source code has them, stay as they are.
        text = json.dumps(storable(data), ensure_ascii=False, default=str)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
