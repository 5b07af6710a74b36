"""Configuration of tools: commands, rights and package sources that no program shows."""

import re
from dataclasses import dataclass

from .code import names
from .code.consequences import is_strange
from .examination import Artefact, Examination
from .ruleset import load
from .values import Severity

LONGEST = 512 << 10
_HOME_PATH = re.compile(r"(?:~|\$HOME|\$\{HOME\}|/home/\w+|/root|/Users/\w+)/\.[^\s\"',;\]]{2,80}")


@dataclass(frozen=True, slots=True)
class _Row:
    rule: str
    files: re.Pattern[str]
    pattern: re.Pattern[str]
    strange: bool
    words: tuple[str, ...]


_ROWS = tuple(
    _Row(
        row["rule"],
        re.compile(row["files"]),
        re.compile(row["pattern"]),
        row.get("strange", False),
        tuple(row["words"]),
    )
    for row in load("settings.yaml")["rows"]
)


def check(artefact: Artefact, text: str, exam: Examination) -> None:
    """Reports what a configuration file sets in motion."""
    if len(text) > LONGEST:
        return
    if artefact.suffix in {"json", "toml", "yaml", "yml", "ini", "cfg"}:
        for found in _HOME_PATH.finditer(text) if "/." in text else ():
            if names.SECRETS.search(f" {found[0]}"):
                line = text.count("\n", 0, found.start()) + 1
                exam.did("secret-file", artefact.path, line, found[0])
    fitting = [row for row in _ROWS if row.files.search(artefact.path)]
    lowered = text.lower() if fitting else ""
    for row in fitting:
        if any(word in lowered for word in row.words):
            for found in row.pattern.finditer(text):
                if not row.strange or is_strange(_address(found["address"])):
                    line = text.count("\n", 0, found.start()) + 1
                    exam.report.add(
                        row.rule, artefact.path, line=line, excerpt=found[0].strip(),
                        severity=Severity.WARN,
                    )  # fmt: skip
                    break


def _address(word: str) -> str:
    return word if "://" in word else f"https://{word}"
