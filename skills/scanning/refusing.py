"""The verdicts that need no scan: nothing of the scanner's own engines is loaded for them."""

from collections.abc import Mapping

from . import policy, structure
from .digest import digest
from .limits import LIMITS, Limits
from .report import Report
from .ruleset import version
from .values import File, Manifest, Outcome, Verdict


def refusal(files: Mapping[str, File], reason: str, *, seconds: float = 0.0) -> Verdict:
    """The verdict when no scan came to its end: quarantine, and nobody can accept it."""
    report = Report(LIMITS)
    report.add("limits.failure", "", excerpt=reason)
    return _quarantine(files, report, seconds)


def over_limits(files: Mapping[str, File], limits: Limits) -> Verdict | None:
    """The verdict over more than is ever read, as `scan` would give it; None for what is not."""
    report = Report(limits)
    return _quarantine(files, report) if not structure.fits(files, report, limits) else None


def _quarantine(files: Mapping[str, File], report: Report, seconds: float = 0.0) -> Verdict:
    return Verdict(
        Outcome.QUARANTINE, policy.by_findings(Outcome.QUARANTINE), digest(files), version(),
        round(seconds, 4), report.findings(), Manifest(),
    )  # fmt: skip
