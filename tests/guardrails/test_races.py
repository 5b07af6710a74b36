"""Twenty people at once: one answer, one effect, and each loser knows who was faster."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection

from guardrails import approvals
from guardrails.approvals import AlreadyDecided, Answer, NotUsable
from guardrails.models import Approval, Rule
from tests.cast import Cast
from tests.guardrails.asking import ask
from workspaces.models import AuditEntry, Principal
from workspaces.tenancy import bind

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak]

MANY = 20


def at_once(cast: Cast, acts: list[Callable[[], str]]) -> list[str]:
    """Every act in a thread and a transaction of its own, begun together."""
    start = Barrier(len(acts))

    def run(act: Callable[[], str]) -> str:
        start.wait(timeout=30)
        try:
            with bind(cast.workspace):
                return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


@pytest.mark.parametrize("round_", range(10))
def test_twenty_answers_at_once_make_one_decision_and_one_effect(
    committed_cast: Cast, round_: int
) -> None:
    cast = committed_cast
    with cast.bound():
        row = ask(cast)
        people = [cast.ada.principal, cast.ben.principal]

    def answer(by: Principal, answer: Answer) -> str:
        try:
            approvals.decide(row, by=by, answer=answer)
        except AlreadyDecided as known:
            return f"{known.approval.state} by {known.approval.decided_by}"
        return "mine"

    answers = [Answer.ONCE, Answer.DENY, Answer.FOR_HOURS, Answer.DENY]
    told = at_once(
        cast,
        [partial(answer, people[n % 2], answers[n % 4]) for n in range(MANY)],
    )
    with cast.bound():
        closed = Approval.objects.select_related("decided_by").get()
        assert told.count("mine") == 1
        assert set(told) - {"mine"} == {f"{closed.state} by {closed.decided_by}"}
        decisions = AuditEntry.objects.filter(action__in=["approval.approve", "approval.deny"])
        assert decisions.count() == 1
        assert Rule.objects.count() == (1 if closed.hours else 0)


def test_one_yes_is_used_by_one_of_twenty(committed_cast: Cast) -> None:
    cast = committed_cast
    with cast.bound():
        row = ask(cast)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)

    def use() -> str:
        try:
            approvals.consume(row.pk, digest=row.digest)
        except NotUsable:
            return "too late"
        return "mine"

    told = at_once(cast, [use] * MANY)
    assert told.count("mine") == 1
    with cast.bound():
        assert AuditEntry.objects.filter(action="approval.use").count() == 1


def test_one_question_asked_by_twenty_is_one_question(committed_cast: Cast) -> None:
    cast, run = committed_cast, uuid4()
    told = at_once(cast, [lambda: str(ask(cast, run_id=run).pk)] * MANY)
    assert len(set(told)) == 1
    with cast.bound():
        assert AuditEntry.objects.filter(action="approval.request").count() == 1


def test_a_decision_and_the_end_of_its_run_never_both_happen(committed_cast: Cast) -> None:
    cast, run = committed_cast, uuid4()
    with cast.bound():
        row = ask(cast, run_id=run)

    def decide() -> str:
        try:
            return approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE).state
        except AlreadyDecided as known:
            return known.approval.state

    def end() -> str:
        approvals.cancel_for_run(run)
        return ""

    told = at_once(cast, [decide, end, decide, end])
    with cast.bound():
        row.refresh_from_db()
        assert {state for state in told if state} == {row.state}
        with pytest.raises(NotUsable):
            approvals.consume(row.pk, digest=row.digest)
