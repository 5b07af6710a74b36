"""Claims, leases and fences as a machine that hypothesis drives: two workers, a sweep, pauses,
rings that come twice or late. The steps are the product's own, on its own SQL."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import sampled_from

from harness import events
from harness.errors import Completed
from runs import dispatch, journal, moves, recovery, runner
from runs.dispatch import CannotDo
from runs.journal import FenceLost
from runs.models import Run
from tests.runs.stage import Stage
from tests.runs.test_witness import Fault, faulty

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak]
WORKERS = sampled_from(["first", "second"])
NOTE = events.notice("at work")


class Claims(RuleBasedStateMachine):
    """One run. `held` is what each worker believes to have, whoever may have taken it meanwhile."""

    stage: Stage
    walked: int = 0

    def __init__(self) -> None:
        super().__init__()
        [self.run] = self.stage.say("@engineer tidy up")
        self.held: dict[str, Run] = {}
        self.fence = 0
        self.end: tuple[str, str] | None = None
        self.written = 0

    def fresh(self) -> Run:
        return self.stage.fresh(self.run)

    def is_right(self, mine: Run) -> bool:
        now = self.fresh()
        return now.state == "running" and now.fence == mine.fence

    @rule(worker=WORKERS)
    def hears_a_ring(self, worker: str) -> None:
        """Also one that comes twice, or after the end."""
        was_queued = self.fresh().state == "queued"
        found = runner.claim(self.run.workspace_id, self.run.pk)
        connection.close()
        assert (found is not None) == was_queued
        if found is not None:
            self.held[worker] = found

    @precondition(lambda self: self.held)
    @rule(worker=WORKERS)
    def writes(self, worker: str) -> None:
        """It writes if the run is still its own, however long it slept, and else nothing."""
        if (mine := self.held.get(worker)) is None:
            return
        is_right = self.is_right(mine)
        try:
            with self.stage.cast.bound():
                journal.record(mine, [NOTE], fence=mine.fence)
            self.written += 1
            assert is_right
        except FenceLost:
            assert not is_right

    @precondition(lambda self: self.held)
    @rule(worker=WORKERS, way=sampled_from(["completed", "given back"]))
    def lets_go(self, worker: str, way: str) -> None:
        if (mine := self.held.pop(worker, None)) is None:
            return
        is_right = self.is_right(mine)
        try:
            if way == "completed":
                runner._finish_once(mine, Completed("Done.", seen=10_000))
            else:
                with self.stage.cast.bound():
                    runner.give_back(runner._hold_mine(mine))
            assert is_right
        except FenceLost:
            assert not is_right

    @rule(is_late=sampled_from([True, False]))
    def the_sweep_comes(self, is_late: bool) -> None:
        before = self.fresh()
        if is_late and before.state == "running":
            self.stage.change(self.run, lease_until=timezone.now() - timedelta(seconds=1))
        recovery.sweep()
        is_taken = is_late and before.state == "running"
        assert (self.fresh().fence > before.fence) == is_taken

    @rule(act=sampled_from([dispatch.stop, dispatch.pause, dispatch.resume]))
    def a_member_clicks(self, act: Any) -> None:
        try:
            self.stage.act(act, self.run)
        except CannotDo:
            transaction.get_connection().close()

    @invariant()
    def what_has_ended_stays_so(self) -> None:
        now = self.fresh()
        assert now.fence >= self.fence
        self.fence = now.fence
        assert self.end is None or (now.state, now.terminal_reason) == self.end
        if not now.is_open:
            self.end = (now.state, now.terminal_reason)

    @invariant()
    def the_journal_is_whole(self) -> None:
        self.stage.assert_whole(self.run)
        said = self.stage.said(self.run)
        assert said.count("at work") == self.written

    @invariant()
    def a_lease_is_held_while_it_works_and_only_then(self) -> None:
        now = self.fresh()
        assert (now.state == "running") == (now.lease_until is not None)

    def teardown(self) -> None:
        type(self).walked += 1
        moves_on = self.fresh()
        if moves_on.is_open:
            with self.stage.cast.bound():
                moves.end(moves_on, state="cancelled", reason="cancelled_by_user", summary="")


def drive(*, examples: int) -> None:
    run_state_machine_as_test(
        Claims,
        settings=settings(
            max_examples=examples,
            stateful_step_count=15,
            phases=[Phase.generate],
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_no_order_of_steps_gives_a_run_to_two_or_loses_a_word(plain: Stage) -> None:
    Claims.stage, Claims.walked = plain, 0
    drive(examples=20)
    assert Claims.walked >= 20  # each step of each was checked by the invariants


def test_the_machine_finds_a_fault(plain: Stage) -> None:
    Claims.stage = plain
    claims_anything = Fault("runs_claim", "AND state = 'queued'", "")
    with faulty([claims_anything]), pytest.raises(AssertionError):
        drive(examples=100)
