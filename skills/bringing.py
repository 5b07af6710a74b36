"""The jobs behind a request: fetch into memory, scan, decide; and write those very bytes.

The bytes of a skill live in one call of this module. What does not end in `install.put` lets them
go, and only a sealed preview of what a verdict was given on is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from outside.crashpoint import crashpoint
from outside.sentences import Sentence, phrase_many
from outside.sentences import phrase as _
from skills.scanning import Answer, Decision, File, Outcome, Verdict, decide, digest, version
from skills.scanning.text import decode
from workspaces import audit
from workspaces.tenancy import bind

from . import describing, fetching, install, judging, previews, requests, rules, sealing, trees
from .claiming import Ended, claim, held, settling, step, telling
from .models import Skill, SkillRequest, SkillSource
from .telling import in_words

State = SkillRequest.State


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
    request = claim(workspace_id, request_id, State.QUEUED, State.FETCHING)
    if request is None:
        return
    with settling(request):
        incoming = _bring(request)
        crashpoint("skill-fetched")
        step(request, State.SCANNING, _scanning(incoming))
        verdict = judging.judge(incoming.files, incoming.folder)
        crashpoint("skill-judged")
        require_verdict(verdict, incoming.files)
        preview = _preview(request, incoming, verdict)
        with bind(workspace_id):
            _keep_verdict(request, incoming, verdict, preview)


def write(workspace_id: UUID, request_id: UUID) -> None:
    """Fetches once more what was looked at, scans it, and writes those bytes if they are the same
    and the answer still is yes. Does nothing when somebody else is at it."""
    request = claim(workspace_id, request_id, State.INSTALLING, State.INSTALLING)
    if request is None:
        return
    with settling(request):
        incoming = _bring(request)
        crashpoint("skill-fetched")
        _require_same(request, incoming)
        step(request, State.INSTALLING, _scanning(incoming))
        verdict = judging.judge(incoming.files, incoming.folder)
        crashpoint("skill-judged")
        require_verdict(verdict, incoming.files)
        step(request, State.INSTALLING, _writing(incoming))
        with bind(workspace_id):
            _write(request, incoming, verdict)
        crashpoint("skill-committed")


def _scanning(incoming: Incoming) -> Sentence:
    n = len(incoming.files)
    said = phrase_many("Scanning %(n)d file, %(size)s", "Scanning %(n)d files, %(size)s", n)
    return said % _measures(incoming)


def _writing(incoming: Incoming) -> Sentence:
    n = len(incoming.files)
    said = phrase_many("Writing %(n)d file, %(size)s", "Writing %(n)d files, %(size)s", n)
    return said % _measures(incoming)


def _measures(incoming: Incoming) -> dict[str, Any]:
    size = sum(len(file.data) for file in incoming.files.values())
    return {"n": len(incoming.files), "size": in_words(size)}


# -- getting the bytes ---------------------------------------------------------------------------


def _bring(request: SkillRequest) -> Incoming:
    if request.kind == SkillRequest.Kind.LOCAL:
        return _written_here(request)
    source = request.source
    if source is None or source.state == SkillSource.State.REMOVING:
        raise Ended("no_source", _("The source of this skill was removed."))
    told = telling(request)
    told.stage(_("Looking for the repository"))
    there = fetching.tip(source)
    fetched = fetching.fetch(
        source, request.path, there.commit, address=there.address, telling=told
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


def _preview(request: SkillRequest, incoming: Incoming, verdict: Verdict) -> bytes:
    """What there is to look at, compared with what is installed, sealed."""
    before = install.read(install.directory(request.workspace_id, request.slug))
    return previews.close(
        previews.make(
            incoming.files, verdict, skill_file=incoming.skill_file, before=request.skill,
            before_files=before if request.skill else None,
        )
    )  # fmt: skip


def _keep_verdict(
    request: SkillRequest, incoming: Incoming, verdict: Verdict, preview: bytes
) -> None:
    """The verdict stands in the row, with a sealed preview of what it was given on."""
    now = held(request)
    installed = Skill.objects.filter(pk=now.skill_id).first() if now.skill_id else None
    if installed is not None and installed.digest == verdict.digest:
        raise Ended("up_to_date", _("%(name)s is up to date.") % {"name": installed.slug})
    answer = _answer(now, verdict, installed)
    state = State.REFUSED if answer.decision is Decision.REFUSED else State.PREVIEWED
    requests.move(
        now, State.SCANNING, state,
        commit=incoming.commit, tree_sha=incoming.tree_sha, digest=verdict.digest,
        ruleset=verdict.ruleset, verdict=verdict.outcome.value, decision=answer.decision.value,
        reasons=list(answer.reasons), capabilities=list(verdict.manifest.capabilities),
        is_acceptable=_is_acceptable(verdict, answer), sealed=preview, error="",
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
    now = held(request)
    installed = Skill.objects.filter(slug=now.slug).first()
    _require_place(now, installed)
    answer = _answer(now, verdict, installed)
    if answer.decision is not Decision.ACCEPTED or verdict.ruleset != now.ruleset:
        _give_back(now, verdict, answer)
        return
    skill = installed or Skill(slug=now.slug)
    describing.by_request(
        skill, now, incoming.files, verdict, commit=incoming.commit, tree_sha=incoming.tree_sha,
        skill_file=incoming.skill_file,
    )  # fmt: skip
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
