"""The place that a piece of code stands in, and how much it weighs there."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..examination import Examination
from ..ruleset import CATALOGUE
from ..values import Severity

DEEPEST = 6
_SHOWN_ONLY = {"code.dynamic-run", "code.native", "code.secret-read", "agent.writes-memory",
               "container.pickle"}  # fmt: skip
_TRADE = re.compile(
    r"(?i)\b(secur|attack|inject|phish|pentest|red.?team|threat|vulnerab|malware|forensic|detect"
    r"|siem|harden|exploit|reverse shell)"
)
_EXAMPLES = {"code.destructive", "code.other-language", "code.miner", "code.test-virus"}


@dataclass(frozen=True, slots=True)
class Where:
    """`line` is the text's first line in the file; `shown` means text that people read (a fence, a
    sentence), not a file that runs; `warned` that the text around warns of it, so that nothing
    weighs more than a warning. `depth` counts code inside code, which `reader` takes on: a
    language's name, the text and its place."""

    exam: Examination
    file: str
    reader: "Callable[[str, str, Where], None]"
    line: int = 1
    shown: bool = False
    warned: bool = False
    depth: int = 0

    def tell(self, rule: str, line: int, excerpt: str, *, severity: Severity | None = None) -> None:
        """Reports a finding of the code, lighter where it is only shown."""
        weight = severity or CATALOGUE[rule].severity
        if self.shown and rule in _SHOWN_ONLY or self.warned and rule == "code.lowers-guard":
            severity = Severity.INFO
        elif weight is Severity.QUARANTINE and (
            self.warned or self.shown and (rule in _EXAMPLES or self._is_guide)
        ):
            severity = Severity.WARN
        self.exam.report.add(rule, self.file, line=line, excerpt=excerpt, severity=severity)

    @property
    def _is_guide(self) -> bool:
        """Whether the skill says that attacks are its trade; its pages show some."""
        return bool(_TRADE.search(self.exam.about.partition("\n")[2]))

    def can(self, capability: str, line: int) -> None:
        self.exam.report.can(capability, self.file, line)

    def did(self, kind: str, line: int, detail: str = "") -> None:
        self.exam.did(kind, self.file, line, detail, shown=self.shown)

    def inside(self, line: int) -> "Where":
        """The place of code that stands in a string of this code."""
        return replace(self, line=line, depth=self.depth + 1)

    def read_inside(self, language: str, text: str, line: int) -> None:
        """Reads code that stands in a string of this code, up to a depth."""
        if not self.is_too_deep:
            self.reader(language, text, self.inside(line))

    @property
    def is_too_deep(self) -> bool:
        return self.depth >= DEEPEST
