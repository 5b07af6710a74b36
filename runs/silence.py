"""The silence watchdog: a run that gives no output for its limit is stopped, and says why.

Two limits: until the first output of a claim, and from one output to the next; an agent's own
limit stands for both. A run that is parked waits for somebody and is not silent; a block that is
being written is output.
"""

from json import dumps
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models.functions import Now

from workspaces.tenancy import across_workspaces, bind

from .models import Run

MINUTES = {"chat": 15, "orchestrate": 15, "plan": 10, "review": 10}
# More than the five minutes after which a provider that sends nothing is given up and named.
FIRST_OUTPUT_MINUTES = 7
BATCH = 500

SILENT = """
SELECT r.workspace_id, r.id FROM runs_run r
JOIN runs_runcursor c ON c.run_id = r.id
JOIN agents_agent a ON a.id = r.agent_id
WHERE r.state = 'running' AND r.stop_requested_at IS NULL
  AND coalesce(c.last_output_at, c.began_at) < clock_timestamp() - make_interval(mins =>
      coalesce(a.silence_timeout_minutes::int,
               least((%(minutes)s::jsonb ->> r.mode)::int,
                     CASE WHEN c.last_output_at IS NULL THEN %(first)s END)))
LIMIT %(most)s
"""


def watch() -> None:
    """Every silent run is asked to stop; its worker, or the sweep if that is gone, does so."""
    for workspace_id, run_id in _silent():
        with bind(workspace_id):
            Run.objects.filter(
                pk=run_id, state=Run.State.RUNNING, stop_requested_at__isnull=True
            ).update(stop_requested_at=Now(), stop_reason="silence")


def _silent() -> list[tuple[UUID, UUID]]:
    parameters: dict[str, Any] = {
        "minutes": dumps(MINUTES),
        "first": FIRST_OUTPUT_MINUTES,
        "most": BATCH,
    }
    with across_workspaces(), connection.cursor() as cursor:
        cursor.execute(SILENT, parameters)
        return list(cursor.fetchall())
