"""The gate: a verdict over the exact bytes of a skill. Plain Python, no Django, no network.

`child.Scanner` gives the verdict, by asking a process with limits; that alone loads `gate`, whose
parsers and patterns hold 90 MB. `refusal` is the verdict when no scan came to its end, `decide`
adds a workspace's own rules.
"""

from .digest import digest, git_mode
from .limits import LIMITS, Limits
from .policy import Answer, Rules, decide
from .refusing import refusal
from .ruleset import version
from .values import (
    CAPABILITIES,
    Decision,
    File,
    Finding,
    Manifest,
    Outcome,
    Severity,
    Source,
    Verdict,
)

__all__ = [
    "CAPABILITIES",
    "LIMITS",
    "Answer",
    "Decision",
    "File",
    "Finding",
    "Limits",
    "Manifest",
    "Outcome",
    "Rules",
    "Severity",
    "Source",
    "Verdict",
    "decide",
    "digest",
    "git_mode",
    "refusal",
    "version",
]
