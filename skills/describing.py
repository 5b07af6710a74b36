"""What a skill's row says of the bytes that are about to be written, and who let them in."""

from collections.abc import Mapping

from django.utils import timezone

from skills.scanning import File, Verdict

from . import previews
from .lockfile import computed_hash
from .models import Skill, SkillRequest, SkillSource


def by_request(
    skill: Skill,
    request: SkillRequest,
    files: Mapping[str, File],
    verdict: Verdict,
    *,
    commit: str,
    tree_sha: str,
    skill_file: str,
) -> None:
    """The row says what the request brought and the verdict accepted."""
    description, _body = previews.front(files, skill_file)
    skill.description = previews.spelled(description)[:1024]
    skill.previous_digest = skill.digest
    skill.digest, skill.computed_hash = verdict.digest, computed_hash(files)
    skill.commit, skill.tree_sha = commit, tree_sha
    skill.path, skill.skill_file = request.path, skill_file
    skill.ref, skill.installed_at = request.ref, timezone.now()
    skill.available_commit, skill.available_at, skill.gone_from_source = "", None, False
    by_verdict(skill, verdict, Skill.Decision.ACCEPTED)
    source = request.source
    if source is None:
        skill.origin = Skill.Origin.LOCAL
    else:
        skill.origin, skill.source = Skill.Origin.SOURCE, source
        skill.source_name, skill.source_address = source.name, source.address
        skill.source_type = "github" if source.kind == SkillSource.Kind.GITHUB else "git"
    _remember_yes(skill, request, verdict)


def by_verdict(skill: Skill, verdict: Verdict, decision: str) -> None:
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
