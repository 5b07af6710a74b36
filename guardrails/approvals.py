"""The one place that opens and closes an approval.

First answer wins by one conditional UPDATE; the loser learns who decided what and when. A yes is
used once, for exactly what was shown. Whoever calls `decide` then tells the run
(`runs.hearing.hear`), in the same transaction.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from guardrails import actions, asking, explain, rules, standing, topics
from guardrails.asking import Asked
from guardrails.decisions import Decision
from guardrails.models import Approval, ApprovalSettings
from guardrails.policy import Resolution
from live.publish import publish
from outside.sentences import phrase
from spaces import topics as space_topics
from spaces.models import Conversation
from spaces.visibility import visible_spaces
from workspaces import audit, clock
from workspaces.models import Membership, Principal, Role
from workspaces.sentences import in_english
from workspaces.tenancy import across_workspaces, bind, writable_workspace

State = Approval.State


class Answer(StrEnum):
    ONCE = "approve_once"
    FOR_HOURS = "approve_for"
    DENY = "deny"


class AlreadyDecided(RuntimeError):
    """Somebody was faster; `approval` says who decided what and when."""

    def __init__(self, approval: Approval) -> None:
        super().__init__(f"Approval {approval.pk} is {approval.state}.")
        self.approval = approval


class MayNotDecide(PermissionDenied):
    """This principal cannot give this answer; the text says why."""


class NotUsable(RuntimeError):
    """There is no yes, it was used already, or it was for something else."""


# ---------------------------------------------------------------- asking


def request(
    asked: Asked,
    *,
    resolution: Resolution,
    agent: Principal,
    conversation: Conversation | None,
    run_id: UUID | None,
    on_behalf_of: Principal | None = None,
    attended: bool = True,
    recommendation: str = "",
) -> Approval:
    """The approval for this question; asking the same again gives the same one.

    Where nobody could decide it comes back denied. Unattended (woken by a schedule or the API,
    with nobody who asked) it is denied after the workspace's hours.
    """
    workspace_id = writable_workspace()
    key = asking.digest(asked, workspace_id=workspace_id, run_id=run_id, asking=resolution.asking)
    if (known := find(run_id, key, call_id=asked.call_id)) is not None:
        return known
    approval = Approval(
        run_id=run_id,
        call_id=asked.call_id,
        space_id=conversation.space_id if conversation else None,
        conversation=conversation,
        asked_by=agent,
        on_behalf_of=on_behalf_of,
        kind=asked.kind,
        title=asking.plain_title(asked.title),
        asking=list(resolution.asking),
        shown=asked.shown(),
        actions=[actions.to_json(action) for action in asked.actions],
        why=explain.why(resolution),
        recommendation=recommendation,
        needs_two_people=resolution.needs_two_people,
        digest=key,
        expires_at=None if attended else clock.now() + timedelta(hours=_unattended_hours()),
    )
    try:
        with transaction.atomic():
            approval.save()
    except IntegrityError as error:
        if "approval_asked_once" not in str(error):
            raise
        return Approval.objects.pending().get(run_id=run_id, digest=key)
    _record("approval.request", approval, actor=agent, rule=resolution.rule_key, outcome="ask")
    if next(deciders(approval), None) is None:
        note = phrase("Nobody in this workspace could decide this.")
        return _close(approval, State.DENIED, note=note) or approval
    announce(approval)
    return approval


def find(run_id: UUID | None, digest: str, *, call_id: str = "") -> Approval | None:
    """What was asked before for the same question: open, or answered and still to be used.

    A call that is known by its id is never asked twice, whatever the answer was.
    """
    rows = Approval.objects.filter(run_id=run_id, digest=digest)
    if not call_id:
        rows = rows.pending() | rows.usable()
    return rows.order_by("-created_at").first()


def deciders(approval: Approval) -> Iterator[Membership]:
    """The active members who could answer this with a yes, one after the other."""
    members = Membership.objects.filter(
        is_active=True, role__in=[Role.OWNER, Role.ADMIN, Role.MEMBER]
    ).select_related("principal", "user")
    return (member for member in members if _why_not(approval, member, is_yes=True) is None)


# ---------------------------------------------------------------- deciding


def decide(
    approval: Approval,
    *,
    by: Principal,
    answer: Answer,
    note: str = "",
    hours: int = standing.HOURS,
) -> Approval:
    """The approval with its one answer. Raises AlreadyDecided or MayNotDecide.

    *For hours* also writes expiring rules for the same agent in the same space, no wider than
    what was shown; the yes for this call is still used once.
    """
    row = Approval.objects.select_related("asked_by", "on_behalf_of").get(pk=approval.pk)
    _check_is_open(row)
    _check_may_answer(row, by, answer)
    is_yes = answer is not Answer.DENY
    closed = _close(
        row,
        State.APPROVED if is_yes else State.DENIED,
        by=by,
        note=note.strip(),
        hours=hours if answer is Answer.FOR_HOURS else None,
    )
    if closed is None:
        raise AlreadyDecided(_fresh(row))
    if answer is Answer.FOR_HOURS:
        standing.write(closed, by=by, hours=hours)
    return closed


def why_not(approval: Approval, member: Membership, *, is_yes: bool = True) -> str | None:
    """Why this member cannot give this answer, as a sentence; None when he or she can."""
    reason = _why_not(approval, member, is_yes=is_yes)
    if reason is None and is_yes:
        reason = _requester_gone(approval) or _denied_by_rule(approval)
    return reason


def _check_is_open(row: Approval) -> None:
    if not row.is_open:
        raise AlreadyDecided(row)
    if row.expires_at is not None and row.expires_at <= clock.now():
        raise AlreadyDecided(_expire(row) or _fresh(row))


def _check_may_answer(row: Approval, by: Principal, answer: Answer) -> None:
    member = Membership.objects.filter(principal=by).select_related("principal").first()
    if member is None:
        raise MayNotDecide(_("Only a person decides; an agent never does."))
    if reason := why_not(row, member, is_yes=answer is not Answer.DENY):
        raise MayNotDecide(reason)
    if answer is Answer.FOR_HOURS and not standing.can_stand(row):
        raise MayNotDecide(_("This can be approved once only: nothing limits it for later."))


def _why_not(approval: Approval, member: Membership, *, is_yes: bool) -> str | None:
    if not member.may(Role.MEMBER):
        return _("Your role reads approvals; a member decides them.")
    if (
        approval.space_id is not None
        and not visible_spaces(member).filter(pk=approval.space_id).exists()
    ):
        return _("You do not take part in this space.")
    if is_yes and approval.needs_two_people and approval.on_behalf_of_id == member.principal_id:
        return _("Two people are needed here: who asked for the work cannot say yes.")
    return None


def _requester_gone(approval: Approval) -> str | None:
    """The one for whom the agent works must still be allowed to ask for it."""
    if approval.on_behalf_of_id is None:
        return None
    member = Membership.objects.filter(principal_id=approval.on_behalf_of_id).first()
    if member is None or member.may(Role.MEMBER):
        return None
    return phrase("%(name)s, for whom this would be done, may not ask for it any more.") % {
        "name": str(member.user)
    }


def _denied_by_rule(approval: Approval) -> str | None:
    answer = _judge_again(approval)
    return explain.sentence(answer) if answer.decision is Decision.DENY else None


def _judge_again(approval: Approval) -> Resolution:
    calls = [actions.from_json(stored) for stored in approval.actions]
    agent_id = calls[0].agent_id if calls else ""
    return rules.judge(calls, agent_id=agent_id or None, space_id=approval.space_id)


# ---------------------------------------------------------------- using


def consume(approval_id: UUID | str, *, digest: str) -> Approval:
    """The yes, now used: exactly one caller gets it. Raises NotUsable, also when a rule written
    since denies it or the one who asked has lost the right to."""
    row = Approval.objects.select_related("asked_by").filter(pk=approval_id, digest=digest).first()
    if row is None:
        raise NotUsable(phrase("No approval was given for exactly this."))
    if reason := _requester_gone(row) or _denied_by_rule(row):
        raise NotUsable(reason)
    if not Approval.objects.usable().filter(pk=row.pk).update(used_at=Now()):
        raise NotUsable(_unusable(_fresh(row)))
    _record("approval.use", row, actor=row.asked_by)
    announce(row)
    return _fresh(row)


def _unusable(row: Approval) -> str:
    if row.state != State.APPROVED:
        return phrase("The approval is not a yes: %(state)s.") % {
            "state": in_english(State(row.state).label)
        }
    if row.withdrawn_at is not None:
        return phrase("The approval was withdrawn with its run.")
    return phrase("The approval was used already; a yes is used once.")


# ---------------------------------------------------------------- ending without an answer


def cancel_for_run(run_id: UUID, *, note: str = "") -> int:
    """Open questions of the run are cancelled and unused yeses withdrawn. Returns how many."""
    Approval.objects.usable().filter(run_id=run_id).update(withdrawn_at=Now())
    rows = list(Approval.objects.pending().filter(run_id=run_id))
    words = note or phrase("Its run ended before anyone answered.")
    return _close_all(rows, State.CANCELLED, note=words)


def deny_what_rules_deny(*, by: Principal) -> list[Approval]:
    """Open questions that a rule now answers with no; they are closed so."""
    denied = []
    for row in Approval.objects.pending().select_related("asked_by"):
        if (reason := _denied_by_rule(row)) and (closed := _close(row, State.DENIED, by=by,
                                                                 note=reason)):  # fmt: skip
            denied.append(closed)
    return denied


def expire_due() -> int:
    """Closes what waited longer than its workspace lets it. Returns how many."""
    with across_workspaces():
        due = list(
            Approval.objects.pending()
            .filter(expires_at__lte=Now())
            .values_list("workspace_id", "id")
        )
    count = 0
    for workspace_id, key in due:
        with bind(workspace_id):
            count += _expire(Approval.objects.get(pk=key)) is not None
    return count


def _expire(row: Approval) -> Approval | None:
    return _close(row, State.EXPIRED, note=phrase("Nobody answered in time, which counts as a no."))


def _close_all(rows: Iterable[Approval], state: str, *, note: str) -> int:
    return sum(_close(row, state, note=note) is not None for row in rows)


# ---------------------------------------------------------------- the one transition


def _close(
    row: Approval,
    state: str,
    *,
    by: Principal | None = None,
    note: str = "",
    hours: int | None = None,
) -> Approval | None:
    """The approval closed in this state, recorded and announced; None when it was not open."""
    changed = (
        Approval.objects.pending()
        .filter(pk=row.pk)
        .update(state=state, decided_by=by, decided_at=Now(), note=note, hours=hours)
    )
    if not changed:
        return None
    closed = _fresh(row)
    is_yes = state == State.APPROVED
    _record(_ACTS[state], closed, actor=by, outcome="allow" if is_yes else "deny")
    announce(closed)
    return closed


_ACTS: dict[str, str] = {
    State.APPROVED: "approval.approve",
    State.DENIED: "approval.deny",
    State.EXPIRED: "approval.expire",
    State.CANCELLED: "approval.cancel",
}


def _fresh(row: Approval) -> Approval:
    return Approval.objects.select_related(
        "asked_by", "on_behalf_of", "decided_by", "space", "conversation"
    ).get(pk=row.pk)


def _record(
    act: str, row: Approval, *, actor: Principal | None, outcome: str = "allow", rule: str = ""
) -> None:
    audit.record(
        act,
        actor=actor,
        on_behalf_of=row.on_behalf_of if actor == row.asked_by else row.asked_by,
        subject=row.title,
        outcome=outcome,
        rule=rule or f"{row.why.get('stage', '')}:{row.why.get('rule_id', '')}".strip(":"),
        detail={
            "approval": str(row.pk),
            "digest": row.digest,
            "run": str(row.run_id or ""),
            "classes": row.asking,
        },
    )


def announce(row: Approval) -> None:
    """Every inbox hears that something changed and asks for its own list; what stands in a
    conversation is fetched again by those who may read it."""
    publish(
        topics.inbox(row.workspace_id),
        "approval",
        data={"approval": str(row.pk), "state": row.state},
    )
    if row.conversation_id is not None:
        publish(
            space_topics.conversation(row.workspace_id, row.conversation_id),
            "approval",
            data={"approval": str(row.pk), "state": row.state},
        )


def _unattended_hours() -> int:
    row = ApprovalSettings.objects.first()
    return row.unattended_hours if row is not None else 24
