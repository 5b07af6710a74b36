"""What the scanner takes and gives: plain frozen values that cross every seam of the gate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

LINK = 0o120000
SUBMODULE = 0o160000


class Severity(StrEnum):
    """How much a finding weighs: `info` is told, `warn` holds, `quarantine` refuses."""

    INFO = "info"
    WARN = "warn"
    QUARANTINE = "quarantine"


class Outcome(StrEnum):
    """The verdict over a whole skill. Nothing else exists: an unknown word is a refusal."""

    PASS = "pass"
    WARN = "warn"
    QUARANTINE = "quarantine"


class Decision(StrEnum):
    ACCEPTED = "accepted"
    HELD = "held"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class File:
    """One file as a fetch brings it: the git mode and the bytes (a link's bytes are its target)."""

    mode: int
    data: bytes

    @property
    def is_link(self) -> bool:
        return self.mode & 0o170000 == LINK

    @property
    def is_submodule(self) -> bool:
        return self.mode & 0o170000 == SUBMODULE

    @property
    def is_executable(self) -> bool:
        return not self.is_link and bool(self.mode & 0o111)


@dataclass(frozen=True, slots=True)
class Source:
    """What is known about where the files come from; never a reason to trust them.

    `folder` is the directory's name in its repository, "" at a repository's root or when unknown.
    """

    folder: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a person should know, with the place and the reason.

    `line` counts from 1; 0 is "the file as a whole". `acceptable` is False for faults that nobody
    may wave through. `excerpt` shows invisible characters as `‹U+200B›`.
    """

    rule: str
    family: str
    severity: Severity
    file: str
    line: int
    excerpt: str
    why: str
    benign: str
    acceptable: bool = True

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "class": self.family,
            "severity": self.severity.value,
            "file": self.file,
            "line": self.line,
            "excerpt": self.excerpt,
            "why": self.why,
            "benign": self.benign,
            "acceptable": self.acceptable,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Finding":
        """The finding that `as_json` wrote; raises KeyError, TypeError or ValueError otherwise."""
        return cls(
            rule=_text(data["rule"]),
            family=_text(data["class"]),
            severity=Severity(data["severity"]),
            file=_text(data["file"]),
            line=int(data["line"]),
            excerpt=_text(data["excerpt"]),
            why=_text(data["why"]),
            benign=_text(data["benign"]),
            acceptable=data["acceptable"] is True,
        )


CAPABILITIES = ("shell", "writes", "deletes", "network", "secrets", "installs")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a skill's files would do if followed: capability → places ("file:line") that show it."""

    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def has(self, capability: str) -> bool:
        return bool(self.places.get(capability))

    @property
    def capabilities(self) -> tuple[str, ...]:
        return tuple(name for name in CAPABILITIES if self.has(name))

    def as_json(self) -> dict[str, list[str]]:
        return {name: list(self.places.get(name, ())) for name in CAPABILITIES}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Manifest":
        unknown = set(data) - set(CAPABILITIES)
        if unknown:
            raise ValueError(f"unknown capability {sorted(unknown)}")
        return cls({name: tuple(map(_text, places)) for name, places in data.items()})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says about exactly the bytes with this digest under exactly this rule set.

    `decision` is the answer for the bytes alone; an install adds the workspace's own rules with
    `policy.decide`. `bears_instructions` says that the text tells an agent what to do.
    """

    outcome: Outcome
    decision: Decision
    digest: str
    ruleset: str
    seconds: float
    findings: tuple[Finding, ...]
    manifest: Manifest
    bears_instructions: bool = True

    @property
    def is_acceptable(self) -> bool:
        """Whether an admin may accept the risk; structural faults can never be accepted."""
        return all(finding.acceptable for finding in self.findings)

    def timed(self, seconds: float) -> "Verdict":
        return replace(self, seconds=round(seconds, 4))

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.outcome.value,
            "decision": self.decision.value,
            "digest": self.digest,
            "ruleset": self.ruleset,
            "seconds": self.seconds,
            "findings": [finding.as_json() for finding in self.findings],
            "manifest": self.manifest.as_json(),
            "bears_instructions": self.bears_instructions,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Verdict":
        """The verdict that `as_json` wrote; raises KeyError, TypeError or ValueError otherwise."""
        return cls(
            outcome=Outcome(data["verdict"]),
            decision=Decision(data["decision"]),
            digest=_text(data["digest"]),
            ruleset=_text(data["ruleset"]),
            seconds=float(data["seconds"]),
            findings=tuple(Finding.from_json(one) for one in _list(data["findings"])),
            manifest=Manifest.from_json(data["manifest"]),
            bears_instructions=data["bears_instructions"] is True,
        )


def worst(findings: Iterable[Finding]) -> Outcome:
    """The verdict that a set of findings makes."""
    seen = {finding.severity for finding in findings}
    if Severity.QUARANTINE in seen:
        return Outcome.QUARANTINE
    return Outcome.WARN if Severity.WARN in seen else Outcome.PASS


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, not {type(value).__name__}")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list expected, not {type(value).__name__}")
    return value
