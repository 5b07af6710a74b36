"""Forwards an approved push itself, exactly once, with the credential that no agent sees.

A forward is claimed by compare-and-set under a short lease. Whoever finds a lapsed lease asks the
remote where the refs are before doing anything, and the push itself moves a ref from exactly its
old id to exactly its new one, so that two at once cannot do it twice.
"""

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from guardrails import approvals
from outside import git
from outside.crashpoint import crashpoint
from outside.sentences import joined
from outside.sentences import phrase as _
from workspaces.credentials import CannotUnseal
from workspaces.tenancy import bind

from . import checkouts, places, push_requests, reach
from .connections import give_back
from .models import PushRequest, Repository

log = logging.getLogger(__name__)

FORWARD = push_requests.FORWARD
MAX_ATTEMPTS = 6
State = PushRequest.State

# Nothing is known to be wrong with the push: it is tried again, after asking the remote.
_PASSING = (git.Unreachable, git.Broken, git.TimedOut, git.Busy, git.DiskFull)


class LeaseLost(git.GitError):
    code = "lease_lost"
    default = "Another worker has taken this push over."


@dataclass(slots=True)
class Claim:
    """One attempt at one forward. Every write of it carries its number."""

    request: PushRequest
    repository: Repository
    attempt: int
    renewed: float = 0.0

    @property
    def is_first(self) -> bool:
        return self.attempt == 1

    def renew(self) -> None:
        """Raises LeaseLost, which ends git, when another worker has taken over."""
        if time.monotonic() - self.renewed < settings.PUSH_LEASE_SECONDS / 3:
            return
        self.renewed = time.monotonic()
        with bind(self.request.workspace_id):
            mine = PushRequest.objects.filter(
                pk=self.request.pk, state=State.FORWARDING, attempts=self.attempt
            )
            if not mine.update(forward_until=_lease()):
                raise LeaseLost()


def forward(workspace_id: UUID, push_request_id: UUID) -> str:
    """Forwards the push if it is approved and nobody else is at it. Returns its state afterwards.

    Safe to call any number of times, at the same time, and after a death at any point.
    """
    try:
        claim = _claim(workspace_id, push_request_id)
        give_back()
        if claim is not None:
            crashpoint("push.claimed")
            _carry_out(claim)
        with bind(workspace_id):
            return str(PushRequest.objects.values_list("state", flat=True).get(pk=push_request_id))
    finally:
        give_back()


def _claim(workspace_id: UUID, push_request_id: UUID) -> Claim | None:
    with bind(workspace_id):
        rows = PushRequest.objects.filter(pk=push_request_id)
        row = rows.select_related("repository__credential", "approval", "conversation").first()
        if row is None or row.repository is None:
            return None
        first = rows.filter(state=State.APPROVED)
        again = rows.filter(state=State.FORWARDING, forward_until__lt=Now(), attempts=row.attempts)
        source = first if row.state == State.APPROVED else again
        if not source.update(
            state=State.FORWARDING, attempts=F("attempts") + 1, forward_until=_lease()
        ):
            return None
        claim = Claim(row, row.repository, row.attempts + 1, time.monotonic())
        if claim.is_first and (reason := _use_approval(row)):
            push_requests.end(row, State.REFUSED, reason, attempt=claim.attempt, outcome="deny")
            return None
        push_requests.announce(row)
        return claim


def _use_approval(request: PushRequest) -> str:
    """Uses the yes, in the transaction that starts the forward. A reason when it does not hold."""
    approval = request.approval
    if approval is None:
        return ""
    if approval.shown.get("push_request_id") != str(request.pk):
        return _("The approval was given for something else.")
    try:
        approvals.consume(approval.pk, digest=approval.digest)
    except approvals.NotUsable as error:
        return str(error)
    return ""


def _carry_out(claim: Claim) -> None:
    try:
        said = _push(claim)
    except LeaseLost:
        log.info("push request %s was taken over", claim.request.pk)
    except git.RemoteMoved as error:
        _finish(claim, State.STALE, error.sentence)
    except _PASSING as error:
        _try_later(claim, error)
    except git.GitError as error:
        log.warning("push request %s: %s", claim.request.number, error.detail)
        _finish(claim, State.FAILED, error.sentence)
    except CannotUnseal as error:
        _finish(claim, State.FAILED, str(error))
    else:
        crashpoint("push.forwarded")
        _take_over_locally(claim)
        _finish(claim, State.FORWARDED, _done(claim.request, said))


def _push(claim: Claim) -> str:
    """What the remote said. Raises a GitError; RemoteMoved when a ref is neither old nor new."""
    request, updates = claim.request, claim.request.updates
    remote, guard = reach.remote_of(claim.repository), reach.guard()
    if not claim.is_first and _is_there(remote, updates):
        return ""
    try:
        return git.forward(
            places.objects(request),
            remote,
            updates,
            guard=guard,
            push_options=request.push_options,
            tick=claim.renew,
        ).said
    except (git.RemoteMoved, git.Broken, git.TimedOut):
        # It may have arrived all the same: the remote knows.
        if _is_there(remote, updates):
            return ""
        raise


def _is_there(remote: git.Remote, updates: list[git.RefUpdate]) -> bool:
    """Whether every ref is at its new id. Raises RemoteMoved when one is neither old nor new."""
    refs = git.probe(remote, guard=reach.guard()).refs()
    now = [refs.get(update.name, git.ZERO) for update in updates]
    if all(at == update.new for at, update in zip(now, updates, strict=True)):
        return True
    if any(at != update.old for at, update in zip(now, updates, strict=True)):
        raise git.RemoteMoved()
    return False


def _take_over_locally(claim: Claim) -> None:
    """The mirror and the checkout know where the remote's refs are; both can be fetched later."""
    request = claim.request
    try:
        refs = {update.name: update.new for update in request.updates}
        mirror = places.mirror(request.workspace_id, claim.repository.name)
        git.absorb(mirror, places.objects(request), refs)
        if request.conversation:
            place = checkouts.place_of(request.conversation, claim.repository.name)
            for name, oid in refs.items():
                git.note_remote_ref(place, name, oid)
    except (git.GitError, OSError) as error:
        log.warning("after push request %s: %s", request.number, error)


def _finish(claim: Claim, state: str, sentence: str) -> None:
    with bind(claim.request.workspace_id):
        push_requests.end(
            claim.request,
            state,
            sentence,
            attempt=claim.attempt,
            outcome="allow" if state == State.FORWARDED else "deny",
        )


def _try_later(claim: Claim, error: git.GitError) -> None:
    """The claim lapses after a pause that doubles; the sweep then finds it."""
    log.warning("push request %s: %s %s", claim.request.number, error, error.detail)
    if claim.attempt >= MAX_ATTEMPTS:
        _finish(claim, State.FAILED, error.sentence)
        return
    pause = timedelta(seconds=settings.PUSH_RETRY_SECONDS * 2 ** (claim.attempt - 1))
    with bind(claim.request.workspace_id):
        PushRequest.objects.filter(
            pk=claim.request.pk, state=State.FORWARDING, attempts=claim.attempt
        ).update(forward_until=Now() + pause, outcome=error.sentence)


def _lease() -> object:
    return Now() + timedelta(seconds=settings.PUSH_LEASE_SECONDS)


def _done(request: PushRequest, said: str) -> str:
    lines = [
        _("%(ref)s is gone from the remote.") % {"ref": words}
        if fact.new == git.ZERO
        else _("%(ref)s is at %(oid)s on the remote.") % {"ref": words, "oid": fact.new[:12]}
        for fact in push_requests.facts_of(request)
        for words in [push_requests.refs_in_words([fact])]
    ]
    return joined([joined(lines), said], "\n") if said else joined(lines)
