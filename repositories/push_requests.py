"""Push requests: their one life from held to its end, changed by compare-and-set only."""

from collections.abc import Iterable
from hashlib import sha256
from json import dumps
from uuid import UUID

from django.db import connection
from django.db.models import Max
from django.db.models.functions import Now

from guardrails.models import Approval
from live.publish import publish
from outside.sentences import joined
from outside.sentences import phrase as _
from spaces import topics as space_topics
from workspaces import audit
from workspaces.background import enqueue

from .gateway import judge
from .gateway.judge import PushEnd, RefFacts
from .models import PushRequest

FORWARD = "repositories.tasks.forward_push"
State = PushRequest.State


def digest(
    repository_id: UUID, *, space_id: UUID, refs: Iterable[RefFacts], push_options: Iterable[str]
) -> str:
    """64 hex digits over what a yes holds for; the workspace is in the repository's id."""
    bound = {
        "repository": str(repository_id),
        "space": str(space_id),
        "refs": sorted([fact.ref, fact.old, fact.new] for fact in refs),
        "options": list(push_options),
    }
    return sha256(dumps(bound, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def open_twin(repository_id: UUID, key: str) -> PushRequest | None:
    """The open request for exactly the same push."""
    rows = PushRequest.objects.open().filter(repository_id=repository_id, digest=key)
    found: PushRequest | None = rows.first()
    return found


def next_number() -> int:
    """The next number of the bound workspace; held until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('push ' ||"
            " current_setting('app.workspaces'), 0))"
        )
    last = PushRequest.objects.aggregate(last=Max("number"))["last"]
    return (last or 0) + 1


def facts_of(request: PushRequest) -> tuple[RefFacts, ...]:
    """The refs of a stored request as facts."""
    return tuple(
        RefFacts(move["ref"], move["old"], move["new"], move["kind"]) for move in request.refs
    )


# ---------------------------------------------------------------- decisions


def answered(approval: Approval) -> PushRequest | None:
    """What the answer to an approval means for its push: on yes it is forwarded in the background,
    once; else it is refused. None when the approval was not for a push, or it has been heard."""
    request = PushRequest.objects.held().filter(approval=approval).first()
    if request is None or approval.is_open:
        return None
    if approval.state == Approval.State.APPROVED:
        return approve(request)
    return refuse(request, _why_refused(approval))


def approve(request: PushRequest) -> PushRequest | None:
    """The held request may be forwarded; None when it was not held any more."""
    if not _move(request, State.HELD, State.APPROVED, decided_at=Now()):
        return None
    enqueue(FORWARD, request.workspace_id, request.pk, queue="files")
    return _fresh(request)


def refuse(request: PushRequest, sentence: str) -> PushRequest | None:
    """The held request ends with a no; None when it was not held any more."""
    now = Now()
    if not _move(
        request, State.HELD, State.REFUSED, outcome=sentence, decided_at=now, ended_at=now
    ):
        return None
    return _ended(request, outcome="deny")


def cancel_for_run(run_id: UUID, *, sentence: str = "") -> int:
    """Pushes of the run that have not begun to leave never will. Returns how many."""
    words = sentence or _("The run ended before the push was forwarded.")
    waiting = PushRequest.objects.filter(run_id=run_id, state__in=[State.HELD, State.APPROVED])
    return sum(_cancel(request, words) for request in list(waiting))


def _cancel(request: PushRequest, sentence: str) -> bool:
    moved = _move(request, request.state, State.CANCELLED, outcome=sentence, ended_at=Now())
    if moved:
        _ended(request, outcome="deny")
    return moved


def end(
    request: PushRequest, state: str, sentence: str, *, attempt: int, outcome: str = "allow"
) -> PushRequest | None:
    """The request that this attempt forwards ends so; None when another attempt has taken over."""
    moved = PushRequest.objects.filter(
        pk=request.pk, state=State.FORWARDING, attempts=attempt
    ).update(state=state, outcome=sentence, ended_at=Now(), forward_until=None)
    return _ended(request, outcome=outcome) if moved else None


def announce(request: PushRequest) -> None:
    """Open pages that show the request ask for it again."""
    data = {"push_request": str(request.pk), "state": request.state}
    if request.conversation_id:
        topic = space_topics.conversation(request.workspace_id, request.conversation_id)
        publish(topic, "push_request", data=data)
    publish(f"w/{request.workspace_id}/repositories", "push_request", data=data)


def refs_in_words(refs: Iterable[RefFacts]) -> str:
    """`main, v1.0 (tag)`: the refs as a person names them."""
    return ", ".join(
        fact.ref.removeprefix("refs/heads/")
        if fact.ref.startswith("refs/heads/")
        else f"{fact.ref.removeprefix('refs/tags/')} (tag)"
        for fact in refs
    )


def _move(request: PushRequest, before: str, after: str, **fields: object) -> bool:
    moved = PushRequest.objects.filter(pk=request.pk, state=before).update(state=after, **fields)
    if moved:
        announce(_fresh(request))
    return bool(moved)


def _ended(request: PushRequest, *, outcome: str) -> PushRequest:
    row = _fresh(request)
    audit.record(
        f"push.{row.state}",
        actor=row.agent,
        subject=f"{row.repository_name}: {refs_in_words(facts_of(row))}",
        outcome=outcome,
        rule=row.rule,
        detail={
            "push_request": str(row.pk),
            "number": row.number,
            "digest": row.digest,
            "approval": str(row.approval_id or ""),
            "run": str(row.run_id),
            "sentence": row.outcome[:500],
        },
    )
    announce(row)
    judge.settled(
        PushEnd(
            push_request_id=row.pk,
            number=row.number,
            workspace_id=row.workspace_id,
            run_id=row.run_id,
            approval_id=row.approval_id,
            state=row.state,
            sentence=row.outcome,
            refs=facts_of(row),
            repository=row.repository_name,
        )
    )
    return row


def _fresh(request: PushRequest) -> PushRequest:
    row: PushRequest = PushRequest.objects.select_related("agent", "repository").get(pk=request.pk)
    return row


def _why_refused(approval: Approval) -> str:
    if approval.state != Approval.State.DENIED:
        return approval.note or _("Nobody decided about the push in time.")
    who = f"@{approval.decided_by.handle}" if approval.decided_by else _("a rule")
    words = _("Refused by %(who)s.") % {"who": who}
    return joined([words, approval.note]) if approval.note else words
