"""How the skills of a repository stand at one commit: accepted, held or refused, and why.

Everything here is read from rows of the bound workspace; a skill without a verdict is refused.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from outside.sentences import unpack
from skills import rules
from skills.scanning import Decision, Verdict, decide, version

from .models import Repository, SkillAcceptance, SkillScan, SkillVerdict
from .skill_scans import Found, found_in, published_digests, verdicts_of

UNSCANNED = "unscanned"


@dataclass(frozen=True, slots=True)
class Standing:
    """A skill of a repository. `reasons` are words of `skills.scanning.Answer`, or `unscanned`."""

    repository: str
    name: str
    path: str
    digest: str
    decision: Decision
    reasons: tuple[str, ...] = ()
    description: str = ""
    findings: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    is_acceptable: bool = False

    @property
    def is_accepted(self) -> bool:
        return self.decision is Decision.ACCEPTED

    @property
    def full_name(self) -> str:
        return f"{self.repository}:{self.name}"


@dataclass(frozen=True, slots=True)
class Carrying:
    """What a repository carries at a commit. `is_scanned` is False while nobody has looked."""

    repository: str
    commit: str
    is_scanned: bool
    skills: tuple[Standing, ...] = ()
    passed_over: tuple[Mapping[str, str], ...] = ()

    @property
    def accepted(self) -> tuple[Standing, ...]:
        return tuple(one for one in self.skills if one.is_accepted)

    @property
    def withheld(self) -> tuple[Standing, ...]:
        return tuple(one for one in self.skills if not one.is_accepted)

    def find(self, name: str) -> Standing | None:
        """The skill of this name, in any case."""
        key = name.lower()
        return next((one for one in self.skills if one.name.lower() == key), None)


def carrying(repository: Repository, commit: str) -> Carrying:
    """How the skills of the commit stand now, by the latest acceptances and rules."""
    row = SkillScan.objects.filter(repository=repository, commit=commit, ruleset=version()).first()
    if row is None:
        return Carrying(repository.name, commit, is_scanned=False)
    found = found_in(row)
    judge = _Judge(repository, found, is_published=row.is_published)
    return Carrying(
        repository.name,
        commit,
        is_scanned=True,
        skills=tuple(judge.standing(one) for one in found),
        passed_over=tuple(
            {"path": one["path"], "reason": unpack(one["reason"])} for one in row.passed_over
        ),
    )


class _Judge:
    """Puts verdicts, what is at the remote, and what admins accepted together."""

    def __init__(
        self, repository: Repository, found: Iterable[Found], *, is_published: bool
    ) -> None:
        self._repository, self._rules = repository.name, rules.current()
        self._verdicts = verdicts_of(found)
        digests = {one.digest for one in found}
        accepted = SkillAcceptance.objects.filter(repository=repository, digest__in=digests)
        self._accepted = set(accepted.values_list("digest", flat=True))
        # The remote's skills were put there by somebody with a right to it. What an agent wrote
        # here is new prose, as with an install: a person reads it first.
        self._known = digests if is_published else published_digests(repository)

    def standing(self, found: Found) -> Standing:
        row = self._verdicts.get((found.digest, found.name))
        verdict = _verdict(row)
        if row is None or verdict is None:
            return self._of(found, Decision.REFUSED, (UNSCANNED,))
        answer = decide(
            verdict,
            self._rules,
            first=found.digest not in self._known,
            risk_accepted=found.digest in self._accepted,
        )
        return self._of(found, answer.decision, answer.reasons, row=row, verdict=verdict)

    def _of(
        self,
        found: Found,
        decision: Decision,
        reasons: tuple[str, ...],
        *,
        row: SkillVerdict | None = None,
        verdict: Verdict | None = None,
    ) -> Standing:
        is_in = decision is Decision.ACCEPTED
        return Standing(
            repository=self._repository,
            name=found.name,
            path=found.path,
            digest=found.digest,
            decision=decision,
            reasons=reasons,
            description=row.description if row and is_in else "",
            findings=tuple(one.as_json() for one in verdict.findings) if verdict else (),
            is_acceptable=bool(verdict and verdict.is_acceptable),
        )


def _verdict(row: SkillVerdict | None) -> Verdict | None:
    """The verdict of a row; None, so no verdict, when the row does not hold one."""
    try:
        return Verdict.from_json(row.verdict) if row else None
    except (KeyError, TypeError, ValueError):
        return None
