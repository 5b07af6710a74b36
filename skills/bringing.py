"""The jobs behind a request: fetch into memory, scan, decide; and write those very bytes.

The bytes of a skill live in one call of this module. What does not end in `install.put` lets them
go, and only a sealed preview of what a verdict was given on is kept.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import connection
from django.db.models import F, Q
from django.utils import timezone

from outside import git
from outside.crashpoint import crashpoint
from outside.sentences import phrase as _
from skills.scanning import Answer, Decision, File, Outcome, Verdict, decide, digest, version
from skills.scanning.text import decode
from workspaces import audit
from workspaces.credentials import CannotUnseal
from workspaces.tenancy import bind

from . import fetching, install, judging, previews, requests, rules, sealing, trees
from .lockfile import LockUnreadable, computed_hash
from .models import Skill, SkillRequest, SkillSource
from .standing import unreadable

log = logging.getLogger(__name__)

BEAT_SECONDS = 120  # longer than a scan may take, which says nothing meanwhile
STEP_SECONDS = 1.0
ATTEMPTS = 3
PASSING = (git.Unreachable, git.TimedOut, git.Broken, git.DiskFull, git.Busy)
State = SkillRequest.State


class Ended(Exception):
    """The request comes to no good end. `code` names why, the text is a sentence for people.

    `is_passing`: the same may well work later, so what was looked at stays open.
    """

    def __init__(self, code: str, sentence: str, *, is_passing: bool = False) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.is_passing = code, sentence, is_passing


@dataclass(frozen=True, slots=True)
class Incoming:
    """A skill in memory, with where it is from."""

    files: Mapping[str, File]
    folder: str
    skill_file: str
    tree_sha: str
    commit: str = ""


def examine(workspace_id: UUID, request_id: UUID) -> None:
    """Fetches and scans what was asked for; afterwards it can be looked at, or the request says why
    not. Does nothing when somebody else is at it."""
    request = _claim(workspace_id, request_id, State.QUEUED, State.FETCHING)
    if request is None:
        return
    with _settling(request):
        incoming = _bring(request)
        crashpoint("skill-fetched")
        _step(request, State.SCANNING)
        verdict = judging.judge(incoming.files, incoming.folder)
        crashpoint("skill-judged")
        with bind(workspace_id):
            _keep_verdict(request, incoming, verdict)


def write(workspace_id: UUID, request_id: UUID) -> None:
    """Fetches once more what was looked at, scans it, and writes those bytes if they are the same
    and the answer still is yes. Does nothing when somebody else is at it."""
    request = _claim(workspace_id, request_id, State.INSTALLING, State.INSTALLING)
    if request is None:
        return
    with _settling(request):
        incoming = _bring(request)
        crashpoint("skill-fetched")
        _require_same(request, incoming)
        verdict = judging.judge(incoming.files, incoming.folder)
        crashpoint("skill-judged")
        require_verdict(verdict, incoming.files)
        with bind(workspace_id):
            _write(request, incoming, verdict)
        crashpoint("skill-committed")


def is_stuck() -> Q:
    """Rows whose worker has not been heard of; a clock that was set back does not save them."""
    now = timezone.now()
    away = timedelta(seconds=BEAT_SECONDS)
    return Q(beat_at__lt=now - away) | Q(beat_at__gt=now + away)


# -- getting the bytes ---------------------------------------------------------------------------


def _bring(request: SkillRequest) -> Incoming:
    if request.kind == SkillRequest.Kind.LOCAL:
        return _written_here(request)
    source = request.source
    if source is None or source.state == SkillSource.State.REMOVING:
        raise Ended("no_source", _("The source of this skill was removed."))
    beat = _Beat(request)
    there = fetching.tip(source)
    fetched = fetching.fetch(
        source, request.path, there.commit, address=there.address, watch=beat.tick
    )
    return Incoming(
        fetched.files, fetched.folder, fetched.offer.skill_file, fetched.tree_sha, fetched.commit
    )


def _written_here(request: SkillRequest) -> Incoming:
    said = sealing.open_(request.sealed_files)
    if said is None:
        raise Ended("sealed", _("The text can no longer be unsealed. Enter it again."))
    files = {path: File(0o100644, text.encode()) for path, text in said.items()}
    return _with_what_stays(request, files)


def _with_what_stays(request: SkillRequest, files: dict[str, File]) -> Incoming:
    """Files of the edited version that are no text stay, and so do the modes of the others."""
    skill = request.skill
    before = install.read(install.directory(request.workspace_id, request.slug)) if skill else None
    if before and digest(before) == request.installed_digest:
        for path, file in before.items():
            if path in files:
                files[path] = File(file.mode, files[path].data)
            elif file.is_link or decode(file.data) is None:
                files[path] = file
    return Incoming(files, request.slug, "SKILL.md", trees.of_files(files))


# -- after the scan ------------------------------------------------------------------------------


def _keep_verdict(request: SkillRequest, incoming: Incoming, verdict: Verdict) -> None:
    """The verdict stands in the row, with a sealed preview of what it was given on."""
    require_verdict(verdict, incoming.files)
    now = requests.fresh(request)
    installed = Skill.objects.filter(pk=now.skill_id).first() if now.skill_id else None
    if installed is not None and installed.digest == verdict.digest:
        raise Ended("up_to_date", _("%(name)s is up to date.") % {"name": installed.slug})
    answer = _answer(now, verdict, installed)
    state = State.REFUSED if answer.decision is Decision.REFUSED else State.PREVIEWED
    before = install.read(install.directory(now.workspace_id, now.slug)) if installed else None
    preview = previews.make(
        incoming.files, verdict, skill_file=incoming.skill_file, before=installed,
        before_files=before,
    )  # fmt: skip
    requests.move(
        now, State.SCANNING, state,
        commit=incoming.commit, tree_sha=incoming.tree_sha, digest=verdict.digest,
        ruleset=verdict.ruleset, verdict=verdict.outcome.value, decision=answer.decision.value,
        reasons=list(answer.reasons), capabilities=list(verdict.manifest.capabilities),
        is_acceptable=_is_acceptable(verdict, answer), sealed=previews.close(preview), error="",
        error_code="",
    )  # fmt: skip
    if answer.decision is Decision.REFUSED:
        audit.record(
            "skill.scan", actor=None, subject=now.slug, outcome="deny",
            detail=requests.facts(requests.fresh(now)), rule=", ".join(answer.reasons),
        )  # fmt: skip
    _go_on(now, incoming, verdict, answer)


def _go_on(request: SkillRequest, incoming: Incoming, verdict: Verdict, answer: Answer) -> None:
    """What was written here is stored at once, and what an admin asked to have at once."""
    if request.kind == SkillRequest.Kind.LOCAL and answer.decision is Decision.ACCEPTED:
        now = requests.fresh(request)
        requests.move(now, State.PREVIEWED, State.INSTALLING)
        _write(requests.fresh(now), incoming, verdict)
    elif request.kind == SkillRequest.Kind.LOCAL and answer.decision is Decision.HELD:
        requests.move(request, State.PREVIEWED, State.HELD)
    elif request.install_at_once and answer.decision is not Decision.REFUSED:
        by = request.requested_by
        assert by is not None
        requests.install(request, by=by)


def _answer(request: SkillRequest, verdict: Verdict, installed: Skill | None) -> Answer:
    """What the workspace's rules make of the verdict. A person who said yes to this skill once, or
    writes it, need not say yes to its being a text again."""
    known = request.kind == SkillRequest.Kind.LOCAL or bool(
        installed is not None and installed.accepted_by_name
    )
    return decide(verdict, rules.current(), first=not known, risk_accepted=request.risk_accepted)


def _is_acceptable(verdict: Verdict, answer: Answer) -> bool:
    is_denied = any(reason.startswith("capability:") for reason in answer.reasons)
    return verdict.is_acceptable and not is_denied


def require_verdict(verdict: Verdict, files: Mapping[str, File]) -> None:
    """No verdict, one about other bytes, or by other rules than today's, is none."""
    failure = next((f.excerpt for f in verdict.findings if f.rule == "limits.failure"), "")
    is_ours = verdict.digest == digest(files) and verdict.ruleset == version()
    if failure or not is_ours or not isinstance(verdict.outcome, Outcome):
        sentence = _("The scanner gave no verdict (%(why)s). Nothing was written or kept.")
        raise Ended("no_verdict", sentence % {"why": failure or "it judged something else"})


def _require_same(request: SkillRequest, incoming: Incoming) -> None:
    if digest(incoming.files) != request.digest or incoming.tree_sha != request.tree_sha:
        raise Ended(
            "changed",
            _("The skill has changed since you looked at it. Nothing was written. Look again."),
        )


# -- writing -------------------------------------------------------------------------------------


def _write(request: SkillRequest, incoming: Incoming, verdict: Verdict) -> None:
    install.turn()
    now = requests.fresh(request)
    if now.state != State.INSTALLING:
        return
    installed = Skill.objects.filter(slug=now.slug).first()
    _require_place(now, installed)
    answer = _answer(now, verdict, installed)
    if answer.decision is not Decision.ACCEPTED or verdict.ruleset != now.ruleset:
        _give_back(now, verdict, answer)
        return
    skill = installed or Skill(slug=now.slug)
    _describe(skill, now, incoming, verdict)
    install.put(skill, incoming.files)
    requests.move(now, State.INSTALLING, State.INSTALLED, skill=skill)
    audit.record(
        f"skill.{now.kind}", actor=now.requested_by, subject=now.slug,
        detail={**requests.facts(now), "previous": skill.previous_digest},
        rule=", ".join(answer.reasons),
    )  # fmt: skip


def _require_place(request: SkillRequest, installed: Skill | None) -> None:
    """Raises Ended when the name was taken meanwhile, or another version stands there by now."""
    if request.kind == SkillRequest.Kind.INSTALL and installed is not None:
        if installed.digest == request.digest and installed.source_id == request.source_id:
            raise Ended("up_to_date", _("It is installed already, exactly so."))
        raise Ended(
            "name_taken",
            _("A skill %(name)s was installed meanwhile. Nothing was overwritten.")
            % {"name": request.slug},
        )
    if request.installed_digest != (installed.digest if installed else ""):
        raise Ended(
            "overtaken",
            _("Another version of %(name)s stands here by now. Nothing was overwritten.")
            % {"name": request.slug},
        )


def _give_back(request: SkillRequest, verdict: Verdict, answer: Answer) -> None:
    """The rules have changed between look and write: it waits, or is refused, anew."""
    state = State.REFUSED if answer.decision is Decision.REFUSED else State.HELD
    requests.move(
        request, State.INSTALLING, state, decision=answer.decision.value,
        reasons=list(answer.reasons), verdict=verdict.outcome.value, ruleset=verdict.ruleset,
        risk_accepted=False, decided_by=None, decided_at=None,
        is_acceptable=_is_acceptable(verdict, answer),
        error=_("The rules have changed since this skill was looked at. Look at it again."),
        error_code="rules_changed",
    )  # fmt: skip


def _describe(skill: Skill, request: SkillRequest, incoming: Incoming, verdict: Verdict) -> None:
    """The row says what is about to be written."""
    description, _body = previews.front(incoming.files, incoming.skill_file)
    skill.description = previews.spelled(description)[:1024]
    skill.previous_digest = skill.digest
    skill.digest, skill.computed_hash = verdict.digest, computed_hash(incoming.files)
    skill.commit, skill.tree_sha = incoming.commit, incoming.tree_sha
    skill.path, skill.skill_file = request.path, incoming.skill_file
    skill.ref, skill.installed_at = request.ref, timezone.now()
    skill.available_commit, skill.available_at, skill.gone_from_source = "", None, False
    record_verdict(skill, verdict, Skill.Decision.ACCEPTED)
    source = request.source
    if source is None:
        skill.origin = Skill.Origin.LOCAL
    else:
        skill.origin, skill.source = Skill.Origin.SOURCE, source
        skill.source_name, skill.source_address = source.name, source.address
        skill.source_type = "github" if source.kind == SkillSource.Kind.GITHUB else "git"
    _remember_yes(skill, request, verdict)


def record_verdict(skill: Skill, verdict: Verdict, decision: str) -> None:
    """The row says what the gate said just now."""
    skill.verdict, skill.decision = verdict.outcome.value, decision
    skill.ruleset, skill.scanned_at = verdict.ruleset, timezone.now()
    skill.findings = [finding.as_json() for finding in verdict.findings]
    skill.capabilities = list(verdict.manifest.capabilities)


def _remember_yes(skill: Skill, request: SkillRequest, verdict: Verdict) -> None:
    """Who said yes, and to which findings; an earlier yes holds until somebody says another."""
    author = request.requested_by if request.kind == SkillRequest.Kind.LOCAL else None
    who = request.decided_by or author
    if who is None:
        return
    skill.accepted_by, skill.accepted_by_name = who, who.handle
    skill.accepted_rules = sorted({f.rule for f in verdict.findings if f.severity != "info"})


# -- claims, progress, ends ----------------------------------------------------------------------


def _claim(workspace_id: UUID, request_id: UUID, before: str, now: str) -> SkillRequest | None:
    """The row, ours to work on; None when another worker is at it, or it is past that."""
    with bind(workspace_id):
        row = SkillRequest.objects.select_for_update().filter(pk=request_id).first()
        if row is None:
            return None
        waiting = Q(state=before) if before != now else Q(state=now, percent=None)
        stuck = Q(state__in=_states_of(now)) & is_stuck()
        mine = SkillRequest.objects.filter(pk=request_id).filter(waiting | stuck)
        if row.attempts >= ATTEMPTS:
            mine.update(
                state=State.FAILED, error_code="interrupted", ended_at=timezone.now(), sealed=b"",
                error=_("The server was interrupted %(n)s times while it worked on this skill.")
                % {"n": ATTEMPTS},
            )  # fmt: skip
            requests.announce(workspace_id, request_id)
            return None
        if not mine.update(
            state=now, beat_at=timezone.now(), percent=0, attempts=F("attempts") + 1
        ):
            return None
        requests.announce(workspace_id, request_id)
        found: SkillRequest = SkillRequest.objects.select_related(
            "source__credential", "skill", "requested_by", "decided_by"
        ).get(pk=request_id)
    give_back()
    return found


def _states_of(now: str) -> tuple[str, ...]:
    return (State.FETCHING, State.SCANNING) if now == State.FETCHING else (now,)


def _step(request: SkillRequest, state: str) -> None:
    with bind(request.workspace_id):
        mine = SkillRequest.objects.filter(pk=request.pk, state__in=SkillRequest.WORKING)
        if not mine.update(state=state, beat_at=timezone.now()):
            raise Ended("stopped", _("The request was stopped."))
        requests.announce(request.workspace_id, request.pk)
    give_back()


@contextmanager
def _settling(request: SkillRequest) -> Iterator[None]:
    """Within: whatever goes wrong ends in the row, with nothing written."""
    try:
        yield
    except Ended as end:
        _settle(request, end)
    except git.GitError as error:
        log.warning("%s of %s: %s", request.pk, request.source_name, error.code)
        _settle(request, Ended(error.code, error.sentence, is_passing=isinstance(error, PASSING)))
    except fetching.NotOffered as error:
        _settle(request, Ended("not_offered", error.sentence))
    except CannotUnseal as error:
        _settle(request, Ended("sealed", str(error)))
    except requests.CannotRequest as error:
        _settle(request, Ended("changed", str(error)))
    except LockUnreadable as error:
        _settle(request, Ended("lock", unreadable(error), is_passing=True))
    except OSError as error:
        log.warning("%s cannot be written: %s", request.pk, error.strerror)
        _settle(request, Ended("disk", disk_sentence(error), is_passing=True))
    except MemoryError:
        _settle(request, Ended("too_large", _("The skill is too large for this server's memory.")))
    except Exception:
        _settle(
            request, Ended("error", _("Something went wrong on the server. Nothing was written."))
        )
        raise
    finally:
        give_back()


def disk_sentence(error: OSError) -> str:
    return _("The skill could not be written: %(why)s. Nothing was changed; try again.") % {
        "why": error.strerror or type(error).__name__
    }


def _settle(request: SkillRequest, end: Ended) -> None:
    with bind(request.workspace_id):
        now = requests.fresh(request)
        if not now.is_working:
            return
        said = {"error": end.sentence, "error_code": end.code, "percent": None}
        if end.is_passing and now.state == State.INSTALLING:
            back = State.HELD if now.risk_accepted else State.PREVIEWED
            requests.move(
                now, now.state, back, risk_accepted=False, decided_by=None, decided_at=None,
                attempts=0, **said,
            )  # fmt: skip
            return
        state = State.CANCELLED if end.code == "up_to_date" else State.FAILED
        requests.move(now, now.state, state, **said)


class _Beat:
    """Says that the worker lives, and hears that the request was stopped."""

    def __init__(self, request: SkillRequest) -> None:
        self._request, self._told = request, time.monotonic()

    def tick(self) -> None:
        if time.monotonic() - self._told < STEP_SECONDS:
            return
        self._told = time.monotonic()
        row = self._request
        with bind(row.workspace_id):
            mine = SkillRequest.objects.filter(pk=row.pk, state__in=SkillRequest.WORKING)
            if not mine.update(beat_at=timezone.now()):
                raise git.TimedOut(_("The request was stopped."))
        give_back()


def give_back() -> None:
    """The connection returns to the pool, unless a transaction of the caller's is open."""
    if not connection.in_atomic_block:
        connection.close()
