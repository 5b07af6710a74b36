"""Stored rules: who writes them, what they say, and that nothing unreadable opens a door."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from guardrails import autonomy, managed, policy, rule_changes, rules
from guardrails.autonomy import MayNotSetAutonomy
from guardrails.classes import ActionClass
from guardrails.constraints import Constraint
from guardrails.decisions import AutonomyLevel, Decision
from guardrails.models import Rule
from guardrails.policy import Circumstances, Stage
from guardrails.rule_changes import MayNotWriteRules, NewRule
from harness.actions import ActionClass as HarnessClass
from tests.cast import Cast
from tests.guardrails.asking import command, push
from workspaces.models import AuditEntry
from workspaces.tenancy import NoWorkspaceBound, bind

DENY_PUSH = NewRule(decision=Decision.DENY, action_class=ActionClass.GIT_PUSH)


def judged(cast: Cast, line: str = "", **more: object) -> Decision:
    asked = command(cast, line) if line else push(cast)
    return rules.judge(
        asked.actions,
        agent_id=cast.engineer.pk,
        space_id=cast.space.pk,
        **more,  # type: ignore[arg-type]
    ).decision


def test_the_harness_knows_the_same_thirteen_classes() -> None:
    assert {known.value for known in HarnessClass} == set(ActionClass.values)


@pytest.mark.django_db
@pytest.mark.req("CC-53")
def test_what_is_stored_says_the_same_as_the_pure_function(cast: Cast) -> None:
    with cast.bound():
        rule_changes.write(DENY_PUSH, by=cast.ada)
        rule_changes.write(
            NewRule(decision=Decision.ALLOW, command_prefix="rm  -rf build", space=cast.space),
            by=cast.ada,
        )
        facts = rules.in_force()
        for asked in (push(cast), command(cast), command(cast, "rm x && git push")):
            stored = rules.judge(asked.actions, agent_id=cast.engineer.pk, space_id=cast.space.pk)
            pure = policy.resolve_all(facts, asked.actions, Circumstances(now=timezone.now()))
            assert stored == pure
        assert judged(cast) is Decision.DENY
        assert judged(cast, "rm -rf build") is Decision.ALLOW
        assert judged(cast, "rm -rf src") is Decision.ASK


@pytest.mark.django_db
def test_a_rule_of_another_workspace_says_nothing_here(cast: Cast) -> None:
    with bind(cast.elsewhere):
        rule_changes.write(DENY_PUSH, by=cast.eve)
    with cast.bound():
        assert judged(cast) is Decision.ASK


@pytest.mark.django_db
def test_without_a_workspace_there_is_no_answer_at_all(cast: Cast) -> None:
    with pytest.raises(NoWorkspaceBound):
        judged(cast)


@pytest.mark.django_db
def test_only_an_admin_writes_and_revokes_rules(cast: Cast) -> None:
    with cast.bound():
        with pytest.raises(MayNotWriteRules):
            rule_changes.write(DENY_PUSH, by=cast.ben)
        rule = rule_changes.write(DENY_PUSH, by=cast.ada).rule
        with pytest.raises(MayNotWriteRules):
            rule_changes.revoke(rule, by=cast.ben)
        assert rule_changes.revoke(rule, by=cast.ada)
        assert not rule_changes.revoke(rule, by=cast.ada)
        assert judged(cast) is Decision.ASK
        acts = AuditEntry.objects.filter(action__startswith="rule.").order_by("at", "id")
        assert [act.action for act in acts] == ["rule.create", "rule.revoke"]


@pytest.mark.django_db
def test_a_changed_rule_is_a_new_rule_and_the_old_one_stays_readable(cast: Cast) -> None:
    with cast.bound():
        old = rule_changes.write(DENY_PUSH, by=cast.ada).rule
        new = rule_changes.write(
            NewRule(decision=Decision.ALLOW, action_class=ActionClass.GIT_PUSH),
            by=cast.ada,
            instead_of=old,
        ).rule
        assert list(Rule.objects.in_force()) == [new]
        old.refresh_from_db()
        assert old.revoked_by == cast.ada.principal


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        {"action_class": None},
        {"command_prefix": "git push"},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"action_class": None, "command_prefix": "   "},
    ],
)
def test_a_rule_that_says_two_things_or_nothing_is_refused(
    cast: Cast, change: dict[str, object]
) -> None:
    facts: dict[str, object] = {
        "decision": Decision.DENY,
        "action_class": ActionClass.GIT_PUSH,
    } | change
    with cast.bound(), pytest.raises(ValidationError):
        rule_changes.write(NewRule(**facts), by=cast.ada)  # type: ignore[arg-type]


@pytest.mark.django_db
def test_the_database_refuses_a_rule_with_two_scopes(cast: Cast) -> None:
    with cast.bound(), pytest.raises(IntegrityError), transaction.atomic():
        Rule.objects.create(
            scope="space",
            space=cast.space,
            agent=cast.ceo,
            action_class="git_push",
            decision="deny",
        )


@pytest.mark.django_db
def test_an_expired_rule_says_nothing(cast: Cast) -> None:
    with cast.bound():
        rule = rule_changes.write(DENY_PUSH, by=cast.ada).rule
        Rule.objects.filter(pk=rule.pk).update(expires_at=timezone.now())
        assert judged(cast) is Decision.ASK


@pytest.mark.django_db
def test_a_stored_rule_that_nobody_understands_only_tightens(cast: Cast) -> None:
    with cast.bound():
        rule = rule_changes.write(
            NewRule(
                decision=Decision.ALLOW,
                action_class=ActionClass.GIT_PUSH,
                constraint=Constraint(refs=("feature/**",)),
            ),
            by=cast.ada,
        ).rule
        assert judged(cast) is Decision.ALLOW
        Rule.objects.filter(pk=rule.pk).update(constraint={"moon": ["full"]})
        assert judged(cast) is Decision.ASK
        Rule.objects.filter(pk=rule.pk).update(decision="perhaps")
        assert judged(cast) is Decision.ASK


# ---------------------------------------------------------------- autonomy


@pytest.mark.django_db
@pytest.mark.req("CC-92")
def test_the_dial_of_an_agent_in_a_space(cast: Cast) -> None:
    with cast.bound():
        assert judged(cast) is Decision.ASK
        autonomy.set_level(cast.engineer, cast.space, AutonomyLevel.ACT_FREELY, by=cast.ada)
        assert judged(cast) is Decision.ALLOW
        assert judged(cast, ceiling=AutonomyLevel.PROPOSE_ONLY) is Decision.DENY
        autonomy.set_level(cast.engineer, cast.space, AutonomyLevel.PROPOSE_ONLY, by=cast.ben)
        assert judged(cast) is Decision.DENY
        assert judged(cast, ceiling=AutonomyLevel.ACT_FREELY) is Decision.DENY
        autonomy.set_level(cast.engineer, cast.space, AutonomyLevel.PROPOSE_ONLY, by=cast.ben)
        assert AuditEntry.objects.filter(action="autonomy.set").count() == 2


@pytest.mark.django_db
def test_only_an_admin_lets_an_agent_act_without_asking(cast: Cast) -> None:
    with cast.bound():
        with pytest.raises(MayNotSetAutonomy):
            autonomy.set_level(cast.engineer, cast.space, AutonomyLevel.ACT_FREELY, by=cast.ben)
        with pytest.raises(MayNotSetAutonomy):
            autonomy.set_level(cast.engineer, cast.space, AutonomyLevel.PROPOSE_ONLY, by=cast.vera)


# ---------------------------------------------------------------- the operator's file


@pytest.fixture
def policy_file(tmp_path: Path, settings: object) -> Path:
    path = tmp_path / "policy.json"
    settings.MANAGED_POLICY = str(path)  # type: ignore[attr-defined]
    return path


@pytest.mark.django_db
def test_the_operator_tightens_what_a_workspace_allows(cast: Cast, policy_file: Path) -> None:
    policy_file.write_text(
        json.dumps([{"decision": "deny", "action_class": "git_push",
                     "constraint": {"refs": ["main"]}}])
    )  # fmt: skip
    with cast.bound():
        rule_changes.write(
            NewRule(decision=Decision.ALLOW, action_class=ActionClass.GIT_PUSH), by=cast.ada
        )
        assert judged(cast) is Decision.ALLOW
        main = rules.judge(
            push(cast, ref="refs/heads/main").actions,
            agent_id=cast.engineer.pk,
            space_id=cast.space.pk,
        )
        assert (main.decision, main.step.stage) == (Decision.DENY, Stage.MANAGED)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "not json",
        "{}",
        "[1]",
        '[{"decision": "maybe", "action_class": "git_push"}]',
        '[{"decision": "deny"}]',
        '[{"decision": "deny", "action_class": "git_push", "command_prefix": "git"}]',
        '[{"decision": "deny", "action_class": "teleport"}]',
        '[{"decision": "deny", "action_class": "git_push", "constraint": {"moon": []}}]',
        '[{"decision": "deny", "action_class": "git_push", "scope": "space"}]',
    ],
)
def test_an_operators_file_that_cannot_be_read_denies_every_class(
    policy_file: Path, content: str | None
) -> None:
    if content is not None:
        policy_file.write_text(content)
    found = managed.load()
    assert {rule.action_class for rule in found} == set(ActionClass)
    assert {rule.decision for rule in found} == {Decision.DENY}
