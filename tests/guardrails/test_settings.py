"""Settings → Permissions, What if, and the autonomy dial, each as a page that is used."""

from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from guardrails import approvals, autonomy, rule_changes, rules
from guardrails.approvals import Answer
from guardrails.classes import ActionClass
from guardrails.decisions import AutonomyLevel, Decision
from guardrails.forms import WhatIfForm
from guardrails.models import Approval, ApprovalSettings, Rule
from guardrails.rule_changes import NewRule
from guardrails.views.what_if import actions_of
from tests.cast import Cast
from tests.guardrails.asking import ask, push
from workspaces.models import AuditEntry, Membership

pytestmark = pytest.mark.django_db

RULES = "settings/permissions/"
FORM = {
    "decision": "deny",
    "scope": "workspace",
    "action_class": "git_push",
    "level": "hard",
}


def post(cast: Cast, who: Membership | None, path: str, **facts: object) -> HttpResponse:
    return cast.client(who).post(cast.path(path), facts)  # type: ignore[return-value]


def page(cast: Cast, who: Membership, path: str) -> str:
    return cast.client(who).get(cast.path(path)).content.decode()


# ---------------------------------------------------------------- rules


def test_the_page_shows_the_thirteen_classes_and_what_holds(cast: Cast) -> None:
    with cast.bound():
        rule_changes.write(
            NewRule(
                decision=Decision.ALLOW, command_prefix="make test", space=cast.space, note="CI"
            ),
            by=cast.ada,
        )
    shown = page(cast, cast.ben, RULES)
    for action_class in ActionClass:
        assert str(action_class.label).replace("'", "&#x27;") in shown
    assert "make test" in shown
    assert "Engine room" in shown


def test_an_admin_writes_a_rule_and_it_holds(cast: Cast) -> None:
    answer = post(cast, cast.ada, RULES + "new/", **FORM)
    assert answer.status_code == 302
    with cast.bound():
        rule = Rule.objects.get()
        assert (rule.decision, rule.action_class, rule.created_by) == (
            "deny",
            "git_push",
            cast.ada.principal,
        )


def test_a_rule_with_limits_is_written_as_it_was_meant(cast: Cast) -> None:
    facts = FORM | {
        "decision": "allow",
        "scope": "space",
        "space": str(cast.space.pk),
        "refs": "feature/**\n !main \n\n",
        "max_count": "3",
        "expires_at": "2100-01-01T10:00",
    }
    assert post(cast, cast.ada, RULES + "new/", **facts).status_code == 302
    with cast.bound():
        rule = Rule.objects.get()
        assert rule.constraint == {"refs": ["feature/**", "!main"], "max_count": 3}
        assert rule.space == cast.space
        assert rule.expires_at is not None
        assert rule.expires_at.isoformat() == "2100-01-01T10:00:00+00:00"


@pytest.mark.parametrize(
    "change",
    [
        {"action_class": ""},
        {"command_prefix": "git push"},
        {"scope": "space"},
        {"scope": "agent", "agent": str(uuid4())},
        {"expires_at": "2001-01-01T00:00"},
        {"decision": "perhaps"},
        {"action_class": "teleport"},
        {"level": "iron"},
        {"max_count": "-1"},
    ],
)
def test_a_rule_that_makes_no_sense_is_sent_back(cast: Cast, change: dict[str, str]) -> None:
    assert post(cast, cast.ada, RULES + "new/", **FORM | change).status_code == 422
    with cast.bound():
        assert not Rule.objects.exists()


def test_before_a_rule_holds_the_page_says_what_it_changes(cast: Cast) -> None:
    with cast.bound():
        approvals.decide(ask(cast), by=cast.ben.principal, answer=Answer.FOR_HOURS)
        ask(cast, push(cast, ref="refs/heads/main"))
    said = post(cast, cast.ada, RULES + "new/", **FORM | {"preview": "1"}).content.decode()
    assert "It holds for every agent in every space." in said
    assert "Up to 1 standing yes ends." in said
    assert "Up to 1 open question is denied." in said
    with cast.bound():
        assert Rule.objects.count() == 1


def test_a_new_deny_says_what_it_ended(cast: Cast) -> None:
    with cast.bound():
        ask(cast)
    client = cast.client(cast.ada)
    answer = client.post(cast.path(RULES + "new/"), FORM, follow=True)
    assert "1 open question was denied." in answer.content.decode()
    with cast.bound():
        assert Approval.objects.get().state == "denied"


def test_a_changed_rule_replaces_the_old_one(cast: Cast) -> None:
    post(cast, cast.ada, RULES + "new/", **FORM)
    with cast.bound():
        old = Rule.objects.get()
    form = cast.client(cast.ada).get(cast.path(f"{RULES}{old.pk}/edit/"))
    assert form.status_code == 200
    post(cast, cast.ada, f"{RULES}{old.pk}/edit/", **FORM | {"decision": "ask"})
    with cast.bound():
        assert [rule.decision for rule in Rule.objects.in_force()] == ["ask"]
    again = cast.client(cast.ada).get(cast.path(f"{RULES}{old.pk}/edit/"))
    assert again.status_code == 404


def test_a_rule_is_ended_once_and_twice_is_harmless(cast: Cast) -> None:
    post(cast, cast.ada, RULES + "new/", **FORM)
    with cast.bound():
        rule = Rule.objects.get()
    for _ in range(2):
        assert post(cast, cast.ada, f"{RULES}{rule.pk}/revoke/").status_code == 302
    with cast.bound():
        assert AuditEntry.objects.filter(action="rule.revoke").count() == 1
    assert post(cast, cast.ben, f"{RULES}{rule.pk}/revoke/").status_code == 403


def test_who_gave_a_standing_yes_takes_it_back(cast: Cast) -> None:
    with cast.bound():
        approvals.decide(ask(cast), by=cast.ben.principal, answer=Answer.FOR_HOURS)
        rule = Rule.objects.get()
    assert post(cast, cast.ben, f"{RULES}{rule.pk}/revoke/").status_code == 302
    with cast.bound():
        assert not Rule.objects.in_force().exists()


def test_how_long_an_unattended_question_waits(cast: Cast) -> None:
    post(cast, cast.ada, RULES + "waiting/", unattended_hours=3)
    post(cast, cast.ada, RULES + "waiting/", unattended_hours=5)
    post(cast, cast.ada, RULES + "waiting/", unattended_hours=0)
    with cast.bound():
        assert ApprovalSettings.objects.get().unattended_hours == 5


# ---------------------------------------------------------------- what if


def test_what_if_answers_in_words_and_does_nothing(cast: Cast) -> None:
    with cast.bound():
        rule_changes.write(
            NewRule(decision=Decision.DENY, action_class=ActionClass.FILE_DELETE), by=cast.ada
        )
    query = {
        "agent": str(cast.engineer.pk),
        "space": str(cast.space.pk),
        "command": "git push && rm -rf build",
    }
    shown = cast.client(cast.ben).get(cast.path(RULES + "what-if/"), query).content.decode()
    assert "The Workspace says: Deny · Delete a file." in shown
    assert "rm -rf build" in shown
    assert "Push to a remote" in shown
    with cast.bound():
        assert not Approval.objects.exists()


def test_what_if_without_a_question_or_with_two_is_sent_back(cast: Cast) -> None:
    client = cast.client(cast.ben)
    assert client.get(cast.path(RULES + "what-if/")).status_code == 200
    query = {"agent": str(cast.engineer.pk), "space": str(cast.space.pk)}
    assert client.get(cast.path(RULES + "what-if/"), query).status_code == 422
    both = query | {"command": "ls", "action_class": "git_push"}
    assert client.get(cast.path(RULES + "what-if/"), both).status_code == 422
    foreign = query | {"space": str(uuid4()), "command": "ls"}
    assert client.get(cast.path(RULES + "what-if/"), foreign).status_code == 422


@hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    action_class=st.sampled_from(ActionClass.values),
    refs=st.lists(st.sampled_from(["main", "feature/x"]), max_size=2),
    decision=st.sampled_from(Decision),
    level=st.sampled_from(AutonomyLevel),
)
def test_what_if_equals_what_a_call_gets(
    cast: Cast, action_class: str, refs: list[str], decision: Decision, level: AutonomyLevel
) -> None:
    query = {
        "agent": str(cast.engineer.pk),
        "space": str(cast.space.pk),
        "action_class": action_class,
        "refs": "\n".join(refs),
    }
    with cast.bound():
        Rule.objects.all().delete()
        rule_changes.write(
            NewRule(decision=decision, action_class=ActionClass.GIT_PUSH), by=cast.ada
        )
        autonomy.set_level(cast.engineer, cast.space, level, by=cast.ada)
        form = WhatIfForm(query, member=cast.ben)
        assert form.is_valid()
        real = rules.judge(
            actions_of(form.cleaned_data),
            agent_id=cast.engineer.pk,
            space_id=cast.space.pk,
            mode=cast.space.mode,
        )
    shown = cast.client(cast.ben).get(cast.path(RULES + "what-if/"), query)
    assert shown.context["resolution"].decision is real.decision
    assert shown.context["resolution"].trail == real.trail


# ---------------------------------------------------------------- autonomy


def dial(cast: Cast, who: Membership | None, level: str) -> HttpResponse:
    return post(cast, who, f"spaces/{cast.space.pk}/autonomy/{cast.engineer.pk}/", level=level)


@pytest.mark.req("CC-92")
def test_turning_the_dial_shows_and_holds(cast: Cast) -> None:
    answer = dial(cast, cast.ben, "propose_only")
    assert answer.status_code == 200
    assert "says what it would do" in answer.content.decode()
    with cast.bound():
        level = autonomy.level_for(cast.engineer.pk, cast.space.pk)
        assert level is AutonomyLevel.PROPOSE_ONLY
    assert dial(cast, cast.ben, "propose_only").status_code == 200
    refused = dial(cast, cast.ben, "act_freely")
    assert refused.status_code == 422
    assert "Only an admin" in refused.content.decode()
    assert 'value="propose_only" selected' in refused.content.decode()
    assert dial(cast, cast.ada, "act_freely").status_code == 200
    assert dial(cast, cast.ada, "act_wildly").status_code == 422


def test_an_agent_held_back_gets_no_answer_to_what_it_had_asked(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast)
    dial(cast, cast.ben, "propose_only")
    with cast.bound():
        row.refresh_from_db()
        assert row.state == "denied"


# ---------------------------------------------------------------- every page, every stranger


NOBODY = UUID(int=1)  # the same in every worker, so that all collect the same tests
GETS = ["inbox/", "inbox/list/", "inbox/count/", RULES, RULES + "new/", RULES + "what-if/"]
POSTS = [
    RULES + "new/",
    RULES + "waiting/",
    f"{RULES}{NOBODY}/edit/",
    f"{RULES}{NOBODY}/revoke/",
    f"spaces/{NOBODY}/autonomy/{NOBODY}/",
]


@pytest.mark.parametrize("path", GETS)
def test_a_stranger_finds_nothing(cast: Cast, path: str) -> None:
    assert cast.client(cast.eve).get(cast.path(path)).status_code == 404
    assert cast.client(None).get(cast.path(path)).status_code == 302
    assert cast.client(cast.ada).delete(cast.path(path)).status_code == 405


@pytest.mark.parametrize("path", POSTS)
def test_a_stranger_changes_nothing(cast: Cast, path: str) -> None:
    assert cast.client(cast.eve).post(cast.path(path)).status_code == 404
    assert cast.client(cast.vera).post(cast.path(path)).status_code == 403
    assert cast.client(cast.ada).put(cast.path(path)).status_code == 405


@pytest.mark.parametrize("path", [RULES, RULES + "what-if/"])
def test_rules_are_not_for_who_only_views(cast: Cast, path: str) -> None:
    assert cast.client(cast.vera).get(cast.path(path)).status_code == 403


@pytest.mark.parametrize("path", [RULES + "new/", RULES + "what-if/"])
def test_a_choice_that_is_not_made_yet_is_said_in_words(cast: Cast, path: str) -> None:
    page = cast.client(cast.ada).get(cast.path(path)).content.decode()
    assert "---------" not in page
    assert ">–<" not in page
    assert "None, but a command" in page
