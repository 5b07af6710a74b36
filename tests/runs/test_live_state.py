"""The live state of an agent: one rule, as a pure function and as an annotation (CC-79..87)."""

import itertools
import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import Agent
from agents.views.standing import with_states
from runs.live_state import (
    ROSTER_ORDER,
    LiveState,
    RunFacts,
    facts_of,
    live_state,
    with_live_state,
)
from runs.models import Run
from tests.cast import Cast

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LIVENESSES = ["", "completed", "failed", "dead", "blocked", "stalled", "looping", "empty"]


def facts(*runs: str) -> list[RunFacts]:
    """`state/liveness`, oldest first."""
    found = []
    for number, text in enumerate(runs):
        state, _, liveness = text.partition("/")
        at = NOON + timedelta(minutes=number)
        found.append(RunFacts(state, liveness, at, UUID(int=number)))
    return found


@pytest.mark.req("CC-81", "CC-82", "CC-83", "CC-84", "CC-85", "CC-86")
@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], "neverRun"),
        (["queued"], "idle"),
        (["running/productive"], "running"),
        (["parked/blocked"], "running"),
        (["running/stalled"], "running"),
        (["running", "failed/failed"], "running"),
        (["running", "succeeded/completed", "failed/dead"], "running"),
        (["failed/failed"], "failed"),
        (["failed/stalled"], "failed"),
        (["failed/looping"], "failed"),
        (["cancelled/dead"], "failed"),
        (["succeeded/failed"], "failed"),
        (["succeeded/blocked"], "blocked"),
        (["cancelled/stalled"], "blocked"),
        (["succeeded/looping"], "blocked"),
        (["succeeded/completed"], "idle"),
        (["succeeded/empty"], "idle"),
        (["cancelled/completed"], "idle"),
        (["failed/failed", "succeeded/completed"], "idle"),
        (["succeeded/completed", "failed/failed"], "failed"),
        (["failed/failed", "queued"], "failed"),
        (["succeeded/blocked", "queued"], "blocked"),
        (["succeeded/completed", "queued"], "idle"),
    ],
)
def test_the_first_row_of_the_table_that_matches_holds(runs: list[str], expected: str) -> None:
    assert live_state(facts(*runs)) == expected
    assert live_state(reversed(facts(*runs))) == expected


@pytest.mark.req("CC-87")
def test_what_belongs_to_a_run_is_no_state_of_an_agent() -> None:
    assert set(LiveState) == {"neverRun", "running", "failed", "blocked", "idle"}
    assert {"queued", "succeeded"} <= set(Run.State)


@pytest.mark.req("CC-79")
def test_an_agent_stores_no_state() -> None:
    names = {field.name for field in Agent._meta.get_fields()}
    assert not names & {"status", "state", "live_state", "liveness", "is_running"}


@pytest.fixture
def agents(cast: Cast) -> list[Agent]:
    """Agents with every pair of runs, and many more with runs of chance that tie in time."""
    dice = random.Random(4)
    kinds = list(itertools.product(Run.State.values, LIVENESSES))
    plans = [
        [],
        *([kind] for kind in kinds),
        *(list(pair) for pair in itertools.product(kinds[::3], kinds[::2])),
    ]
    plans += [[dice.choice(kinds) for _ in range(dice.randint(0, 6))] for _ in range(300)]
    with cast.bound():
        made = Agent.objects.bulk_create(Agent(workspace=cast.workspace) for _ in plans)
        Run.objects.bulk_create(
            Run(
                workspace=cast.workspace,
                agent=agent,
                space=cast.space,
                conversation=cast.conversation,
                adapter="cc-harness",
                state=state,
                liveness=liveness,
                queued_at=NOON + timedelta(seconds=dice.randint(0, 3)),
            )
            for agent, plan in zip(made, plans, strict=True)
            for state, liveness in plan
        )
    return made


@pytest.mark.django_db
@pytest.mark.req("CC-80")
def test_the_annotation_agrees_with_the_rule(cast: Cast, agents: list[Agent]) -> None:
    with cast.bound():
        found = list(with_live_state(Agent.objects.filter(pk__in=[a.pk for a in agents])))
        runs: dict[Any, list[RunFacts]] = {agent.pk: [] for agent in agents}
        for row in Run.objects.values_list("agent_id", "state", "liveness", "queued_at", "id"):
            runs[row[0]].append(RunFacts(*row[1:]))
    assert len(found) == len(agents) > 600
    for agent in found:
        expected = live_state(runs[agent.pk])
        assert agent.live_state == expected, runs[agent.pk]
        assert agent.live_order == ROSTER_ORDER.index(expected)
        assert agent.last_run_at == max((r.queued_at for r in runs[agent.pk]), default=None)


KIND = st.tuples(st.sampled_from(Run.State.values), st.sampled_from(LIVENESSES), st.integers(0, 2))
TEAM = st.lists(st.lists(KIND, max_size=5), min_size=1, max_size=12)


@pytest.mark.django_db
@pytest.mark.req("CC-80", "CC-81", "CC-82", "CC-83", "CC-84", "CC-85", "CC-86")
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(team=TEAM)
def test_rule_annotation_and_list_say_the_same_of_any_history(
    cast: Cast, team: list[list[tuple[str, str, int]]]
) -> None:
    """A history is runs with state, liveness and the second in which they were queued."""
    with cast.bound():
        Run.objects.all().delete()
        Agent.objects.filter(name="").delete()
        made = Agent.objects.bulk_create(Agent(workspace=cast.workspace) for _ in team)
        runs = {
            agent.pk: Run.objects.bulk_create(
                Run(
                    workspace=cast.workspace,
                    agent=agent,
                    space=cast.space,
                    conversation=cast.conversation,
                    adapter="cc-harness",
                    state=state,
                    liveness=liveness,
                    queued_at=NOON + timedelta(seconds=second),
                )
                for state, liveness, second in history
            )
            for agent, history in zip(made, team, strict=True)
        }
        own = Agent.objects.filter(name="")
        annotated = {row.pk: (row.live_state, row.last_run_at) for row in with_live_state(own)}
        listed = {row.pk: (row.live_state, row.last_run_at) for row in with_states(own)}
    for agent in made:
        facts_now = [
            RunFacts(run.state, run.liveness, run.queued_at, run.pk) for run in runs[agent.pk]
        ]
        last = max((run.queued_at for run in runs[agent.pk]), default=None)
        expected = (live_state(facts_now), last)
        assert annotated[agent.pk] == listed[agent.pk] == expected, facts_now


@pytest.mark.django_db
@pytest.mark.req("CC-80")
def test_any_number_of_agents_takes_one_query(cast: Cast, agents: list[Agent]) -> None:
    with (
        cast.bound(),
        CaptureQueriesContext(
            connection,
        ) as queries,
    ):
        list(with_live_state(Agent.objects.all()).order_by("live_order", "name"))
    assert len(queries) == 1


@pytest.mark.django_db
def test_the_facts_of_an_agent_are_read_anew_each_time(cast: Cast) -> None:
    with cast.bound():
        assert live_state(facts_of(cast.engineer)) == "neverRun"
        run = Run.objects.create(
            agent=cast.engineer,
            space=cast.space,
            conversation=cast.conversation,
            adapter="cc-harness",
            state="running",
        )
        assert live_state(facts_of(cast.engineer)) == "running"
        Run.objects.filter(pk=run.pk).update(state="succeeded", liveness="completed")
        assert live_state(facts_of(cast.engineer)) == "idle"
