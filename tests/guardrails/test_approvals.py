"""An approval is asked once, answered once, used once."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from guardrails import approvals, autonomy, rule_changes, rules
from guardrails.approvals import AlreadyDecided, Answer, MayNotDecide, NotUsable
from guardrails.classes import ActionClass
from guardrails.decisions import AutonomyLevel, Decision
from guardrails.models import Approval, ApprovalSettings, Rule
from guardrails.rule_changes import NewRule
from tests.cast import Cast
from tests.guardrails.asking import ask, command, moved, push
from workspaces import members
from workspaces.models import AuditEntry, Membership, Role
from workspaces.tenancy import bind

pytestmark = pytest.mark.django_db

State = Approval.State


def acts() -> list[str]:
    return list(
        AuditEntry.objects.filter(action__regex="^(approval|rule|autonomy)")
        .order_by("at", "id")
        .values_list("action", flat=True)
    )


# ---------------------------------------------------------------- asking


def test_the_same_question_of_one_run_is_one_question(cast: Cast) -> None:
    with cast.bound():
        run = uuid4()
        first = ask(cast, run_id=run)
        assert ask(cast, run_id=run) == first
        assert Approval.objects.count() == 1
        assert acts() == ["approval.request"]


def test_two_equal_commands_are_two_questions_and_each_answer_goes_to_its_own_call(
    cast: Cast,
) -> None:
    with cast.bound():
        run = uuid4()
        first = ask(cast, command(cast, call_id="call-1"), run_id=run)
        second = ask(cast, command(cast, call_id="call-2"), run_id=run)
        approvals.decide(first, by=cast.ben.principal, answer=Answer.DENY)
        approvals.decide(second, by=cast.ben.principal, answer=Answer.ONCE)
        with pytest.raises(NotUsable):
            approvals.consume(first.pk, digest=first.digest)
        approvals.consume(second.pk, digest=second.digest)


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Push 3 commits to tide-api"},
        {"repository": "infra"},
        {"moves": ()},
        {"files": ("a.py",)},
        {"command": "git push"},
        {"on_yes": "Something else."},
        {"text": "x"},
        {"arguments": "{}"},
    ],
)
def test_whatever_else_is_shown_is_another_question(cast: Cast, change: dict[str, object]) -> None:
    with cast.bound():
        run = uuid4()
        first = ask(cast, run_id=run)
        assert ask(cast, moved(push(cast), **change), run_id=run) != first


def test_the_database_itself_refuses_a_second_open_question(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        twin = Approval(run_id=row.run_id, digest=row.digest, kind="push", title="again")
        with pytest.raises(IntegrityError), transaction.atomic():
            twin.save()


def test_a_call_that_was_answered_is_never_asked_again(cast: Cast) -> None:
    with cast.bound():
        run = uuid4()
        row = ask(cast, command(cast), run_id=run)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.DENY)
        again = ask(cast, command(cast), run_id=run)
        assert (again.pk, again.state) == (row.pk, State.DENIED)


def test_a_push_that_was_denied_can_be_asked_for_again(cast: Cast) -> None:
    with cast.bound():
        run = uuid4()
        row = ask(cast, run_id=run)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.DENY)
        assert ask(cast, run_id=run).pk != row.pk


def test_where_nobody_could_decide_it_is_denied_at_once(cast: Cast) -> None:
    with cast.bound():
        Membership.objects.exclude(pk=cast.vera.pk).update(is_active=False)
        row = ask(cast)
        assert row.state == State.DENIED
        assert acts() == ["approval.request", "approval.deny"]


def test_in_a_private_space_only_those_who_take_part_decide(cast: Cast) -> None:
    with cast.bound():
        cast.space.visibility = "private"
        cast.space.save()
        cast.space.participants.filter(principal=cast.ben.principal).delete()
        row = ask(cast)
        with pytest.raises(MayNotDecide):
            approvals.decide(row, by=cast.ben.principal, answer=Answer.DENY)
        approvals.decide(row, by=cast.ada.principal, answer=Answer.ONCE)


# ---------------------------------------------------------------- deciding


@pytest.mark.req("CC-52")
def test_the_first_answer_wins_and_the_second_learns_who_what_and_when(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)
        with pytest.raises(AlreadyDecided) as error:
            approvals.decide(row, by=cast.ada.principal, answer=Answer.DENY)
        known = error.value.approval
        assert (known.state, known.decided_by) == (State.APPROVED, cast.ben.principal)
        assert known.decided_at is not None
        assert acts() == ["approval.request", "approval.approve"]


def test_an_answer_given_in_between_loses_without_a_trace(cast: Cast) -> None:
    """Ben's answer arrives after Ada's page was read: the update itself compares."""
    with cast.bound():
        row = ask(cast)
        approvals.decide(row, by=cast.ada.principal, answer=Answer.DENY)
        assert approvals._close(row, State.APPROVED, by=cast.ben.principal) is None
        row.refresh_from_db()
        assert row.state == State.DENIED


def test_a_denial_carries_its_note_to_the_agent(cast: Cast) -> None:
    with cast.bound():
        closed = approvals.decide(
            ask(cast), by=cast.ben.principal, answer=Answer.DENY, note=" open a PR instead "
        )
        assert closed.note == "open a PR instead"
        assert AuditEntry.objects.get(action="approval.deny").outcome == "deny"


@pytest.mark.parametrize("who", ["vera", "eve", "engineer"])
def test_who_only_views_belongs_elsewhere_or_is_an_agent_decides_nothing(
    cast: Cast, who: str
) -> None:
    with bind(cast.elsewhere):
        eve = cast.eve.principal
    with cast.bound():
        somebody = eve if who == "eve" else getattr(cast, who).principal
        row = ask(cast)
        with pytest.raises(MayNotDecide):
            approvals.decide(row, by=somebody, answer=Answer.DENY)


def test_who_lost_the_role_decides_nothing(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        members.remove(cast.ben, by=cast.ada)
        with pytest.raises(MayNotDecide):
            approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)


def test_for_a_requester_who_lost_the_role_there_is_only_a_no(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast, on_behalf_of=cast.ben.principal)
        members.change_role(cast.ben, Role.VIEWER, by=cast.ada)
        with pytest.raises(MayNotDecide, match="may not ask for it any more"):
            approvals.decide(row, by=cast.ada.principal, answer=Answer.ONCE)
        approvals.decide(row, by=cast.ada.principal, answer=Answer.DENY)


def test_a_requester_may_say_yes_unless_two_people_are_needed(cast: Cast) -> None:
    with cast.bound():
        approvals.decide(ask(cast), by=cast.ada.principal, answer=Answer.ONCE)
        rule_changes.write(
            NewRule(
                decision=Decision.ASK, action_class=ActionClass.GIT_PUSH, needs_two_people=True
            ),
            by=cast.ada,
        )
        row = ask(cast)
        with pytest.raises(MayNotDecide, match="Two people"):
            approvals.decide(row, by=cast.ada.principal, answer=Answer.ONCE)
        with pytest.raises(MayNotDecide, match="once only"):
            approvals.decide(row, by=cast.ben.principal, answer=Answer.FOR_HOURS)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)


def test_two_people_are_needed_and_there_is_one_so_it_is_denied_at_once(cast: Cast) -> None:
    with cast.bound():
        members.remove(cast.ben, by=cast.ada)
        rule_changes.write(
            NewRule(
                decision=Decision.ASK, action_class=ActionClass.GIT_PUSH, needs_two_people=True
            ),
            by=cast.ada,
        )
        assert ask(cast).state == State.DENIED


# ---------------------------------------------------------------- using


def test_a_yes_is_used_once_and_only_for_what_was_shown(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        with pytest.raises(NotUsable):
            approvals.consume(row.pk, digest=row.digest)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)
        with pytest.raises(NotUsable):
            approvals.consume(row.pk, digest="0" * 64)
        assert approvals.consume(row.pk, digest=row.digest).used_at is not None
        with pytest.raises(NotUsable, match="used already"):
            approvals.consume(row.pk, digest=row.digest)
        assert acts()[-1] == "approval.use"


def test_a_yes_is_worth_nothing_once_a_rule_denies_it(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)
        rule_changes.write(
            NewRule(decision=Decision.DENY, action_class=ActionClass.GIT_PUSH), by=cast.ada
        )
        with pytest.raises(NotUsable):
            approvals.consume(row.pk, digest=row.digest)


def test_another_workspace_has_no_such_approval(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)
    with bind(cast.elsewhere), pytest.raises(NotUsable):
        approvals.consume(row.pk, digest=row.digest)


# ---------------------------------------------------------------- ending without an answer


def test_a_cancelled_run_takes_its_open_questions_and_unused_yeses_along(cast: Cast) -> None:
    with cast.bound():
        run = uuid4()
        asked = [ask(cast, command(cast, call_id=str(n)), run_id=run) for n in range(3)]
        yes = ask(cast, run_id=run)
        approvals.decide(yes, by=cast.ben.principal, answer=Answer.ONCE)
        other = ask(cast)
        assert approvals.cancel_for_run(run) == 3
        assert approvals.cancel_for_run(run) == 0
        for row in asked:
            row.refresh_from_db()
            assert (row.state, row.note) == (
                State.CANCELLED,
                "Its run ended before anyone answered.",
            )
            with pytest.raises(AlreadyDecided):
                approvals.decide(row, by=cast.ben.principal, answer=Answer.ONCE)
        with pytest.raises(NotUsable, match="withdrawn"):
            approvals.consume(yes.pk, digest=yes.digest)
        other.refresh_from_db()
        assert other.is_open


def test_attended_work_waits_for_ever_and_unattended_for_a_day(cast: Cast) -> None:
    with cast.bound():
        assert ask(cast).expires_at is None
        row = ask(cast, attended=False)
        assert row.expires_at is not None
        assert abs(row.expires_at - row.created_at - timedelta(hours=24)) < timedelta(minutes=1)
        ApprovalSettings.objects.create(unattended_hours=2)
        sooner = ask(cast, attended=False)
        assert sooner.expires_at is not None
        assert sooner.expires_at < row.expires_at


def test_what_nobody_answered_in_time_is_a_no(cast: Cast) -> None:
    with cast.bound():
        late, other = ask(cast, attended=False), ask(cast, attended=False)
        Approval.objects.filter(pk__in=[late.pk, other.pk]).update(expires_at=timezone.now())
        with pytest.raises(AlreadyDecided) as error:
            approvals.decide(late, by=cast.ben.principal, answer=Answer.ONCE)
        assert error.value.approval.state == State.EXPIRED
    assert approvals.expire_due() == 1
    assert approvals.expire_due() == 0
    with cast.bound():
        other.refresh_from_db()
        assert (other.state, other.decided_by) == (State.EXPIRED, None)
        assert other.decided_at is not None


# ---------------------------------------------------------------- eight hours


def judged(cast: Cast, asked: object = None) -> Decision:
    question = asked or push(cast)
    return rules.judge(
        question.actions,  # type: ignore[attr-defined]
        agent_id=cast.engineer.pk,
        space_id=cast.space.pk,
    ).decision


def test_eight_hours_let_the_same_agent_do_the_same_thing_in_the_same_space(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        approvals.decide(row, by=cast.ben.principal, answer=Answer.FOR_HOURS)
        (rule,) = Rule.objects.standing()
        assert rule.constraint == {
            "refs": ["feature/**"],
            "repositories": ["tide-api"],
            "agents": [str(cast.engineer.pk)],
        }
        assert rule.expires_at is not None
        assert timedelta(hours=7) < rule.expires_at - timezone.now() <= timedelta(hours=8)
        assert judged(cast) is Decision.ALLOW
        assert judged(cast, push(cast, ref="refs/heads/feature/y")) is Decision.ALLOW
        assert judged(cast, push(cast, ref="refs/heads/main")) is Decision.ASK
        assert judged(cast, push(cast, rewrites=True)) is Decision.ASK
        approvals.consume(row.pk, digest=row.digest)


def test_eight_hours_for_main_are_for_main_only(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast, push(cast, ref="refs/heads/main"))
        approvals.decide(row, by=cast.ben.principal, answer=Answer.FOR_HOURS)
        assert Rule.objects.standing().get().constraint["refs"] == ["main"]


def test_eight_hours_for_a_deletion_are_for_its_paths(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast, command(cast, "rm -rf build"))
        approvals.decide(row, by=cast.ben.principal, answer=Answer.FOR_HOURS)
        assert judged(cast, command(cast, "rm -rf build")) is Decision.ALLOW
        assert judged(cast, command(cast, "rm -rf src")) is Decision.ASK


@pytest.mark.parametrize("line", ["rm -rf *", "rm $X", "gh pr create --title 'a b'", "$X y"])
def test_what_nothing_limits_is_approved_once_only(cast: Cast, line: str) -> None:
    with cast.bound():
        row = ask(cast, command(cast, line))
        with pytest.raises(MayNotDecide, match="once only"):
            approvals.decide(row, by=cast.ben.principal, answer=Answer.FOR_HOURS)
        row.refresh_from_db()
        assert row.is_open


def test_a_force_push_is_approved_once_only(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast, push(cast, rewrites=True))
        with pytest.raises(MayNotDecide, match="once only"):
            approvals.decide(row, by=cast.ben.principal, answer=Answer.FOR_HOURS)


# ---------------------------------------------------------------- what rules and dials change


def test_a_new_deny_ends_standing_yeses_and_open_questions_of_its_class(cast: Cast) -> None:
    with cast.bound():
        approvals.decide(ask(cast), by=cast.ben.principal, answer=Answer.FOR_HOURS)
        approvals.decide(
            ask(cast, command(cast, "rm -rf build")), by=cast.ben.principal, answer=Answer.FOR_HOURS
        )
        question = ask(cast, push(cast, ref="refs/heads/main"))
        written = rule_changes.write(
            NewRule(decision=Decision.DENY, action_class=ActionClass.GIT_PUSH), by=cast.ada
        )
        assert [rule.action_class for rule in written.revoked] == ["git_push"]
        assert [row.pk for row in written.denied] == [question.pk]
        assert Rule.objects.standing().get().action_class == "file_delete"
        assert judged(cast) is Decision.DENY


def test_a_deny_elsewhere_leaves_a_standing_yes_alone(cast: Cast) -> None:
    with cast.bound():
        approvals.decide(ask(cast), by=cast.ben.principal, answer=Answer.FOR_HOURS)
        written = rule_changes.write(
            NewRule(decision=Decision.DENY, action_class=ActionClass.GIT_PUSH, agent=cast.ceo),
            by=cast.ada,
        )
        assert written.revoked == []
        assert judged(cast) is Decision.ALLOW


def test_an_agent_that_only_proposes_gets_no_yes_any_more(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
        autonomy.set_level(cast.engineer, cast.space, AutonomyLevel.PROPOSE_ONLY, by=cast.ben)
        with pytest.raises(MayNotDecide, match="only proposes"):
            approvals.decide(row, by=cast.ada.principal, answer=Answer.ONCE)
