"""The roster of 1,000 agents over 1,000,000 runs, beside the SQL that one would write by hand.

    python bench/roster.py [--agents 1000] [--runs 1000000] [--rounds 15]

Both sides read the same database as the application's role, under row-level security, and take
turns. Always with throw-away engines of its own: the runs are made without their messages.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import figures, house  # noqa: E402 - after the path

RATIO = 1.5  # DESIGN 16
BY_HAND = """
SELECT a.id, a.name, a.title, newest.queued_at, CASE
    WHEN newest.queued_at IS NULL THEN 'neverRun'
    WHEN EXISTS (SELECT FROM runs_run r WHERE r.agent_id = a.id
        AND r.state IN ('running', 'parked')) THEN 'running'
    WHEN ended.state = 'failed' OR ended.liveness IN ('failed', 'dead') THEN 'failed'
    WHEN ended.liveness IN ('blocked', 'stalled', 'looping') THEN 'blocked'
    ELSE 'idle' END AS live_state
FROM agents_agent a
LEFT JOIN LATERAL (SELECT r.queued_at FROM runs_run r WHERE r.agent_id = a.id
    ORDER BY r.queued_at DESC LIMIT 1) newest ON true
LEFT JOIN LATERAL (SELECT r.state, r.liveness FROM runs_run r
    WHERE r.agent_id = a.id AND r.state <> 'queued'
    ORDER BY r.queued_at DESC, r.id DESC LIMIT 1) ended ON true
WHERE a.workspace_id = %s AND a.name <> '' ORDER BY a.name
"""
MAKE = """
INSERT INTO runs_run (id, workspace_id, agent_id, space_id, conversation_id, wake_reason, adapter,
    model, effort, mode, state, waiting_for, terminal_reason, summary, liveness, stop_reason,
    attempt, fence, lease_owner, queued_at, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, cost_microusd)
SELECT gen_random_uuid(), %(workspace)s, agents.ids[1 + n %% array_length(agents.ids, 1)],
    %(space)s, %(conversation)s, 'user_message', 'cc-harness', '', '', 'chat',
    CASE WHEN n < 40 THEN 'running' WHEN n < 60 THEN 'parked' WHEN n < 120 THEN 'queued'
        WHEN n %% 11 = 0 THEN 'failed' WHEN n %% 17 = 0 THEN 'cancelled' ELSE 'succeeded' END,
    '', '', '', CASE WHEN n %% 11 = 0 THEN 'failed' ELSE 'completed' END, '',
    1, 1, '', now() - make_interval(secs => n * 7), 0, 0, 0, 0, 0
FROM generate_series(0, %(runs)s - 1) n, (SELECT array_agg(id) AS ids FROM agents_agent) agents
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    house.need_engines(own=True)
    built = house.build()
    fill(built, agents=chosen.agents, runs=chosen.runs)
    spent: dict[str, list[float]] = {"with_live_state": [], "by hand": []}
    for number in range(chosen.rounds + 2):
        for name, read in (("with_live_state", roster), ("by hand", by_hand)):
            seconds, states, queries = measured(built, read)
            assert queries == 1, queries
            if number > 1:
                spent[name].append(seconds * 1000)
    assert sorted(measured(built, roster)[1]) == sorted(measured(built, by_hand)[1])
    print(f"{chosen.agents:,} agents, {chosen.runs:,} runs, one query each; {tally(states)}")
    for name, times in spent.items():
        print(f"{name:24} p50 {statistics.median(times):7.1f} ms   min {min(times):7.1f} ms")
    ratio = statistics.median(spent["with_live_state"]) / statistics.median(spent["by hand"])
    figures.show(f"roster of {chosen.agents:,} / SQL by hand", ratio, most=RATIO)
    return figures.code()


def fill(built: house.House, *, agents: int, runs: int) -> None:
    """Rows as they would be, without what they refer to: the references are taken away first."""
    from django.db import connections

    from agents.models import Agent
    from workspaces.models import Principal
    from workspaces.tenancy import bind

    with bind(built.workspace):
        made = Principal.objects.bulk_create(
            Principal(workspace=built.workspace, kind="agent", handle=f"agent-{n}")
            for n in range(agents - 1)
        )
        Agent.objects.bulk_create(
            Agent(workspace=built.workspace, principal=each, name=each.handle, title="Bench")
            for each in made
        )
    conversation = built.converse()
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'runs_run'::regclass"
            " AND contype = 'f'"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f'ALTER TABLE runs_run DROP CONSTRAINT "{name}"')
        cursor.execute(
            MAKE,
            {
                "workspace": built.workspace.pk,
                "space": built.space.pk,
                "conversation": conversation.pk,
                "runs": runs,
            },
        )
        cursor.execute("VACUUM ANALYZE runs_run")
        cursor.execute("VACUUM ANALYZE agents_agent")


def roster(built: house.House) -> list[str]:
    from agents.models import Agent
    from runs.live_state import with_live_state

    rows = with_live_state(Agent.objects.exclude(name="")).order_by("name")
    return [row[-1] for row in rows.values_list("id", "name", "title", "last_run_at", "live_state")]


def by_hand(built: house.House) -> list[str]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(BY_HAND, [built.workspace.pk])
        return [row[-1] for row in cursor.fetchall()]


def measured(
    built: house.House, read: Callable[[house.House], list[str]]
) -> tuple[float, list[str], int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from workspaces.tenancy import bind

    with bind(built.workspace), CaptureQueriesContext(connection) as queries:
        started = time.perf_counter()
        states = read(built)
        return time.perf_counter() - started, states, len(queries)


def tally(states: list[str]) -> str:
    counts: dict[str, Any] = {state: states.count(state) for state in sorted(set(states))}
    return ", ".join(f"{count} {state}" for state, count in counts.items())


if __name__ == "__main__":
    os.environ.setdefault("CC_DB_POOL", "2")
    sys.exit(main())
