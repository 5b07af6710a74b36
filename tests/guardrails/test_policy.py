"""The order of precedence, as a table: add a row for each bug."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrails.actions import Action
from guardrails.classes import ASKED_BY_DEFAULT, ActionClass, default_for
from guardrails.constraints import Constraint
from guardrails.decisions import AutonomyLevel, Decision, Level, Provenance, Scope, narrower
from guardrails.policy import (
    Circumstances,
    Resolution,
    RuleFacts,
    Stage,
    resolve,
    resolve_all,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
CHAT = Circumstances(now=NOW)
FREELY = Circumstances(now=NOW, autonomy=AutonomyLevel.ACT_FREELY)
PROPOSE = Circumstances(now=NOW, autonomy=AutonomyLevel.PROPOSE_ONLY)
PLAN = Circumstances(now=NOW, mode="plan")

PUSH = Action(
    classes=frozenset({"git_push"}),
    agent_id="engineer",
    space_id="tides",
    refs=("refs/heads/feature/x",),
    repositories=("tide-api",),
    spellings=(("git", "push", "origin", "feature/x"),),
)
BLIND_PUSH = replace(PUSH, refs=None)
SUDO_PUSH = replace(PUSH, spellings=(("sudo", "git", "push"), ("git", "push")))
FORCED = replace(PUSH, rewrites=True)
TAG = replace(PUSH, refs=("refs/tags/v1",))
TWO_REFS = replace(PUSH, refs=("feature/x", "main"))


def rule(decision: Decision, scope: Scope = Scope.WORKSPACE, **facts: object) -> RuleFacts:
    named: dict[str, object] = {"action_class": ActionClass.GIT_PUSH}
    if "command_prefix" in facts:
        named = {}
    scope_id = {Scope.SPACE: "tides", Scope.AGENT: "engineer", Scope.WORKSPACE: ""}[scope]
    named |= {"id": "r", "scope": scope, "scope_id": scope_id, "decision": decision} | facts
    return RuleFacts(**named)  # type: ignore[arg-type]


def on(**facets: object) -> Constraint:
    return Constraint(**facets)  # type: ignore[arg-type]


FEATURES = on(refs=("feature/**",))
MAIN = on(refs=("main",))

TABLE: list[tuple[str, list[RuleFacts], Action, Circumstances, Decision, Stage]] = [
    ("nothing said", [], PUSH, CHAT, ASK, Stage.DEFAULT),
    # scopes: space, agent, workspace, default
    ("workspace", [rule(ALLOW)], PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    ("agent over workspace", [rule(ALLOW), rule(ASK, Scope.AGENT)], PUSH, CHAT, ASK, Stage.AGENT),
    ("space over agent", [rule(ASK, Scope.AGENT), rule(ALLOW, Scope.SPACE)],
     PUSH, CHAT, ALLOW, Stage.SPACE),
    ("another space", [rule(ALLOW, Scope.SPACE, scope_id="docks")], PUSH, CHAT, ASK, Stage.DEFAULT),
    ("another agent", [rule(ALLOW, Scope.AGENT, scope_id="qa")], PUSH, CHAT, ASK, Stage.DEFAULT),
    ("a scope without an id is nobody's", [rule(ALLOW, Scope.SPACE, scope_id="")],
     replace(PUSH, space_id=""), CHAT, ASK, Stage.DEFAULT),
    ("another class", [rule(ALLOW, action_class=ActionClass.PR_CREATE)],
     PUSH, CHAT, ASK, Stage.DEFAULT),
    # denies
    ("hard deny from afar", [rule(DENY), rule(ALLOW, Scope.SPACE)],
     PUSH, CHAT, DENY, Stage.HARD_DENY),
    ("soft deny yields", [rule(DENY, level=Level.SOFT), rule(ALLOW, Scope.SPACE)],
     PUSH, CHAT, ALLOW, Stage.SPACE),
    ("soft deny beats its own scope", [rule(DENY, level=Level.SOFT), rule(ALLOW,
     constraint=FEATURES)], PUSH, CHAT, DENY, Stage.WORKSPACE),
    ("advisory only advises", [rule(DENY, level=Level.ADVISORY)], PUSH, CHAT, ASK, Stage.DEFAULT),
    # inside a scope
    ("constrained first", [rule(ASK), rule(ALLOW, constraint=FEATURES)],
     PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    ("constrained but elsewhere", [rule(ALLOW), rule(ASK, constraint=MAIN)],
     PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    ("longer prefix", [rule(ALLOW, command_prefix="git"), rule(ASK, command_prefix="git push")],
     PUSH, CHAT, ASK, Stage.WORKSPACE),
    ("prefix beats class", [rule(ASK), rule(ALLOW, command_prefix="git push")],
     PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    ("whole words", [rule(ALLOW, command_prefix="git pu")], PUSH, CHAT, ASK, Stage.DEFAULT),
    ("stricter", [rule(ALLOW), rule(ASK)], PUSH, CHAT, ASK, Stage.WORKSPACE),
    # an allow is proven, an ask or deny only touches
    ("allow for what was typed", [rule(ALLOW, command_prefix="git push")],
     SUDO_PUSH, CHAT, ASK, Stage.DEFAULT),
    ("deny any spelling", [rule(DENY, command_prefix="git push")],
     SUDO_PUSH, CHAT, DENY, Stage.HARD_DENY),
    ("all refs fit", [rule(ALLOW, constraint=FEATURES)], TWO_REFS, CHAT, ASK, Stage.DEFAULT),
    ("one ref touches", [rule(DENY, constraint=MAIN)], TWO_REFS, CHAT, DENY, Stage.HARD_DENY),
    ("letter case is no way round", [rule(DENY, constraint=MAIN)],
     replace(PUSH, refs=("refs/heads/MAIN",)), CHAT, DENY, Stage.HARD_DENY),
    ("letter case is no way in", [rule(ALLOW, constraint=MAIN)],
     replace(PUSH, refs=("Main",)), CHAT, ASK, Stage.DEFAULT),
    ("all but main", [rule(ALLOW, constraint=on(refs=("!main",)))],
     PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    ("all but main, main", [rule(ALLOW, constraint=on(refs=("!main",)))],
     TWO_REFS, CHAT, ASK, Stage.DEFAULT),
    ("unknown ref never fits", [rule(ALLOW, constraint=FEATURES)],
     BLIND_PUSH, CHAT, ASK, Stage.DEFAULT),
    ("unknown ref might be denied", [rule(ALLOW), rule(DENY, constraint=MAIN)],
     BLIND_PUSH, CHAT, ASK, Stage.UNSTATED),
    ("an override is heard before the doubt", [rule(ALLOW, Scope.SPACE),
     rule(ASK, constraint=MAIN)], BLIND_PUSH, CHAT, ALLOW, Stage.SPACE),
    ("traversal never fits", [rule(ALLOW, constraint=FEATURES)],
     replace(PUSH, refs=("feature/../main",)), CHAT, ASK, Stage.DEFAULT),
    ("hidden characters never fit", [rule(ALLOW, constraint=FEATURES)],
     replace(PUSH, refs=("feature/\u202ex",)), CHAT, ASK, Stage.DEFAULT),
    ("unreadable allow never allows", [rule(ALLOW, is_readable=False)],
     PUSH, CHAT, ASK, Stage.DEFAULT),
    ("unreadable deny denies", [rule(DENY, constraint=MAIN, is_readable=False)],
     PUSH, CHAT, DENY, Stage.HARD_DENY),
    # force, delete, tags
    ("plain allow is not for force", [rule(ALLOW)], FORCED, CHAT, ASK, Stage.DEFAULT),
    ("said so for force", [rule(ALLOW, constraint=on(rewrites=True))],
     FORCED, CHAT, ALLOW, Stage.WORKSPACE),
    ("deny only force", [rule(ALLOW), rule(DENY, constraint=on(rewrites=True))],
     PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    ("plain allow is not for tags", [rule(ALLOW)], TAG, CHAT, ASK, Stage.DEFAULT),
    ("said so for tags", [rule(ALLOW, constraint=on(refs=("refs/tags/**",)))],
     TAG, CHAT, ALLOW, Stage.WORKSPACE),
    # ceilings
    ("up to the ceiling", [rule(ALLOW, constraint=on(max_count=3))],
     replace(PUSH, count=3), CHAT, ALLOW, Stage.WORKSPACE),
    ("above the ceiling", [rule(ALLOW, constraint=on(max_count=3))],
     replace(PUSH, count=4), CHAT, ASK, Stage.DEFAULT),
    ("a deny begins above", [rule(DENY, constraint=on(max_count=3))],
     replace(PUSH, count=3), CHAT, ASK, Stage.DEFAULT),
    ("a deny above", [rule(DENY, constraint=on(max_count=3))],
     replace(PUSH, count=4), CHAT, DENY, Stage.HARD_DENY),
    # other facets
    ("other repository", [rule(ALLOW, constraint=on(repositories=("infra",)))],
     PUSH, CHAT, ASK, Stage.DEFAULT),
    ("other agent in the space", [rule(ALLOW, Scope.SPACE, constraint=on(agents=("qa",)))],
     PUSH, CHAT, ASK, Stage.DEFAULT),
    ("this agent in the space", [rule(ALLOW, Scope.SPACE, constraint=on(agents=("engineer",)))],
     PUSH, CHAT, ALLOW, Stage.SPACE),
    ("commands of a class", [rule(ALLOW, constraint=on(commands=("git push origin",)))],
     PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    # expiry
    ("expired", [rule(ALLOW, expires_at=NOW)], PUSH, CHAT, ASK, Stage.DEFAULT),
    ("not yet expired", [rule(ALLOW, expires_at=NOW + timedelta(seconds=1))],
     PUSH, CHAT, ALLOW, Stage.WORKSPACE),
    # managed rules only tighten
    ("managed allow is nothing", [rule(ALLOW, provenance=Provenance.MANAGED)],
     PUSH, CHAT, ASK, Stage.DEFAULT),
    ("managed ask", [rule(ASK, provenance=Provenance.MANAGED), rule(ALLOW, Scope.SPACE)],
     PUSH, CHAT, ASK, Stage.MANAGED),
    ("managed ask stays", [rule(ASK, provenance=Provenance.MANAGED)],
     PUSH, FREELY, ASK, Stage.MANAGED),
    ("managed deny", [rule(DENY, provenance=Provenance.MANAGED, level=Level.SOFT),
     rule(ALLOW, Scope.SPACE)], PUSH, CHAT, DENY, Stage.MANAGED),
    # modes
    ("plan denies", [rule(ALLOW, Scope.SPACE)], PUSH, PLAN, DENY, Stage.MODE),
    # autonomy
    ("freely lifts the default", [], PUSH, FREELY, ALLOW, Stage.AUTONOMY),
    ("freely lifts a rule's ask", [rule(ASK, Scope.SPACE)], PUSH, FREELY, ALLOW, Stage.AUTONOMY),
    ("freely lifts no deny", [rule(DENY, level=Level.SOFT)], PUSH, FREELY, DENY, Stage.WORKSPACE),
    ("freely lifts no two-person rule", [rule(ASK, needs_two_people=True)],
     PUSH, FREELY, ASK, Stage.WORKSPACE),
    ("freely lifts no possible deny", [rule(ALLOW), rule(DENY, constraint=MAIN)],
     BLIND_PUSH, FREELY, ASK, Stage.UNSTATED),
    ("freely lifts no possible deny under a default", [rule(DENY, constraint=MAIN)],
     BLIND_PUSH, FREELY, ASK, Stage.UNSTATED),
    ("propose only", [], PUSH, PROPOSE, DENY, Stage.AUTONOMY),
    ("propose only, allowed", [rule(ALLOW, Scope.SPACE)], PUSH, PROPOSE, DENY, Stage.AUTONOMY),
    # what nobody knows
    ("unknown class asks", [], replace(PUSH, classes=frozenset({"teleport"})),
     CHAT, ASK, Stage.UNKNOWN_CLASS),
    ("unknown class asks the free", [], replace(PUSH, classes=frozenset({"teleport"})),
     FREELY, ASK, Stage.UNKNOWN_CLASS),
    ("unknown class in plan", [], replace(PUSH, classes=frozenset({"teleport"})),
     PLAN, DENY, Stage.MODE),
    ("unreadable command asks", [], Action(classes=frozenset({"process_spawn"}), opaque=True),
     CHAT, ASK, Stage.OPAQUE),
    ("no class, no gate", [rule(DENY)], replace(PUSH, classes=frozenset()),
     PLAN, ALLOW, Stage.UNGATED),
    ("a rule about nothing", [rule(DENY, action_class=None)], PUSH, CHAT, ASK, Stage.DEFAULT),
]  # fmt: skip


@pytest.mark.req("CC-52")
@pytest.mark.req("CC-53")
@pytest.mark.parametrize(
    ("rules", "action", "circumstances", "decision", "stage"),
    [pytest.param(*row[1:], id=row[0]) for row in TABLE],
)
def test_the_table(
    rules: list[RuleFacts],
    action: Action,
    circumstances: Circumstances,
    decision: Decision,
    stage: Stage,
) -> None:
    answer = resolve(rules, action, circumstances)
    assert (answer.decision, answer.step.stage) == (decision, stage)


def test_five_classes_ask_and_eight_pass_by_default() -> None:
    assert {c.value for c in ActionClass if default_for(c) is ASK} == {
        "file_delete", "git_push", "pr_create", "pr_publish", "tracker_write",
    }  # fmt: skip
    assert len(ActionClass) == 13
    assert all(default_for(c) is ALLOW for c in set(ActionClass) - ASKED_BY_DEFAULT)


@pytest.mark.parametrize("mode", ["plan", "orchestrate", "review", "a-mode-of-tomorrow"])
def test_outside_chat_eleven_classes_are_denied(mode: str) -> None:
    denied = {
        c
        for c in ActionClass
        if resolve([], one(c), Circumstances(now=NOW, mode=mode)).decision is DENY
    }
    assert denied == set(ActionClass) - {ActionClass.NETWORK_EGRESS, ActionClass.SECRET_ACCESS}


def test_a_call_of_several_classes_gets_the_strictest_answer_and_names_all_that_ask() -> None:
    call = Action(classes=frozenset({"git_push", "pr_create", "network_egress"}))
    answer = resolve([], call, CHAT)
    assert answer.decision is ASK
    assert answer.asking == ("git_push", "pr_create")
    denied = resolve([rule(DENY)], call, CHAT)
    assert (denied.decision, denied.step.action_class) == (DENY, "git_push")


def test_one_line_of_several_commands_gets_the_strictest_answer() -> None:
    spawn = Action(classes=frozenset({"process_spawn"}))
    assert resolve_all([], [spawn, PUSH], CHAT).decision is ASK
    assert resolve_all([], [spawn, spawn], CHAT).decision is ALLOW


def test_two_people_are_asked_for_even_when_another_class_asks_first() -> None:
    call = replace(PUSH, classes=frozenset({"git_push", "file_delete"}))
    two = rule(ASK, needs_two_people=True)
    assert resolve([two], call, CHAT).needs_two_people
    assert not resolve([], call, CHAT).needs_two_people


def test_an_advisory_rule_leaves_a_line_in_the_trail() -> None:
    advice = rule(DENY, level=Level.ADVISORY)
    assert advice in [step.rule for step in resolve([advice], PUSH, CHAT).trail]


def test_the_trail_names_every_scope_that_was_asked_and_marks_one_line() -> None:
    answer = resolve([rule(ALLOW)], PUSH, CHAT)
    assert [step.stage for step in answer.trail] == [Stage.SPACE, Stage.AGENT, Stage.WORKSPACE]
    assert [step.decides for step in answer.trail] == [False, False, True]
    assert answer.rule_key == "workspace:r"


def test_a_delegate_is_never_freer_than_who_delegated() -> None:
    assert (
        narrower(AutonomyLevel.ACT_FREELY, AutonomyLevel.PROPOSE_ONLY) is AutonomyLevel.PROPOSE_ONLY
    )


# ---------------------------------------------------------------- properties

constraints = st.sampled_from(
    [Constraint(), FEATURES, MAIN, on(refs=("!main",)), on(paths=("src/**",)), on(rewrites=True),
     on(commands=("git push",)), on(agents=("engineer",)), on(max_count=2)]
)  # fmt: skip


@st.composite
def rule_facts(draw: st.DrawFn, decision: Decision | None = None) -> RuleFacts:
    scope = draw(st.sampled_from(Scope))
    prefix = draw(st.sampled_from(["", "", "git", "git push"]))
    return RuleFacts(
        id=draw(st.uuids()).hex,
        scope=scope,
        scope_id={Scope.SPACE: "tides", Scope.AGENT: "engineer", Scope.WORKSPACE: ""}[scope],
        action_class=None
        if prefix
        else draw(st.sampled_from(["git_push", "file_delete"]).map(ActionClass)),  # fmt: skip
        command_prefix=prefix,
        decision=decision or draw(st.sampled_from(Decision)),
        constraint=draw(constraints),
        level=draw(st.sampled_from(Level)),
        provenance=draw(st.sampled_from(Provenance)),
        needs_two_people=draw(st.booleans()),
    )


actions = st.builds(
    Action,
    classes=st.sampled_from([{"git_push"}, {"file_delete", "git_push"}, {"teleport"}]).map(
        frozenset
    ),
    agent_id=st.just("engineer"),
    space_id=st.just("tides"),
    refs=st.sampled_from([None, ("main",), ("feature/x",), ("feature/x", "main")]),
    paths=st.sampled_from([None, ("src/a.py",), ("docs",)]),
    spellings=st.sampled_from([(), (("git", "push"),), (("git", None),), (("rm", "x"),)]),
    rewrites=st.sampled_from([True, False, None]),
    count=st.sampled_from([None, 1, 5]),
    opaque=st.booleans(),
)
circumstances_of_any_kind = st.builds(
    Circumstances,
    now=st.just(NOW),
    mode=st.sampled_from(["chat", "plan"]),
    autonomy=st.sampled_from(AutonomyLevel),
)


def strictness(answer: Resolution) -> int:
    return answer.decision.strictness


@given(st.lists(rule_facts(), max_size=6), rule_facts(DENY), actions, circumstances_of_any_kind)
def test_adding_a_deny_never_widens(
    rules: list[RuleFacts], deny: RuleFacts, action: Action, around: Circumstances
) -> None:
    before = resolve(rules, action, around)
    assert strictness(resolve([*rules, deny], action, around)) >= strictness(before)


@given(st.lists(rule_facts(), max_size=6), actions, circumstances_of_any_kind, st.randoms())
def test_the_order_of_the_rules_never_matters(
    rules: list[RuleFacts], action: Action, around: Circumstances, random: object
) -> None:
    shuffled = list(rules)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve(shuffled, action, around) == resolve(rules, action, around)


@given(st.lists(rule_facts(), max_size=6), actions)
def test_less_autonomy_is_never_wider(rules: list[RuleFacts], action: Action) -> None:
    propose, approval, freely = (
        strictness(resolve(rules, action, Circumstances(now=NOW, autonomy=level)))
        for level in AutonomyLevel
    )
    assert propose >= approval >= freely
    assert propose == DENY.strictness


@given(st.lists(rule_facts(), max_size=6), actions, circumstances_of_any_kind)
def test_exactly_one_line_decides_a_class_and_gives_the_answer(
    rules: list[RuleFacts], action: Action, around: Circumstances
) -> None:
    answer = resolve(rules, action, around)
    for name in action.classes:
        deciding = [s for s in answer.trail if s.action_class == name and s.decides]
        assert len(deciding) == 1
    assert answer.step in answer.trail
    assert answer.step.decision is answer.decision
    assert bool(answer.asking) == (answer.decision is ASK)


@given(st.lists(rule_facts(), max_size=6), actions)
def test_a_mode_only_tightens(rules: list[RuleFacts], action: Action) -> None:
    in_plan = resolve(rules, action, PLAN)
    assert strictness(in_plan) >= strictness(resolve(rules, action, CHAT))


def one(action_class: ActionClass) -> Action:
    return Action(classes=frozenset({action_class.value}))
