"""A machine whose clock is an hour wrong ends nothing early and keeps nothing for too long: what is
due is due by the database's clock."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from guardrails import approvals, rules
from guardrails.approvals import Answer
from guardrails.decisions import Decision
from guardrails.models import Approval, Rule
from repositories import adding, forwarding
from repositories import recovery as repository_recovery
from repositories.models import PushRequest, Repository
from runs import recovery, runner
from tests.cast import Cast
from tests.guardrails.asking import ask, push
from tests.runs.stage import Stage
from workspaces import clock

pytestmark = pytest.mark.django_db
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture(params=[HOUR, -HOUR], ids=["ahead", "behind"])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on this machine's clock is wrong; the database's is right."""
    right = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + request.param)


@pytest.mark.usefixtures("wrong_clock")
@pytest.mark.django_db(transaction=True)
def test_a_run_is_kept_as_long_as_its_lease_and_no_longer(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    assert runner.claim(run.workspace_id, run.pk) is not None
    recovery.sweep()
    assert plain.fresh(run).state == "running"
    plain.change(run, lease_until=Now() - timedelta(seconds=1))
    recovery.sweep()
    assert plain.fresh(run).state == "queued"


@pytest.mark.usefixtures("wrong_clock")
def test_a_fetch_is_somebodys_as_long_as_it_beats(cast: Cast) -> None:
    with cast.bound():
        row = Repository.objects.create(
            name="apple", address="https://x.example/a", state="fetching", fetch_beat_at=Now()
        )
    assert adding._claim(cast.workspace.pk, row.pk) is None
    assert repository_recovery._unfetched() == []
    with cast.bound():
        Repository.objects.update(fetch_beat_at=Now() - timedelta(seconds=2 * adding.BEAT_SECONDS))
    assert repository_recovery._unfetched() == [(cast.workspace.pk, row.pk)]
    assert adding._claim(cast.workspace.pk, row.pk) is not None
    assert adding._claim(cast.workspace.pk, row.pk) is None


@pytest.mark.usefixtures("wrong_clock")
def test_a_mirror_is_as_old_as_it_is(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Repository] = []
    monkeypatch.setattr(adding, "_fetch", lambda row, _telling: asked.append(row))
    with cast.bound():
        row = Repository.objects.create(name="apple", address="https://x.example/a")
        for age, is_old in ((MINUTE, False), (3 * MINUTE, True)):
            row.last_fetched_at = clock.now() - age
            adding.refresh(row, max_age_seconds=120)
            assert bool(asked) == is_old


@pytest.mark.usefixtures("wrong_clock")
def test_a_push_is_forwarded_by_one_as_long_as_its_lease(cast: Cast) -> None:
    with cast.bound():
        repository = Repository.objects.create(name="apple", address="https://x.example/a")
        request = PushRequest.objects.create(
            number=1,
            repository=repository,
            repository_name="apple",
            run_id=cast.engineer.pk,
            digest="d" * 64,
            state="approved",
            decided_at=Now(),
        )
    assert repository_recovery._unforwarded() == []
    assert forwarding._claim(cast.workspace.pk, request.pk) is not None
    assert forwarding._claim(cast.workspace.pk, request.pk) is None
    assert repository_recovery._unforwarded() == []
    with cast.bound():
        PushRequest.objects.update(forward_until=Now() - timedelta(seconds=1))
    assert repository_recovery._unforwarded() == [(cast.workspace.pk, request.pk)]
    assert forwarding._claim(cast.workspace.pk, request.pk) is not None


@pytest.mark.usefixtures("wrong_clock")
def test_a_question_waits_its_time(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast, attended=False)
        assert row.expires_at is not None
        assert abs(row.expires_at - clock.now() - timedelta(hours=24)) < MINUTE
        Approval.objects.filter(pk=row.pk).update(expires_at=Now() + MINUTE)
    assert approvals.expire_due() == 0
    with cast.bound():
        Approval.objects.filter(pk=row.pk).update(expires_at=Now() - MINUTE)
        with pytest.raises(approvals.AlreadyDecided):
            approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)


@pytest.mark.usefixtures("wrong_clock")
def test_a_yes_for_eight_hours_holds_for_eight_hours(cast: Cast) -> None:
    def judged() -> Decision:
        return rules.judge(
            push(cast).actions, agent_id=cast.engineer.pk, space_id=cast.space.pk
        ).decision

    with cast.bound():
        approvals.decide(ask(cast), by=cast.ben.principal, answer=Answer.FOR_HOURS)
        [rule] = Rule.objects.all()
        assert rule.expires_at is not None
        assert abs(rule.expires_at - clock.now() - timedelta(hours=8)) < MINUTE
        Rule.objects.update(expires_at=Now() + MINUTE)
        assert judged() is Decision.ALLOW
        Rule.objects.update(expires_at=Now() - MINUTE)
        assert judged() is Decision.ASK
