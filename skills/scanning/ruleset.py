"""The rules: data files beside this module, read once, with the version that verdicts are keyed on.

The version covers the rules and the code that applies them: a verdict of another version is old.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from .values import Severity

HERE = Path(__file__).parent
RULES = HERE / "rules"


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of fault: what it is called, how much it weighs, and what a person is told."""

    id: str
    family: str
    severity: Severity
    why: str
    benign: str
    acceptable: bool = True


class RulesUnreadable(Exception):
    """The rules are missing or damaged: nothing can be judged, so nothing passes."""


def load(name: str) -> Any:
    """The content of one rule file."""
    try:
        return yaml.load((RULES / name).read_bytes(), Loader=yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise RulesUnreadable(f"{name}: {error}") from error


@cache
def version() -> str:
    """`<date>+<12 hex>`: the date the rules carry and a hash over rules and scanning code."""
    total = sha256()
    files = sorted([*HERE.rglob("*.py"), *(file for file in RULES.iterdir() if file.is_file())])
    for file in files:
        name, data = file.relative_to(HERE).as_posix().encode(), file.read_bytes()
        total.update(len(name).to_bytes(8, "big") + name + len(data).to_bytes(8, "big") + data)
    return f"{_CATALOGUE['date']}+{total.hexdigest()[:12]}"


def _read_catalogue(data: Mapping[str, Any]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for family, members in data["families"].items():
        for name, said in members.items():
            unknown = set(said) - {"severity", "why", "benign", "acceptable"}
            if unknown:
                raise RulesUnreadable(f"catalogue.yaml: {family}.{name}: {sorted(unknown)}")
            rules[f"{family}.{name}"] = Rule(
                id=f"{family}.{name}",
                family=family,
                severity=Severity(said["severity"]),
                why=said["why"],
                benign=said.get("benign", "None that we know of."),
                acceptable=said.get("acceptable", True),
            )
    return rules


_CATALOGUE = load("catalogue.yaml")
CATALOGUE: Mapping[str, Rule] = _read_catalogue(_CATALOGUE)
UNICODE: Mapping[str, Any] = load("unicode.yaml")
CONFUSABLES: Mapping[int, str] = str.maketrans(UNICODE["confusables"])
COMMANDS: Mapping[str, Any] = load("commands.yaml")
PLACES: Mapping[str, Any] = load("places.yaml")
