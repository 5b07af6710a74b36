"""Pushes of runs: judged by the rules, asked about, and their ends told to the run.

The repositories room calls the three functions by name (settings): it is a lower room.
"""

from typing import Literal
from uuid import UUID

from django.db.models import Q

from guardrails import explain, rules
from guardrails.actions import Action
from guardrails.asking import Asked, Kind, RefMove
from guardrails.decisions import Decision
from guardrails.models import Approval
from harness import events
from harness.seam import Allow, Ask, Deny, Verdict
from outside.sentences import phrase as _
from outside.sentences import phrase_many
from repositories import push_requests
from repositories.gateway.judge import PushEnd, PushFacts
from repositories.models import PushRequest
from workspaces.tenancy import bind

from . import dispatch, gatekeeper, journal, locks, moves
from .models import Run, RunEvent

MOST_FILES = 200


def judge_push(facts: PushFacts) -> Verdict:
    """The rule's answer about a push, with an open approval where a person is asked."""
    # Locked, so that a run which ends meanwhile closes what is asked here.
    held = locks.hold(facts.origin.run_id)
    if held is None or not held.is_open:
        return Deny(_("The run that pushes has ended."))
    if held.fence != facts.origin.fence:
        return Deny(_("The run goes on elsewhere; what its lost worker pushes is not taken."))
    run = _whole(held)
    actions = tuple(
        Action(
            classes=frozenset({"git_push"}),
            agent_id=str(run.agent_id),
            space_id=str(run.space_id),
            refs=(ref.ref,),
            repositories=(facts.repository,),
            rewrites=ref.rewrites,
        )
        for ref in facts.refs
    )
    resolution = rules.judge(actions, agent_id=run.agent_id, space_id=run.space_id, mode=run.mode)
    if resolution.decision is Decision.DENY:
        return Deny(explain.sentence(resolution), rule=resolution.rule_key)
    if resolution.decision is Decision.ALLOW:
        return Allow(rule=resolution.rule_key)
    approval = gatekeeper.request(run, _question(facts, actions), resolution)
    if approval.state != Approval.State.PENDING:
        return Deny(approval.note or _("Nobody could decide this."))
    return Ask(str(approval.pk), reason=explain.sentence(resolution))


def _question(facts: PushFacts, actions: tuple[Action, ...]) -> Asked:
    refs = push_requests.refs_in_words(facts.refs)
    return Asked(
        kind=Kind.PUSH,
        title=phrase_many(
            "Push %(count)d commit to %(refs)s of %(repository)s",
            "Push %(count)d commits to %(refs)s of %(repository)s",
            facts.commit_count,
        )
        % {"count": facts.commit_count, "refs": refs, "repository": facts.repository},
        actions=actions,
        repository=facts.repository,
        moves=tuple(
            RefMove(ref=r.ref, old=r.old, new=r.new, rewrites=r.rewrites) for r in facts.refs
        ),
        files=tuple(file.path for file in facts.files[:MOST_FILES]),
        text="\n".join(facts.warnings),
        on_yes=_("Exactly these commits are forwarded to %(address)s, once.")
        % {"address": facts.address},
        push_request_id=str(facts.push_request_id),
    )


def may_use_git(workspace_id: UUID, run_id: UUID, fence: int) -> bool:
    """Whether the run is in progress, and with the worker whose claim raised this fence."""
    with bind(workspace_id):
        mine = Run.objects.filter(pk=run_id, fence=fence, state__in=Run.IN_PROGRESS)
        return mine.exists()


def push_settled(end: PushEnd) -> None:
    """The run hears how its push ended, and goes on when it waited for that."""
    run = locks.hold(end.run_id)
    if run is None or not run.is_open or end.approval_id is None:
        return
    call_id = dispatch.call_that_asks(run, end.approval_id)
    if call_id:
        told = _decided(end, call_id)
    elif _was_told(run, end):
        return
    else:
        told = events.steer(_words(end), code=f"push:{end.push_request_id}")
    journal.record(run, [told])
    if run.waiting_for == Run.WaitingFor.APPROVAL:
        moves.requeue(run)


def answer_push(approval: Approval) -> None:
    """What an answer means for a push; when the push has ended already, its run is told again."""
    if push_requests.answered(approval) is not None:
        return
    request = PushRequest.objects.filter(approval=approval).first()
    if request is None or request.is_open:
        return
    push_settled(
        PushEnd(
            push_request_id=request.pk,
            number=request.number,
            workspace_id=request.workspace_id,
            run_id=request.run_id,
            approval_id=request.approval_id,
            state=request.state,
            sentence=request.outcome,
            refs=push_requests.facts_of(request),
            repository=request.repository_name,
        )
    )


def _decided(end: PushEnd, call_id: str) -> events.Event:
    rows = Approval.objects.select_related("decided_by").filter(run_id=end.run_id)
    approval = next((row for row in rows if row.pk == end.approval_id), None)
    is_no = end.state in {PushRequest.State.REFUSED, PushRequest.State.CANCELLED}
    decision: Literal["allow", "deny"] = "deny" if is_no else "allow"
    by = approval.decided_by if approval else None
    return events.decided(
        str(end.approval_id),
        call_id=call_id,
        decision=decision,
        note=approval.note if approval else "",
        decided_by=by.handle if by else "",
        outcome=end.sentence,
        failed=end.state != PushRequest.State.FORWARDED,
    )


def _was_told(run: Run, end: PushEnd) -> bool:
    told = RunEvent.objects.filter(run=run, kind__in=["approval", "steer"])
    by_decision = Q(data__approval_id=str(end.approval_id), data__phase="decided")
    return told.filter(by_decision | Q(data__code=f"push:{end.push_request_id}")).exists()


def _words(end: PushEnd) -> str:
    """For a push that no call of the run waits for: one that was typed in a shell."""
    return _("Push request %(number)d: %(sentence)s") % {
        "number": end.number,
        "sentence": end.sentence,
    }


def _whole(run: Run) -> Run:
    rows = Run.objects.select_related("agent__principal", "conversation", "space", "requested_by")
    whole: Run = rows.get(pk=run.pk)
    return whole
