"""The roster at scale: its one query beside hand-written SQL, its pages, and the org chart.

    python bench/roster.py [--agents 1000] [--runs 1000000] [--rounds 7]

Engines are thrown away afterwards. With Chromium on the machine the org chart is drawn there too.
"""

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import house  # type: ignore[import-not-found,unused-ignore]

MOST_RATIO, MOST_DRAWN_SECONDS = 1.5, 1.0  # DESIGN 16
BY_HAND = """
SELECT a.id, a.name, a.title, a.lifecycle, newest.at,
  CASE WHEN newest.at IS NULL THEN 'neverRun'
       WHEN a.id IN (SELECT agent_id FROM runs_run WHERE state IN ('running', 'parked'))
         THEN 'running'
       WHEN ended.state = 'failed' OR ended.liveness IN ('failed', 'dead') THEN 'failed'
       WHEN ended.liveness IN ('blocked', 'stalled', 'looping') THEN 'blocked'
       ELSE 'idle' END AS live
FROM agents_agent a
LEFT JOIN LATERAL (SELECT queued_at AS at FROM runs_run r WHERE r.agent_id = a.id
                   ORDER BY queued_at DESC LIMIT 1) newest ON true
LEFT JOIN LATERAL (SELECT state, liveness FROM runs_run r WHERE r.agent_id = a.id
                   AND state <> 'queued' ORDER BY queued_at DESC, id DESC LIMIT 1) ended ON true
WHERE a.workspace_id = %s ORDER BY live, a.name
"""
RUNS = """
INSERT INTO runs_run SELECT (jsonb_populate_record(one, jsonb_build_object(
  'id', gen_random_uuid(), 'agent_id', a.id, 'queued_at', now() - n * interval '1 minute',
  'state', (ARRAY['succeeded','succeeded','failed','cancelled'])[1 + n %% 4]))).*
FROM runs_run one, agents_agent a, generate_series(%s, %s) n WHERE one.id = %s
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    house.need_engines()
    built = house.build()
    fill(built, agents=chosen.agents, runs=chosen.runs)
    ratio = queries(built, rounds=chosen.rounds)
    drawn = pages(built, rounds=chosen.rounds)
    sys.exit(int(ratio > MOST_RATIO or (drawn is not None and drawn > MOST_DRAWN_SECONDS)))


def fill(built: Any, *, agents: int, runs: int) -> None:
    """The agents in a tree of ten below each, and the runs spread over them."""
    from django.db import connection, connections

    from agents.models import Agent
    from runs.models import Run
    from workspaces.models import Principal
    from workspaces.tenancy import bind

    with bind(built.workspace):
        people = [
            Principal(workspace=built.workspace, kind="agent", handle=f"a{n}", name=f"Agent {n}")
            for n in range(agents - 1)
        ]
        Principal.objects.bulk_create(people)
        Agent.objects.bulk_create(
            Agent(
                workspace=built.workspace, name=f"a{n}", title=f"Agent {n}", principal=person,
                reports_to=people[(n - 1) // 10] if n else built.agent.principal,
            )
            for n, person in enumerate(people)
        )  # fmt: skip
        conversation = built.converse()
        one = Run.objects.create(
            agent=built.agent, space=built.space, conversation=conversation,
            adapter="cc-harness", state="succeeded",
        )  # fmt: skip
    each, step = max(1, runs // agents), 100
    for first in range(0, each, step):
        with bind(built.workspace), connection.cursor() as cursor:
            cursor.execute(RUNS, [first, min(first + step, each) - 1, one.pk])
    with bind(built.workspace):
        for row in Run.objects.filter(state="failed")[:20]:
            Run.objects.filter(pk=row.pk).update(state="running")
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")


def queries(built: Any, *, rounds: int) -> float:
    """Prints and returns how much longer our one query takes than the hand-written one."""
    from django.db import connection

    from agents.models import Agent
    from agents.views.standing import state_of, with_facts, with_states
    from runs.live_state import with_live_state
    from runs.models import Run
    from workspaces.tenancy import bind

    def by_hand() -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(BY_HAND, [built.workspace.pk])
            return list(cursor.fetchall())

    narrow = ("persona", "system_prompt", "unknown_keys")

    def ours() -> list[Any]:
        facts = with_facts(Agent.objects.order_by("name")).values_list(
            "id", "name", "title", "lifecycle", "is_at_work", "newest", "last_run_at"
        )
        return [(*row[:4], state_of(*row[4:]).value) for row in facts]

    def rows() -> list[Any]:
        return with_states(Agent.objects.defer(*narrow).order_by("name"))

    def in_sql() -> list[Any]:
        found = with_live_state(Agent.objects.defer(*narrow)).order_by("live_order", "name")
        return list(found)

    with bind(built.workspace):
        print(f"roster: {Agent.objects.count():,} agents, {Run.objects.count():,} runs")
        same = {row[0]: row[4] for row in ours()} == {row[0]: row[5] for row in by_hand()}
        theirs, own = [], []
        for _round in range(rounds):  # in turns, so that both see the same weather
            theirs.append(seconds(by_hand))
            own.append(seconds(ours))
        as_rows = [seconds(rows) for _ in range(rounds)]
        nested = [seconds(in_sql) for _ in range(3)]
    ratio = statistics.median(own) / statistics.median(theirs)
    line("hand-written SQL", theirs, "the same states" if same else "OTHER STATES")
    line("our query and rule, as tuples", own, f"{ratio:.2f} × (<= {MOST_RATIO})")
    line("  the same as model rows", as_rows, "")
    line("  beside: the annotation in SQL", nested, "")
    return ratio if same else 99.0


def pages(built: Any, *, rounds: int) -> float | None:
    """Prints what the pages cost; returns the seconds that Chromium takes to draw the chart."""
    from django.db import connection
    from django.test import Client

    from workspaces.models import User

    client = Client()
    client.force_login(User.objects.get(email__startswith="ada-"))
    chart = ""
    for word, path in (("roster page", "agents/"), ("org chart page", "orgchart/")):
        address = f"/w/{built.workspace.slug}/{path}"
        count = 0

        def counting(execute: Any, *rest: Any) -> Any:
            nonlocal count
            count += 1
            return execute(*rest)

        with connection.execute_wrapper(counting):
            body = ask(client, address)
        times = [seconds(partial(ask, client, address)) for _ in range(rounds)]
        line(word, times, f"{count} statements, {len(body) / 1024:,.0f} KiB")
        chart = body.decode()
    return draw(chart)


def ask(client: Any, address: str) -> bytes:
    body: bytes = client.get(address, headers={"host": "localhost"}).content
    return body


def draw(page: str) -> float | None:
    """Seconds until Chromium has laid the page out and painted it, with our style sheets."""
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    styles = "".join(
        f"<style>{file.read_text()}</style>"
        for file in sorted((house.ROOT / "static/css").rglob("*.css"))
    )
    body = page.partition("<body")[2].partition(">")[2]
    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _round in range(3):
            tab = browser.new_page(viewport={"width": 1440, "height": 900})
            tab.route("**/*", lambda route: route.abort())
            started = time.perf_counter()
            tab.set_content(f"<html>{styles}<body>{body}", wait_until="commit")
            tab.evaluate(
                "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
            )
            times.append(time.perf_counter() - started)
            tab.close()
        browser.close()
    line("org chart drawn in Chromium", times, f"<= {MOST_DRAWN_SECONDS * 1000:,.0f} ms")
    return statistics.median(times)


def seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def line(what: str, times: list[float], figure: str) -> None:
    print(f"  {what:<34} {statistics.median(times) * 1000:8.1f} ms   {figure}", flush=True)


if __name__ == "__main__":
    main()
