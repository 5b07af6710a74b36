"""Collects findings: each rule speaks a few times a file, each place once."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace

from .limits import Limits
from .ruleset import CATALOGUE
from .text import unseen
from .values import CAPABILITIES, Finding, Manifest, Severity

_OF_WORDS = {"prose", "unicode", "encoding", "code", "secret"}
WEIGHT = {Severity.INFO: 0, Severity.WARN: 1, Severity.QUARANTINE: 2}
PLACES_SHOWN = 12


class Report:
    """What the stages of one scan have found so far."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._findings: dict[tuple[str, str, int], Finding] = {}
        self._count: Counter[tuple[str, str]] = Counter()
        self._places: dict[str, list[str]] = {name: [] for name in CAPABILITIES}

    def add(
        self,
        rule: str,
        file: str,
        *,
        line: int = 0,
        excerpt: str = "",
        severity: Severity | None = None,
    ) -> None:
        """Notes a finding; the heavier of two at one place stays."""
        known = CATALOGUE[rule]
        weight = severity or known.severity
        key = (rule, file, line)
        old = self._findings.get(key)
        if old is not None and WEIGHT[old.severity] >= WEIGHT[weight]:
            return
        if old is None and self._is_full(rule, file, weight):
            return
        self._count[rule, file] += 1
        self._findings[key] = Finding(
            rule=rule,
            family=known.family,
            severity=weight,
            file=visible(file, 300),
            line=line,
            excerpt=visible(excerpt),
            why=known.why,
            benign=known.benign,
            acceptable=known.acceptable or weight is not Severity.QUARANTINE,
        )

    def soften(
        self, file: str, is_warned: Callable[[int], bool], *,
        families: Collection[str] = _OF_WORDS,
    ) -> None:  # fmt: skip
        """Makes refusals of a text warnings where the text around warns of what it shows.

        Faults that nobody may accept stay, and so does everything that is not a matter of words.
        """
        for key, one in self._findings.items():
            inside = one.file == file or one.file.startswith((f"{file}#", f"{file}!"))
            words = (
                one.severity is Severity.QUARANTINE and one.acceptable and one.family in families
            )
            if inside and words and is_warned(_outer_line(one.file, one.line)):
                self._findings[key] = replace(one, severity=Severity.WARN)

    def holds(self, file: str, rules: Collection[str]) -> bool:
        """Whether one of these rules holds something in the text."""
        return any(
            one.file == file and one.severity is Severity.WARN and one.rule in rules
            for one in self._findings.values()
        )

    def doubt(self, file: str, rules: Collection[str], is_harmless: Callable[[int], bool]) -> None:
        """Tells what it holds of these rules in a text, without holding it, where the line is
        harmless after all."""
        for key, one in self._findings.items():
            mine = one.file == file and one.severity is Severity.WARN and one.rule in rules
            if mine and is_harmless(one.line):
                self._findings[key] = replace(one, severity=Severity.INFO)

    def has_said(self, family: str, file: str, line: int) -> bool:
        """Whether a warning of the family stands at the place already."""
        return any(
            one.family == family and one.line == line and one.file == file and WEIGHT[one.severity]
            for one in self._findings.values()
        )

    def can(self, capability: str, file: str, line: int = 0) -> None:
        """Notes that the skill would do this."""
        places = self._places[capability]
        place = f"{visible(file, 300)}:{line}" if line else visible(file, 300)
        if len(places) < PLACES_SHOWN and place not in places:
            places.append(place)

    def weight(self, families: Collection[str]) -> int:
        """How much of these families weighs so far; grows with findings that are not just told."""
        return sum(
            WEIGHT[one.severity] for one in self._findings.values() if one.family in families
        )

    def findings(self) -> tuple[Finding, ...]:
        """The heaviest first, then by file, line and rule."""
        return tuple(
            sorted(
                self._findings.values(),
                key=lambda one: (-WEIGHT[one.severity], one.file, one.line, one.rule),
            )
        )

    def manifest(self) -> Manifest:
        return Manifest({name: tuple(places) for name, places in self._places.items() if places})

    def _is_full(self, rule: str, file: str, weight: Severity) -> bool:
        """Whether one more would only repeat; a heavier one than any before is always news."""
        crowded = (
            self._count[rule, file] >= self._limits.findings_per_rule
            or len(self._findings) >= self._limits.findings
        )
        return crowded and any(
            WEIGHT[one.severity] >= WEIGHT[weight] for one in self._findings.values()
        )


def _outer_line(file: str, line: int) -> int:
    """The line in the file itself; what was decoded names it as `file#base64@12`."""
    _, decoded, place = file.partition("@")
    digits = re.match(r"\d+", place)
    return int(digits[0]) if decoded and digits else line


def visible(text: str, length: int = 160) -> str:
    """The text on one line, cut to a length, with everything unseen spelled as `‹U+200B›`."""
    cut = text[: length + 1]
    shown = "".join(_show(char) for char in cut[:length])
    return shown + "…" if len(cut) > length else shown


def _show(char: str) -> str:
    if char in "\n\t":
        return " "
    if char < " " or unseen(char) or unicodedata.category(char) in {"Cc", "Zl", "Zp"}:
        return f"‹U+{ord(char):04X}›"
    return char
