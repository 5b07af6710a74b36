"""The gate: a verdict over the exact bytes of a skill. Plain Python, no Django, no network.

`scan` gives the verdict, `refusal` the one for a scan that failed, `decide` adds a workspace's own
rules. `child.Scanner` runs scans in a process with limits, which is what callers use.
"""

from .digest import digest, git_mode
from .gate import refusal, scan
from .limits import LIMITS, Limits
from .policy import Answer, Rules, decide
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
    "scan",
    "version",
]
