"""The journal: the only writer of run events.

An event and its number are one statement: the cursor's row is counted up where its fence is still
the writer's, and the rows are inserted from what that returned. A writer who lost the run writes
nothing.
"""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from harness.events import Event, Kind
from workspaces.ids import uuid7
from workspaces.tenancy import writable_workspace

from . import broadcast
from .models import Run, RunEvent


class FenceLost(RuntimeError):
    """Somebody else has the run now; nothing was written."""


APPEND = """
WITH counted AS (
    UPDATE runs_runcursor SET last_seq = last_seq + %(count)s,
        last_output_at = CASE WHEN %(is_output)s THEN clock_timestamp() ELSE last_output_at END
    WHERE run_id = %(run)s AND (%(fence)s::bigint IS NULL OR fence = %(fence)s)
    RETURNING last_seq
)
INSERT INTO runs_runevent (id, workspace_id, run_id, seq, kind, attempt, data, at)
SELECT e.id, %(workspace)s, %(run)s, counted.last_seq - %(count)s + e.n, e.kind, %(attempt)s,
       e.data, clock_timestamp()
FROM counted, unnest(%(ids)s::uuid[], %(kinds)s::text[], %(data)s::jsonb[])
    WITH ORDINALITY AS e(id, kind, data, n)
RETURNING seq
"""


def record(
    run: Run,
    events: Sequence[Event],
    *,
    fence: int | None = None,
    is_output: bool = True,
    ids: Sequence[UUID] = (),
) -> int:
    """Stores the events in order, in the current transaction. Returns the seq of the last.

    With a fence it is the executing worker who writes: raises FenceLost, and writes nothing, when
    the run is no longer this worker's. Without one it is somebody who adds to the run.
    `ids` are the keys of the rows, for a writer who may have to ask whether they arrived.
    """
    if not events:
        return 0
    parameters = {
        "count": len(events),
        "run": run.pk,
        "fence": fence,
        "attempt": run.attempt,
        "is_output": is_output,
        "workspace": writable_workspace(),
        "ids": list(ids) or [uuid7() for _ in events],
        "kinds": [event.kind.value for event in events],
        "data": [_json(event.data) for event in events],
    }
    with connection.cursor() as cursor:
        cursor.execute(APPEND, parameters)
        seqs = [seq for (seq,) in cursor.fetchall()]
    if not seqs:
        raise FenceLost(f"The run {run.pk} is no longer this worker's.")
    stored = [event.at(seq) for event, seq in zip(events, sorted(seqs), strict=True)]
    broadcast.events(run, stored)
    return max(seqs)


def read(run_id: UUID, *, after: int = 0) -> list[Event]:
    """The run's events with a seq above `after`, in order."""
    rows = RunEvent.objects.filter(run_id=run_id, seq__gt=after).order_by("seq")
    return [Event(Kind(row.kind), row.data, row.seq) for row in rows]


def last_seq(run_id: UUID) -> int:
    """The seq of the newest event; 0 when there is none."""
    newest = RunEvent.objects.filter(run_id=run_id).order_by("-seq").values_list("seq", flat=True)
    return newest.first() or 0


def _json(data: Any) -> str:
    # PostgreSQL's jsonb has no NUL; it is shown as its own symbol instead of refusing the event.
    text = json.dumps(data, ensure_ascii=False, default=str)
    return text.replace("\\u0000", "\\u2400").encode("utf-8", "replace").decode()
