"""The push tool's own way: from a checkout on disk into the same requests, without a round trip."""

import hashlib
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from outside import git
from outside.sentences import phrase as _
from workspaces.tenancy import bind

from . import places
from .gateway.judge import Origin
from .models import PushRequest
from .submitting import Push, RefOutcome, repository_of, submit

log = logging.getLogger(__name__)


def push_from_checkout(
    origin: Origin,
    repository: str,
    refspecs: Sequence[str] = (),
    *,
    force: bool = False,
    push_options: Sequence[str] = (),
) -> list[RefOutcome]:
    """What became of each ref of a push that the conversation's checkout makes.

    `refspecs` are git's: `main`, `topic:main`, `+topic:main`, `:topic`, with short or full names;
    none means the current branch. Ends in the same push requests as a push over HTTP: judged,
    joined when it is open already, forwarded at once when a rule allows it. Runs git and may reach
    the network, so never inside a transaction. Raises submitting.NotHere.
    """
    found = repository_of(origin, repository)
    place = places.checkout(
        origin.workspace_id,
        space_id=origin.space_id,
        conversation_id=origin.conversation_id,
        name=found.name,
    )
    try:
        wanted = [_Wanted.read(spec, place, force=force) for spec in refspecs or [""]]
        remote_refs = git.mirrored(place.mirror)
    except git.GitError as error:
        return [_refused(" ".join(refspecs) or "HEAD", error.sentence)]
    outcomes = {one.ref: reason for one in wanted if (reason := one.refusal(place, remote_refs))}
    updates = tuple(one.update(remote_refs) for one in wanted if one.ref not in outcomes)
    if updates:
        for outcome in _submit(origin, found.name, place, updates, tuple(push_options)):
            outcomes[outcome.ref] = outcome
    return [outcomes[one.ref] for one in wanted]


def standing(origin: Origin, outcomes: Sequence[RefOutcome]) -> list[RefOutcome]:
    """The same outcomes as they stand now."""
    with bind(origin.workspace_id):
        ids = {each.request_id for each in outcomes if each.request_id}
        rows = {row.pk: row for row in PushRequest.objects.filter(pk__in=ids)}
    return [
        RefOutcome(each.ref, row.state, row.outcome, row.pk, row.number, row.approval_id)
        if each.request_id and (row := rows.get(each.request_id))
        else each
        for each in outcomes
    ]


class _Wanted:
    """One refspec, resolved against the checkout."""

    def __init__(self, ref: str, oid: str, *, force: bool) -> None:
        self.ref, self.oid, self.force = ref, oid, force

    @classmethod
    def read(cls, spec: str, place: git.Checkout, *, force: bool) -> "_Wanted":
        """Raises a GitError for a name that is none or points nowhere."""
        force = force or spec.startswith("+")
        source, colon, target = spec.removeprefix("+").partition(":")
        if colon and not source:
            return cls(_full(target), git.ZERO, force=True)
        branch, head = git.head(place)
        if source in {"", "HEAD"}:
            source, oid = branch, head
        else:
            oid = git.branch_tip(place, _full(source))
        if oid is None:
            raise git.BadName(
                _("There is nothing to push: %(ref)s does not exist.") % {"ref": source}
            )
        name = target or source
        if not name:
            raise git.BadName(_("The checkout is on no branch; say which branch to push to."))
        return cls(_full(name, like=source), oid, force=force)

    def refusal(self, place: git.Checkout, remote_refs: dict[str, str]) -> RefOutcome | None:
        """What an ordinary git refuses by itself: losing what the remote has."""
        old = remote_refs.get(self.ref)
        if self.force or old in {None, self.oid}:
            return None
        try:
            is_ahead = git.builds_on(place, old or git.ZERO, self.oid)
        except git.GitError as error:
            return _refused(self.ref, error.sentence)
        if is_ahead:
            return None
        words = _("The remote has commits that %(ref)s lacks. Fetch and merge first.")
        return _refused(self.ref, words % {"ref": self.ref.removeprefix("refs/heads/")})

    def update(self, remote_refs: dict[str, str]) -> git.RefUpdate:
        return git.RefUpdate(self.ref, remote_refs.get(self.ref, git.ZERO), self.oid)


def _full(name: str, *, like: str = "") -> str:
    if name.startswith("refs/"):
        return git.check_ref(name)
    folder = "refs/tags/" if like.startswith("refs/tags/") else "refs/heads/"
    return git.check_ref(f"{folder}{name}")


def _submit(
    origin: Origin,
    name: str,
    place: git.Checkout,
    updates: tuple[git.RefUpdate, ...],
    push_options: tuple[str, ...],
) -> list[RefOutcome]:
    tips = [update.new for update in updates if update.new != git.ZERO]
    folder = places.pushes(origin.workspace_id)
    folder.mkdir(parents=True, exist_ok=True)
    pack = None
    if tips:
        descriptor, written = tempfile.mkstemp(prefix="incoming-", dir=folder)
        pack = Path(written)
        try:
            with os.fdopen(descriptor, "wb") as file:
                known = git.mirrored(place.mirror).values()
                git.write_pack(place, tips, without=known, into=file)
        except git.GitError as error:
            pack.unlink()
            return [_refused(update.name, error.sentence) for update in updates]
    return submit(
        Push(
            origin=origin,
            repository=name,
            updates=updates,
            pack=pack,
            pack_bytes=pack.stat().st_size if pack else 0,
            pack_digest=_digest(pack) if pack else "",
            push_options=push_options,
        )
    )


def _digest(pack: Path) -> str:
    with pack.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refused(ref: str, sentence: str) -> RefOutcome:
    return RefOutcome(ref, PushRequest.State.REFUSED, sentence)
