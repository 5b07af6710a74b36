"""An agent's push becomes push requests: quarantined, read, judged, one ref at a time.

The same push as one that is open joins it. What the rule allows is forwarded at once.
"""

import logging
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from harness.seam import Allow, Ask, Deny
from outside import git
from outside.sentences import pack
from outside.sentences import phrase as _
from workspaces import audit, clock
from workspaces.ids import uuid7
from workspaces.models import Principal
from workspaces.tenancy import bind

from . import forwarding, leaks, places, push_requests
from .connections import give_back
from .gateway import judge
from .gateway.judge import CommitFacts, FileFacts, Origin, PushFacts, RefFacts
from .models import PushRequest, Repository, SpaceRepository

log = logging.getLogger(__name__)

MAX_REFS = 50
MAX_FILES = 500
SCANNED_BYTES = 64 * 2**20
JUDGED_DIFF_CHARACTERS = 200_000
State = PushRequest.State


class NotHere(RuntimeError):
    """The origin's space has no such repository."""


@dataclass(frozen=True, slots=True)
class Push:
    """What arrived. `pack` is a spooled file that this takes over, or None when no objects came."""

    origin: Origin
    repository: str
    updates: tuple[git.RefUpdate, ...]
    pack: Path | None = None
    pack_bytes: int = 0
    pack_digest: str = ""
    push_options: tuple[str, ...] = ()
    is_atomic: bool = False


@dataclass(frozen=True, slots=True)
class RefOutcome:
    """What became of one ref. `state` is a state of PushRequest, or "current" when the remote is
    there already. Without a request the ref was refused before it could be judged."""

    ref: str
    state: str
    sentence: str
    request_id: UUID | None = None
    number: int | None = None
    approval_id: UUID | None = None

    @property
    def is_done(self) -> bool:
        """Whether the remote has it."""
        return self.state in {State.FORWARDED, "current"}

    @property
    def is_open(self) -> bool:
        return self.state in PushRequest.OPEN


def repository_of(origin: Origin, name: str) -> Repository:
    """The repository of that name in the origin's space. Raises NotHere."""
    with bind(origin.workspace_id):
        links = SpaceRepository.objects.filter(space_id=origin.space_id)
        found: Repository | None = (
            Repository.objects.filter(name=name, pk__in=links.values("repository_id"))
            .exclude(state=Repository.State.REMOVING)
            .select_related("credential")
            .first()
        )
    if found is None:
        raise NotHere(_("This conversation has no repository %(name)s.") % {"name": name})
    return found


def submit(push: Push) -> list[RefOutcome]:
    """One outcome a ref, in the order of the push. Never raises for what the agent sent.

    Runs git and may forward, so never inside a transaction. Raises NotHere.
    """
    repository = repository_of(push.origin, push.repository)
    mirror = places.mirror(push.origin.workspace_id, repository.name)
    folder = places.pushes(push.origin.workspace_id) / str(uuid7())
    try:
        give_back()
        submission = _Submission(push, repository, mirror, git.mirrored(mirror), folder)
        outcomes = submission.outcomes()
    finally:
        if push.pack is not None:
            push.pack.unlink(missing_ok=True)
        give_back()
    forwarded = [_forward_now(push.origin.workspace_id, each) for each in outcomes]
    if not any(each.is_open for each in forwarded):
        shutil.rmtree(folder / places.OBJECTS, ignore_errors=True)
    return forwarded


def outcome_of(request: PushRequest, ref: str) -> RefOutcome:
    """How the ref of a stored request stands."""
    return RefOutcome(
        ref, request.state, request.outcome, request.pk, request.number, request.approval_id
    )


@dataclass(slots=True)
class _Submission:
    push: Push
    repository: Repository
    mirror: Path
    remote_refs: dict[str, str]
    folder: Path
    place: git.Place | None = None

    def outcomes(self) -> list[RefOutcome]:
        if len(self.push.updates) > MAX_REFS:
            words = _("A push of more than %(count)d refs is not taken; push fewer at a time.")
            return self._all_refused(self.push.updates, words % {"count": MAX_REFS})
        settled = {u.name: found for u in self.push.updates if (found := self._before(u))}
        left = [update for update in self.push.updates if update.name not in settled]
        if self.push.is_atomic and any(not each.is_done for each in settled.values()):
            words = _("The push is atomic and another of its refs was refused.")
            settled |= {each.ref: each for each in self._all_refused(left, words)}
        elif left:
            groups = [left] if self.push.is_atomic else [[update] for update in left]
            settled |= {each.ref: each for group in groups for each in self._ask(group)}
        return [settled[update.name] for update in self.push.updates]

    def _before(self, update: git.RefUpdate) -> RefOutcome | None:
        """The outcome of a ref that needs no question."""
        if reason := refusal(update, self.remote_refs):
            return RefOutcome(update.name, State.REFUSED, reason)
        if self.remote_refs.get(update.name, git.ZERO) == update.new:
            return RefOutcome(update.name, "current", _("The remote is there already."))
        return None

    def _ask(self, updates: Sequence[git.RefUpdate]) -> list[RefOutcome]:
        with bind(self.push.origin.workspace_id):
            twin = push_requests.open_twin(self.repository.pk, self._digest(updates))
        if twin is not None:
            return [outcome_of(twin, update.name) for update in updates]
        try:
            facts, diff, is_whole = self._read(updates)
        except git.GitError as error:
            log.info("push refused: %s %s", error, error.detail)
            return self._all_refused(updates, error.sentence)
        request = self._judged(facts, diff, is_whole)
        return [outcome_of(request, update.name) for update in updates]

    def _read(self, updates: Sequence[git.RefUpdate]) -> tuple[PushFacts, str, bool]:
        """The facts of these refs, their diff, and whether it is whole. Raises a GitError."""
        place = self._quarantined()
        seen = [
            git.inspect(
                place,
                update,
                remote_refs=self.remote_refs,
                default_branch=self.repository.default_branch,
            )
            for update in updates
        ]
        diff = "".join(each.diff.text for each in seen)
        is_whole = not any(each.diff.truncated for each in seen)
        commits = {commit.oid: commit for each in seen for commit in each.commits}
        changes = [change for each in seen for change in each.changes]
        facts = PushFacts(
            push_request_id=uuid7(),
            number=0,
            origin=self.push.origin,
            repository_id=self.repository.pk,
            repository=self.repository.name,
            address=self.repository.address,
            refs=tuple(RefFacts(e.update.name, e.update.old, e.update.new, e.kind) for e in seen),
            push_options=self.push.push_options,
            commits=tuple(
                CommitFacts(c.oid, c.subject, f"{c.author_name} <{c.author_email}>", c.committed_at)
                for c in commits.values()
            ),
            commit_count=sum(each.commit_count for each in seen),
            files=tuple(
                FileFacts(c.status, c.path, c.old_path, c.added, c.removed)
                for c in changes[:MAX_FILES]
            ),
            file_count=len(changes),
            diff=diff[:JUDGED_DIFF_CHARACTERS],
            diff_is_whole=is_whole and len(diff) <= JUDGED_DIFF_CHARACTERS,
            warnings=tuple(self._warnings(place, seen)),
            digest=self._digest(updates),
        )
        return facts, diff, is_whole

    def _quarantined(self) -> git.Place:
        if self.place is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            objects = self.folder / places.OBJECTS
            limit = settings.PUSH_MAX_BYTES
            if self.push.pack is None:
                place = git.quarantine(objects, mirror=self.mirror, pack=None, max_bytes=limit)
            else:
                with self.push.pack.open("rb") as pack:
                    place = git.quarantine(objects, mirror=self.mirror, pack=pack, max_bytes=limit)
            self.place = place
        return self.place

    def _warnings(self, place: git.Place, seen: Sequence[git.Inspected]) -> list[str]:
        known = list(self.remote_refs.values())
        words = []
        for each in (each for each in seen if each.commit_count):
            text = git.added_lines_log(
                place, each.commits[0].oid, without=known, max_bytes=SCANNED_BYTES
            )
            words += [
                _("%(path)s:%(line)s in %(commit)s looks like a secret (%(kind)s, %(hint)s).")
                % {**asdict(leak), "commit": leak.commit[:12]}
                for leak in leaks.in_patches(text.text)
            ]
            if text.truncated:
                words.append(_("The commits are too large to be searched for secrets whole."))
        return [*dict.fromkeys(words), *delicate_paths(seen)]

    def _judged(self, facts: PushFacts, diff: str, is_whole: bool) -> PushRequest:
        """The stored request with its verdict, both in one transaction."""
        try:
            with bind(facts.origin.workspace_id), transaction.atomic():
                return self._store(facts, diff, is_whole)
        except IntegrityError as error:
            if "pushrequest_open_once" not in str(error):
                raise
        with bind(facts.origin.workspace_id):
            twin = push_requests.open_twin(self.repository.pk, facts.digest)
        if twin is None:
            return self._judged(facts, diff, is_whole)
        return twin

    def _store(self, facts: PushFacts, diff: str, is_whole: bool) -> PushRequest:
        origin = facts.origin
        request = PushRequest(
            id=facts.push_request_id,
            number=push_requests.next_number(),
            repository=self.repository,
            repository_name=facts.repository,
            run_id=origin.run_id,
            conversation_id=origin.conversation_id,
            space_id=origin.space_id,
            agent_id=origin.agent_principal_id,
            refs=[asdict(fact) for fact in facts.refs],
            push_options=list(facts.push_options),
            digest=facts.digest,
            quarantine=self.folder.name,
            pack_bytes=self.push.pack_bytes,
            pack_digest=self.push.pack_digest,
            summary=summary_of(facts) | {"diff_is_whole": is_whole},
        )
        request.save(force_insert=True)
        places.diff_file(request).write_text(diff, encoding="utf-8")
        audit.record(
            "push.request",
            actor=Principal.objects.filter(pk=origin.agent_principal_id).first(),
            subject=f"{facts.repository}: {push_requests.refs_in_words(facts.refs)}",
            outcome="ask",
            detail={"push_request": str(request.pk), "digest": facts.digest},
        )
        return _apply(request, judge.judge(replace(facts, number=request.number)))

    def _digest(self, updates: Sequence[git.RefUpdate]) -> str:
        return push_requests.digest(
            self.repository.pk,
            space_id=self.push.origin.space_id,
            refs=[RefFacts(u.name, u.old, u.new, "") for u in updates],
            push_options=self.push.push_options,
        )

    def _all_refused(self, updates: Sequence[git.RefUpdate], sentence: str) -> list[RefOutcome]:
        return [RefOutcome(update.name, State.REFUSED, sentence) for update in updates]


def refusal(update: git.RefUpdate, remote_refs: dict[str, str]) -> str:
    """Why this update is refused without asking anybody; "" when it may be asked."""
    try:
        git.check_ref(update.name)
    except git.BadName as error:
        return error.sentence
    if not update.name.startswith(("refs/heads/", "refs/tags/")):
        return _("Only branches and tags can be pushed here.")
    now = remote_refs.get(update.name, git.ZERO)
    if now not in {update.old, update.new}:
        return _("The remote has changed since your last fetch. Fetch, merge and push again.")
    if update.old == update.new == git.ZERO:
        return _("The remote has no such ref.")
    return ""


def delicate_paths(seen: Sequence[git.Inspected]) -> Sequence[str]:
    """Sentences about changed files that act by themselves, or whose names deceive."""
    paths = sorted({change.path for each in seen for change in each.changes})
    acting = [path for path in paths if acts_by_itself(path)]
    odd = [path for path in paths if git.printable(path) != path]
    words = [_("%(path)s acts by itself once it is pushed.") % {"path": path} for path in acting]
    names = [git.printable(path) for path in odd]
    return words + [_("The name %(path)s has invisible characters.") % {"path": n} for n in names]


def acts_by_itself(path: str) -> bool:
    """Whether a host or a tool runs or follows the file without being asked."""
    acting = (".github/workflows/", ".gitlab-ci.yml", ".circleci/", ".buildkite/", ".husky/")
    return path.startswith(acting) or path.rpartition("/")[2] in {".gitmodules", ".gitattributes"}


def summary_of(facts: PushFacts) -> dict[str, Any]:
    """What a page shows of the push without touching the disk."""
    return {
        "commits": [{**asdict(each), "at": each.at.isoformat()} for each in facts.commits],
        "commit_count": facts.commit_count,
        "files": [asdict(each) for each in facts.files],
        "file_count": facts.file_count,
        "warnings": [pack(words) for words in facts.warnings],
    }


def _apply(request: PushRequest, verdict: Allow | Deny | Ask) -> PushRequest:
    now = clock.now()
    match verdict:
        case Allow(rule=rule):
            request.state, request.rule, request.decided_at = State.APPROVED, rule, now
        case Deny(reason=reason, rule=rule):
            request.state, request.outcome, request.rule = State.REFUSED, reason, rule
            request.decided_at = request.ended_at = now
        case Ask(approval_id=approval_id, reason=reason):
            request.approval_id, request.rule = UUID(approval_id), reason
    request.save(update_fields=["state", "outcome", "rule", "approval", "decided_at", "ended_at"])
    if isinstance(verdict, Deny):
        audit.record(
            "push.refused",
            actor=request.agent,
            subject=f"{request.repository_name}: #{request.number}",
            outcome="deny",
            rule=request.rule,
            detail={"push_request": str(request.pk), "sentence": request.outcome[:500]},
        )
    push_requests.announce(request)
    return request


def _forward_now(workspace_id: UUID, outcome: RefOutcome) -> RefOutcome:
    """What a rule allows need not wait for a worker."""
    if outcome.state != State.APPROVED or outcome.request_id is None:
        return outcome
    forwarding.forward(workspace_id, outcome.request_id)
    with bind(workspace_id):
        return outcome_of(PushRequest.objects.get(pk=outcome.request_id), outcome.ref)
