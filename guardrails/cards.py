"""An approval as pages show it: in a conversation, in the inbox, in the history."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from guardrails import actions, explain, standing
from guardrails.asking import Kind, RefMove
from guardrails.constraints import Constraint
from guardrails.models import Approval
from outside.sentences import unpack
from workspaces.sentences import translated

KINDS: dict[str, str] = {
    Kind.PUSH: "git-branch",
    Kind.COMMAND: "square-terminal",
    Kind.FILE: "file-x",
    Kind.PULL_REQUEST: "git-pull-request",
    Kind.TRACKER: "square-check-big",
    Kind.TOOL: "wrench",
    Kind.PLAN: "route",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What `ui/approval.html` and its kin draw. `state` adds *open* and *approved_for*."""

    id: UUID
    state: str
    title: str
    kind: str
    kind_word: str
    kind_icon: str
    digest: str
    agent: str
    for_whom: str
    asked_at: datetime
    expires_at: datetime | None
    decided_at: datetime | None
    decided_by: str
    note: str
    outcome: str
    can_stand: bool


def card(approval: Approval, *, with_standing: bool = True) -> Card:
    """The facts of an approval in the reader's language. The caller has bound the workspace.

    A list asks for it without what only the buttons need, which costs a query each.
    """
    return Card(
        id=approval.pk,
        state=state_word(approval),
        title=translated(approval.title),
        kind=approval.kind,
        kind_word=", ".join(explain.class_label(name) for name in approval.asking),
        kind_icon=KINDS.get(approval.kind, "hand"),
        digest=approval.digest,
        agent=approval.asked_by.handle if approval.asked_by else _("an agent that is gone"),
        for_whom=approval.on_behalf_of.name if approval.on_behalf_of else "",
        asked_at=approval.created_at,
        expires_at=approval.expires_at,
        decided_at=approval.decided_at,
        decided_by=approval.decided_by.name if approval.decided_by else "",
        note=translated(approval.note),
        outcome=_outcome(approval),
        can_stand=with_standing and approval.is_open and standing.can_stand(approval),
    )


def context(approval: Approval, *, slug: str) -> dict[str, Any]:
    """Everything that an approval's templates read, but for what a higher room adds."""
    shown = approval.shown
    moves = [RefMove(**move) for move in shown.get("moves", [])]
    return {
        "approval": card(approval),
        "row": approval,
        "fingerprint": fingerprint(approval),
        "refs": [_ref(move) for move in moves],
        "command": shown.get("command", ""),
        "arguments": shown.get("arguments", ""),
        "text": shown.get("text", ""),
        "files": shown.get("files", []),
        "repository": shown.get("repository", ""),
        "effects": effects(approval),
        "decide_url": reverse("guardrails:approval-decide", args=[slug, approval.pk]),
        "whole_url": reverse("guardrails:inbox-show", args=[slug, approval.pk]),
    }


def state_word(approval: Approval) -> str:
    """The state in the words of the look's table."""
    if approval.is_open:
        return "open"
    if approval.state == Approval.State.APPROVED and approval.hours:
        return "approved_for"
    return approval.state


def fingerprint(approval: Approval) -> str:
    """Changes whenever an open page has to draw the approval anew."""
    moments = (approval.decided_at, approval.used_at, approval.withdrawn_at)
    return "-".join(str(int(moment.timestamp() * 1000)) if moment else "0" for moment in moments)


def said(approval: Approval) -> str:
    """What has become of it, as a sentence for the one who came second."""
    who = approval.decided_by.name if approval.decided_by else ""
    words = {
        "approved": _("Already approved by %(who)s."),
        "approved_for": _("Already approved for %(hours)s hours by %(who)s."),
        "denied": _("Already denied by %(who)s.") if who else _("Already denied."),
        "expired": _("Nobody answered in time, so this counts as denied."),
        "cancelled": _("Cancelled: its run has ended."),
    }
    return words.get(state_word(approval), "") % {"who": who, "hours": approval.hours}


def effects(approval: Approval) -> list[dict[str, str]]:
    """What happens on yes, what the agent recommends, why one is asked."""
    agent = approval.asked_by.handle if approval.asked_by else ""
    lines = [
        _line("arrow-right", _("On yes"), translated(unpack(approval.shown.get("on_yes", ""))))
    ]
    lines.append(
        _line("thumbs-up", _("%(agent)s recommends") % {"agent": agent}, approval.recommendation)
    )
    lines.append(
        _line("scale", _("Why you are asked"), translated(explain.why_sentence(approval.why)))
    )
    if any(move["rewrites"] for move in approval.shown.get("moves", [])):
        lines.append(
            _line("triangle-alert", _("Careful"), _("this rewrites what others may have."), "warn")
        )
    if any(actions.from_json(stored).opaque for stored in approval.actions):
        lines.append(_line("eye-off", _("Careful"), _("the command cannot be read whole."), "warn"))
    if approval.needs_two_people:
        lines.append(
            _line("users", _("Two people"), _("who asked for the work cannot say yes."), "warn")
        )
    return [line for line in lines if line["text"]]


def limits_words(approval: Approval) -> list[str]:
    """What a yes for some hours would cover, a line a class; empty when it is not offered."""
    if not (approval.is_open and standing.can_stand(approval)):
        return []
    return [constraint_words(limits) for limits in standing.limits_of(approval)]


def constraint_words(limits: Constraint, *, agents: dict[str, str] | None = None) -> str:
    """`feature/** · in tide-api`; empty for no limit."""
    parts = [", ".join(limits.refs), ", ".join(limits.paths), ", ".join(limits.hosts)]
    parts += [f"`{command}`" for command in limits.commands]
    if limits.repositories:
        parts.append(_("in %(names)s") % {"names": ", ".join(limits.repositories)})
    if limits.agents and agents is not None:
        names = [agents.get(key, _("an agent that is gone")) for key in limits.agents]
        parts.append(_("only %(names)s") % {"names": ", ".join(names)})
    if limits.max_count is not None:
        parts.append(_("up to %(n)s at once") % {"n": limits.max_count})
    if limits.max_cents is not None:
        parts.append(_("up to $%(n).2f") % {"n": limits.max_cents / 100})
    if limits.rewrites:
        parts.append(_("force and delete too"))
    return " · ".join(part for part in parts if part)


def _line(icon: str, title: str, text: str, tone: str = "") -> dict[str, str]:
    return {"icon": icon, "title": title, "text": text, "tone": tone}


def _ref(move: RefMove) -> dict[str, Any]:
    return {
        "name": move.ref.removeprefix("refs/heads/"),
        "old": "" if move.is_new else move.old,
        "new": "" if move.is_deleted else move.new,
        "created": move.is_new,
        "deleted": move.is_deleted,
        "force": move.rewrites and not move.is_deleted,
    }


def _outcome(approval: Approval) -> str:
    if approval.state != Approval.State.APPROVED:
        return ""
    if approval.withdrawn_at is not None:
        return _("not used: its run ended first")
    if approval.used_at is not None:
        return _("used, once")
    return _("not used yet")
