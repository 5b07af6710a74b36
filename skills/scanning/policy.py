"""From verdict to decision: what the bytes deserve, and what a workspace's own rules make of it."""

from collections.abc import Collection
from dataclasses import dataclass, field

from .values import Decision, Finding, Outcome, Severity, Verdict, worst

_BY_OUTCOME = {
    Outcome.PASS: Decision.ACCEPTED,
    Outcome.WARN: Decision.HELD,
    Outcome.QUARANTINE: Decision.REFUSED,
}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a workspace has decided beforehand.

    `accepts_first_prose`: text that instructs an agent needs no person's yes on its first install.
    `accepts_warnings`: warnings need none either. `tolerated`: rule ids whose warnings need none.
    `denied`: capabilities (see CAPABILITIES) that no skill of the workspace may have.
    """

    accepts_first_prose: bool = False
    accepts_warnings: bool = False
    tolerated: Collection[str] = field(default_factory=frozenset)
    denied: Collection[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision with its reasons, which are words of a closed set: `quarantine`, `warn`,
    `first-prose`, `risk-accepted`, and `capability:<name>`."""

    decision: Decision
    reasons: tuple[str, ...] = ()


def by_findings(outcome: Outcome) -> Decision:
    """The decision that the bytes alone deserve. Anything but a clean pass is no yes."""
    return _BY_OUTCOME.get(outcome, Decision.REFUSED)


def decide(
    verdict: Verdict, rules: Rules | None = None, *, first: bool = True, risk_accepted: bool = False
) -> Answer:
    """What an install or update does with a skill.

    `first`: no person has yet said yes to this skill in this workspace. `risk_accepted`: an admin
    has said yes to exactly this verdict; structural faults and denied capabilities stay refused.
    """
    rules = rules or Rules()
    denied = tuple(
        f"capability:{name}" for name in verdict.manifest.capabilities if name in rules.denied
    )
    if denied:
        return Answer(Decision.REFUSED, denied)
    if verdict.outcome is Outcome.QUARANTINE:
        if risk_accepted and verdict.is_acceptable:
            return Answer(Decision.ACCEPTED, ("risk-accepted",))
        return Answer(Decision.REFUSED, ("quarantine",))
    reasons = []
    if verdict.outcome is Outcome.WARN and not _is_waved_through(verdict.findings, rules):
        reasons.append("warn")
    if first and verdict.bears_instructions and not rules.accepts_first_prose:
        reasons.append("first-prose")
    if not reasons:
        return Answer(Decision.ACCEPTED)
    if risk_accepted:
        return Answer(Decision.ACCEPTED, ("risk-accepted",))
    return Answer(Decision.HELD, tuple(reasons))


def _is_waved_through(findings: Collection[Finding], rules: Rules) -> bool:
    if rules.accepts_warnings:
        return True
    left = [
        one
        for one in findings
        if not (one.severity is Severity.WARN and one.rule in rules.tolerated)
    ]
    return worst(left) is Outcome.PASS
