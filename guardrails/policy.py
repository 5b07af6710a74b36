"""Allow, ask or deny: the one place that decides, as a pure function.

For each class of an action, in this order:

0. managed rules and the mode's denials, which only tighten;
1. hard denies of any scope;
2. space, then agent, then workspace: the first scope with a matching rule; else the default.
   Inside a scope: deny beats the rest, constrained beats unconstrained, a longer command prefix
   beats a shorter one, stricter beats looser;
3. autonomy: *propose only* denies each gated call, *act freely* turns an ask into an allow, but
   never a managed one, a two-person one, or one that stands because a deny could not be ruled
   out.

An action of several classes gets the strictest answer of all of them. Adding a deny never widens
anything, and the order of the rules never matters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from guardrails import classes
from guardrails.actions import Action, might_start_with, starts_with
from guardrails.classes import ActionClass
from guardrails.constraints import Constraint, allows, touches
from guardrails.decisions import AutonomyLevel, Decision, Level, Provenance, Scope

CHAT = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFacts:
    """A rule as a value: a scope, exactly one of class and command prefix, and a decision.

    `is_readable=False` marks a stored rule whose constraint nobody understands: it never allows,
    and asks or denies without a limit.
    """

    id: str
    scope: Scope
    decision: Decision
    scope_id: str = ""
    action_class: ActionClass | None = None
    command_prefix: str = ""
    constraint: Constraint = Constraint()
    level: Level = Level.HARD
    provenance: Provenance = Provenance.USER
    expires_at: datetime | None = None
    needs_two_people: bool = False
    is_readable: bool = True

    @property
    def prefix_length(self) -> int:
        return len(self.command_prefix.split())

    @property
    def strictness(self) -> int:
        """0 allow, 1 ask, 2 ask for two people, 3 deny."""
        if self.decision is Decision.DENY:
            return 3
        return self.decision.strictness + (self.is_two_person)

    @property
    def is_two_person(self) -> bool:
        return self.needs_two_people and self.decision is Decision.ASK


class Stage(StrEnum):
    """Where in the order of precedence an answer was found, as in the module's docstring."""

    MANAGED = "managed"
    MODE = "mode"
    HARD_DENY = "hard_deny"
    SPACE = "space"
    AGENT = "agent"
    WORKSPACE = "workspace"
    DEFAULT = "default"
    UNSTATED = "unstated"
    OPAQUE = "opaque"
    UNKNOWN_CLASS = "unknown_class"
    AUTONOMY = "autonomy"
    UNGATED = "ungated"
    ADVISORY = "advisory"
    DELEGATION = "delegation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of a trail: what was looked at for which class, and what it answered."""

    stage: Stage
    action_class: str = ""
    decision: Decision | None = None
    rule: RuleFacts | None = None
    decides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The answer, what decided it, and every step on the way.

    `asking` are the classes that one approval has to name. `needs_two_people` is set only on an
    ask. `step` is the deciding line of `trail`.
    """

    decision: Decision
    step: Step
    trail: tuple[Step, ...]
    asking: tuple[str, ...] = ()
    needs_two_people: bool = False

    @property
    def rule(self) -> RuleFacts | None:
        return self.step.rule

    @property
    def rule_key(self) -> str:
        """What the audit writes down as the deciding rule: an id, or the stage's name."""
        rule = self.step.rule
        return f"{self.step.stage}:{rule.id}" if rule else str(self.step.stage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What holds for a whole call beside the rules."""

    now: datetime
    mode: str = CHAT
    autonomy: AutonomyLevel = AutonomyLevel.ACT_WITH_APPROVAL


def resolve(rules: Iterable[RuleFacts], action: Action, circumstances: Circumstances) -> Resolution:
    """Allow, ask or deny for one action, with the deciding rule and the way to it."""
    in_force = [rule for rule in rules if _is_in_force(rule, action, circumstances.now)]
    in_force.sort(key=lambda rule: rule.id)
    answers = [
        _resolve_class(in_force, action, name, circumstances) for name in sorted(action.classes)
    ]
    return combine(answers)


def resolve_all(
    rules: Iterable[RuleFacts], actions: Iterable[Action], circumstances: Circumstances
) -> Resolution:
    """The strictest answer over all actions of one call, such as the commands of one line."""
    rules = list(rules)
    return combine([resolve(rules, action, circumstances) for action in actions])


def combine(answers: Sequence[Resolution]) -> Resolution:
    """The strictest of several answers, with every trail and every class that asks.

    No answer at all means that the call has no action class, and passes.
    """
    if not answers:
        step = Step(stage=Stage.UNGATED, decision=Decision.ALLOW, decides=True)
        return Resolution(decision=Decision.ALLOW, step=step, trail=(step,))
    strictest = max(answers, key=lambda a: (a.decision.strictness, a.needs_two_people))
    is_ask = strictest.decision is Decision.ASK
    return Resolution(
        decision=strictest.decision,
        step=strictest.step,
        trail=tuple(step for answer in answers for step in answer.trail),
        asking=tuple(sorted({name for a in answers for name in a.asking})) if is_ask else (),
        needs_two_people=is_ask and any(a.needs_two_people for a in answers),
    )


# ---------------------------------------------------------------- one class of one action


def _resolve_class(
    rules: list[RuleFacts], action: Action, name: str, circumstances: Circumstances
) -> Resolution:
    weighing = _Weighing(name=name)
    action_class = classes.parse(name)
    if action_class is None:
        weighing.note(Stage.UNKNOWN_CLASS, Decision.ASK)
        if circumstances.mode != CHAT:
            weighing.note(Stage.MODE, Decision.DENY)
        return weighing.close(circumstances.autonomy)

    matched = _match(rules, action, action_class)
    _tighten(weighing, matched, action_class, circumstances.mode)
    deciding = _ask_scopes(weighing, matched, action_class)
    _record_doubt(weighing, matched, action, deciding)
    return weighing.close(circumstances.autonomy)


def _tighten(
    weighing: "_Weighing", matched: "_Matches", action_class: ActionClass, mode: str
) -> None:
    for rule in matched.managed:
        weighing.note(Stage.MANAGED, rule.decision, rule)
    if mode != CHAT and action_class not in classes.LEFT_TO_RULES_IN_EVERY_MODE:
        weighing.note(Stage.MODE, Decision.DENY)
    for rule in matched.stored:
        if rule.decision is Decision.DENY and rule.level is Level.HARD:
            weighing.note(Stage.HARD_DENY, Decision.DENY, rule)


def _ask_scopes(
    weighing: "_Weighing", matched: "_Matches", action_class: ActionClass
) -> RuleFacts | None:
    """Note the first scope that has a matching rule and give that rule, or note the default."""
    for scope in Scope:
        found = [rule for rule in matched.stored if rule.scope is scope]
        if found:
            best = max(found, key=_precedence)
            weighing.note(Stage(scope.value), best.decision, best)
            return best
        weighing.pass_by(Stage(scope.value))
    weighing.note(Stage.DEFAULT, classes.default_for(action_class))
    return None


def _record_doubt(
    weighing: "_Weighing", matched: "_Matches", action: Action, deciding: RuleFacts | None
) -> None:
    """What could not be ruled out asks at least; what only advises is written down."""
    for rule in matched.in_doubt:
        if _would_decide_before(deciding, rule):
            weighing.note(Stage.UNSTATED, Decision.ASK, rule)
    if action.opaque:
        weighing.note(Stage.OPAQUE, Decision.ASK)
    for rule in matched.advisory:
        weighing.pass_by(Stage.ADVISORY, rule)


def _would_decide_before(deciding: RuleFacts | None, rule: RuleFacts) -> bool:
    """Whether a rule in doubt, if it did match, would be heard before the one that decided."""
    if rule.provenance is Provenance.MANAGED or deciding is None:
        return True
    if rule.decision is Decision.DENY and rule.level is Level.HARD:
        return True
    if rule.scope is deciding.scope:
        return _precedence(rule) > _precedence(deciding)
    order = list(Scope)
    return order.index(rule.scope) < order.index(deciding.scope)


def _precedence(rule: RuleFacts) -> tuple[bool, bool, int, int]:
    return (
        rule.decision is Decision.DENY,
        bool(rule.constraint),
        rule.prefix_length,
        rule.strictness,
    )


# ---------------------------------------------------------------- which rules match


class _Matches(NamedTuple):
    managed: list[RuleFacts]
    stored: list[RuleFacts]
    in_doubt: list[RuleFacts]
    advisory: list[RuleFacts]


def _match(rules: list[RuleFacts], action: Action, action_class: ActionClass) -> _Matches:
    matches = _Matches([], [], [], [])
    for rule in rules:
        holds = _holds(rule, action, action_class)
        if holds is False:
            continue
        if rule.level is Level.ADVISORY:
            matches.advisory.append(rule)
        elif holds is None:
            matches.in_doubt.append(rule)
        elif rule.provenance is Provenance.MANAGED:
            if rule.decision is not Decision.ALLOW:
                matches.managed.append(rule)
        else:
            matches.stored.append(rule)
    return matches


def _holds(rule: RuleFacts, action: Action, action_class: ActionClass) -> bool | None:
    """Whether the rule is about this action; None when it restricts and might be."""
    if rule.action_class is not None and rule.action_class is not action_class:
        return False
    if rule.decision is Decision.ALLOW:
        return rule.is_readable and _prefix_allows(rule, action) and allows(rule.constraint, action)
    prefix = True
    if rule.command_prefix:
        answer = might_start_with(action.spellings, rule.command_prefix.split())
        if answer is False:
            return False
        prefix = bool(answer)
    limits = touches(rule.constraint, action) if rule.is_readable else True
    if limits is False:
        return False
    return True if prefix and limits else None


def _prefix_allows(rule: RuleFacts, action: Action) -> bool:
    """An allow counts only for what was typed: `sudo git push` is no `git push`."""
    if not rule.command_prefix:
        return True
    return starts_with(action.command, rule.command_prefix.split()) is True


def _is_in_force(rule: RuleFacts, action: Action, now: datetime) -> bool:
    if rule.expires_at is not None and rule.expires_at <= now:
        return False
    if rule.action_class is None and not rule.command_prefix:
        return False
    match rule.scope:
        case Scope.SPACE:
            return bool(rule.scope_id) and rule.scope_id == action.space_id
        case Scope.AGENT:
            return bool(rule.scope_id) and rule.scope_id == action.agent_id
        case Scope.WORKSPACE:
            return True


# ---------------------------------------------------------------- weighing what was noted


@dataclass(slots=True)
class _Weighing:
    """The steps noted for one class; closing picks the strictest, the earliest among equals."""

    name: str
    steps: list[Step] = field(default_factory=list)

    def note(self, stage: Stage, decision: Decision, rule: RuleFacts | None = None) -> None:
        self.steps.append(Step(stage=stage, action_class=self.name, decision=decision, rule=rule))

    def pass_by(self, stage: Stage, rule: RuleFacts | None = None) -> None:
        self.steps.append(Step(stage=stage, action_class=self.name, rule=rule))

    def close(self, autonomy: AutonomyLevel) -> Resolution:
        noted = [step for step in self.steps if step.decision is not None]
        winner = max(noted, key=_weight)
        if winner.decision is not Decision.DENY:
            winner = self._apply_autonomy(autonomy, noted, winner)
        decision = winner.decision or Decision.ASK
        trail = tuple(_marked(step) if step is winner else step for step in self.steps)
        is_ask = decision is Decision.ASK
        return Resolution(
            decision=decision,
            step=_marked(winner),
            trail=trail,
            asking=(self.name,) if is_ask else (),
            needs_two_people=is_ask and any(map(_is_two_person, noted)),
        )

    def _apply_autonomy(self, autonomy: AutonomyLevel, noted: list[Step], winner: Step) -> Step:
        if autonomy is AutonomyLevel.PROPOSE_ONLY:
            self.note(Stage.AUTONOMY, Decision.DENY)
            return self.steps[-1]
        if autonomy is not AutonomyLevel.ACT_FREELY or winner.decision is not Decision.ASK:
            return winner
        if firm := [step for step in noted if _is_firm(step)]:
            return max(firm, key=_weight)
        self.note(Stage.AUTONOMY, Decision.ALLOW)
        return self.steps[-1]


def _marked(step: Step) -> Step:
    return replace(step, decides=True)


def _weight(step: Step) -> tuple[int, bool]:
    return step.decision.strictness if step.decision else -1, _is_two_person(step)


def _is_two_person(step: Step) -> bool:
    return step.rule is not None and step.rule.is_two_person


def _is_firm(step: Step) -> bool:
    """An ask that no autonomy lifts."""
    if step.decision is not Decision.ASK:
        return False
    if step.stage in (Stage.MANAGED, Stage.UNKNOWN_CLASS) or _is_two_person(step):
        return True
    return (
        step.stage is Stage.UNSTATED
        and step.rule is not None
        and step.rule.decision is Decision.DENY
    )
