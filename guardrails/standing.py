"""A yes for some hours: the rules that it writes, no wider than what was shown."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from guardrails import actions, patterns, policy, rules
from guardrails.actions import Action
from guardrails.classes import ActionClass
from guardrails.constraints import Constraint
from guardrails.decisions import Decision, Level, Provenance, Scope
from guardrails.models import Approval, Rule
from guardrails.policy import Circumstances, RuleFacts
from workspaces import audit, clock
from workspaces.models import Principal

HOURS = 8


def can_stand(approval: Approval) -> bool:
    """Whether a yes for some hours may be offered: only where rules bound to what was shown
    would really allow the same call the next time."""
    if approval.needs_two_people or approval.space_id is None or approval.asked_by_id is None:
        return False
    proposed = _proposed(approval)
    if not proposed:
        return False
    calls = [actions.from_json(stored) for stored in approval.actions]
    around = Circumstances(now=clock.now())
    answer = policy.resolve_all([*rules.in_force(), *proposed], calls, around)
    return answer.decision is Decision.ALLOW


def write(approval: Approval, *, by: Principal, hours: int) -> list[Rule]:
    """One expiring rule per class that asked, for this agent in this space."""
    until = clock.now() + timedelta(hours=hours)
    written = [
        Rule.objects.create(
            scope=Scope.SPACE,
            space_id=approval.space_id,
            action_class=facts.action_class or "",
            decision=Decision.ALLOW,
            constraint=facts.constraint.to_json(),
            level=Level.SOFT,
            provenance=Provenance.REMEMBERED,
            expires_at=until,
            created_by=by,
            approval_id=approval.pk,
            note=approval.title[:300],
        )
        for facts in _proposed(approval) or []
    ]
    for rule in written:
        audit.record(
            "rule.remember",
            actor=by,
            on_behalf_of=approval.asked_by,
            subject=str(rule),
            detail={
                "rule": str(rule.pk),
                "approval": str(approval.pk),
                "constraint": rule.constraint,
                "until": until.isoformat(),
            },
        )
    return written


def limits_of(approval: Approval) -> list[Constraint]:
    """What a yes for some hours would be limited to, for the page to show before."""
    return [facts.constraint for facts in _proposed(approval) or []]


def _proposed(approval: Approval) -> list[RuleFacts] | None:
    """The rules that would be written; None when some class has nothing to be bound to."""
    calls = [actions.from_json(stored) for stored in approval.actions]
    found = []
    for name in approval.asking:
        limits = _limits(name, [call for call in calls if name in call.classes])
        if limits is None or name not in ActionClass.values:
            return None
        found.append(
            RuleFacts(
                id=f"proposed-{name}",
                scope=Scope.SPACE,
                scope_id=str(approval.space_id),
                action_class=ActionClass(name),
                decision=Decision.ALLOW,
                constraint=replace(limits, agents=_agents(calls)),
            )
        )
    return found


# What binds a yes for a class, best first; the first facet that every call states is taken.
_BOUND_BY: dict[str, tuple[str, ...]] = {
    ActionClass.GIT_PUSH: ("refs",),
    ActionClass.FILE_DELETE: ("paths",),
    ActionClass.FILE_WRITE_OUTSIDE_WORKTREE: ("paths",),
    ActionClass.NETWORK_EGRESS: ("hosts",),
    ActionClass.PR_CREATE: ("repositories", "commands"),
    ActionClass.PR_PUBLISH: ("repositories", "commands"),
    ActionClass.TRACKER_WRITE: ("repositories", "hosts", "commands"),
}


def _limits(name: str, calls: list[Action]) -> Constraint | None:
    for facet in _BOUND_BY.get(name, ("commands",)):
        values = _commands(calls) if facet == "commands" else _values(calls, facet)
        if not values:
            continue
        if facet == "refs":
            values = _widened(values)
        limits = Constraint(**_facet(facet, values))
        repositories = _values(calls, "repositories")
        return replace(limits, repositories=repositories) if repositories else limits
    return None


def _facet(name: str, values: tuple[str, ...]) -> dict[str, Any]:
    return {name: values}


def _values(calls: Iterable[Action], facet: str) -> tuple[str, ...]:
    """All values of a facet; nothing when one call does not state it or a value is a pattern."""
    found: dict[str, None] = {}
    for call in calls:
        values = getattr(call, facet)
        if not values or any("*" in value or "?" in value for value in values):
            return ()
        found |= dict.fromkeys(values)
    return tuple(found)


def _commands(calls: Iterable[Action]) -> tuple[str, ...]:
    """The commands as typed; nothing when a word is unknown or would not stay one word."""
    found: dict[str, None] = {}
    for call in calls:
        words = [word for word in call.command if word and not any(map(str.isspace, word))]
        if not words or len(words) != len(call.command):
            return ()
        found[" ".join(words)] = None
    return tuple(found)


def _widened(refs: tuple[str, ...]) -> tuple[str, ...]:
    """`feature/x` → `feature/**`; `main` and tags stay what they are."""
    short = [patterns.normal_ref(ref) for ref in refs]
    return tuple(
        dict.fromkeys(
            ref if ref.startswith("refs/") or "/" not in ref else ref.split("/", 1)[0] + "/**"
            for ref in short
        )
    )


def _agents(calls: Iterable[Action]) -> tuple[str, ...]:
    return tuple({call.agent_id: None for call in calls if call.agent_id})
