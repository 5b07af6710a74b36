"""Write, change and revoke rules. A rule is never edited: a change is a new rule for the old."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.models import Agent
from guardrails import approvals
from guardrails.classes import ActionClass
from guardrails.constraints import Constraint
from guardrails.decisions import Decision, Level, Provenance, Scope
from guardrails.models import Approval, Rule
from spaces.models import Space
from workspaces import audit
from workspaces.models import Membership, Principal, Role


class MayNotWriteRules(PermissionDenied):
    """Rules are written by admins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRule:
    """What a person wrote. Exactly one of class and prefix; agent or space as the scope says."""

    decision: Decision
    action_class: ActionClass | None = None
    command_prefix: str = ""
    agent: Agent | None = None
    space: Space | None = None
    constraint: Constraint = Constraint()
    level: Level = Level.HARD
    needs_two_people: bool = False
    note: str = ""
    expires_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        if self.space is not None:
            return Scope.SPACE
        return Scope.AGENT if self.agent is not None else Scope.WORKSPACE


@dataclass(frozen=True, slots=True)
class Written:
    """The rule, the standing yeses that it ended, and the open questions that it answered."""

    rule: Rule
    revoked: list[Rule]
    denied: list[Approval]


def write(new: NewRule, *, by: Membership, instead_of: Rule | None = None) -> Written:
    """The rule holds from now on. Raises MayNotWriteRules or ValidationError.

    A deny revokes the standing yeses of its class in its scope and below, and closes the open
    questions that it answers: their runs have to be told (`runs.hearing.hear`).
    """
    _check(new, by)
    if instead_of is not None:
        revoke(instead_of, by=by)
    rule = Rule.objects.create(
        scope=new.scope,
        agent=new.agent,
        space=new.space,
        action_class=new.action_class or "",
        command_prefix=" ".join(new.command_prefix.split()),
        decision=new.decision,
        constraint=new.constraint.to_json(),
        level=new.level,
        needs_two_people=new.needs_two_people and new.decision is Decision.ASK,
        note=new.note,
        expires_at=new.expires_at,
        created_by=by.principal,
    )
    _record("rule.create", rule, by.principal)
    if new.decision is not Decision.DENY or new.level is Level.ADVISORY:
        return Written(rule, [], [])
    revoked = [old for old in Rule.objects.standing() if _ends(rule, old)]
    for old in revoked:
        _revoke(old, by.principal)
    return Written(rule, revoked, approvals.deny_what_rules_deny(by=by.principal))


def revoke(rule: Rule, *, by: Membership) -> bool:
    """The rule holds no more; False when it had been revoked before.

    Raises MayNotWriteRules. Who gave a yes for some hours may take that one back without being
    an admin.
    """
    is_own = rule.provenance == Provenance.REMEMBERED and rule.created_by_id == by.principal_id
    if not by.may(Role.ADMIN) and not (is_own and by.may(Role.MEMBER)):
        raise MayNotWriteRules(_("Only an admin changes rules."))
    return _revoke(rule, by.principal)


def _revoke(rule: Rule, by: Principal) -> bool:
    changed = Rule.objects.filter(pk=rule.pk, revoked_at__isnull=True).update(
        revoked_at=timezone.now(), revoked_by=by
    )
    if changed:
        _record("rule.revoke", rule, by)
    return bool(changed)


def _check(new: NewRule, by: Membership) -> None:
    if not by.may(Role.ADMIN):
        raise MayNotWriteRules(_("Only an admin changes rules."))
    errors: dict[str, Any] = {}
    if (new.action_class is None) == (not new.command_prefix.strip()):
        errors["action_class"] = _("Choose one action class or write one command prefix.")
    if new.agent is not None and new.space is not None:
        errors["space"] = _("A rule has one scope: the workspace, an agent or a space.")
    if new.expires_at is not None and new.expires_at <= timezone.now():
        errors["expires_at"] = _("This moment has passed; the rule would never hold.")
    if errors:
        raise ValidationError(errors)


def _ends(deny: Rule, standing: Rule) -> bool:
    """Whether the deny reaches the scope of a standing yes and is about the same thing."""
    limits = standing.constraint or {}
    match deny.scope:
        case Scope.SPACE:
            reaches = standing.space_id == deny.space_id
        case Scope.AGENT:
            reaches = str(deny.agent_id) in limits.get("agents", [])
        case _:
            reaches = True
    if not reaches:
        return False
    if deny.action_class:
        return standing.action_class == deny.action_class
    prefix = deny.command_prefix.split()
    return any(command.split()[: len(prefix)] == prefix for command in limits.get("commands", []))


def _record(act: str, rule: Rule, actor: Principal) -> None:
    audit.record(
        act,
        actor=actor,
        subject=str(rule),
        rule=str(rule.pk),
        detail={
            "scope": rule.scope,
            "target": str(rule.agent_id or rule.space_id or ""),
            "constraint": rule.constraint,
            "level": rule.level,
            "note": rule.note,
            "expires": rule.expires_at.isoformat() if rule.expires_at else "",
        },
    )
