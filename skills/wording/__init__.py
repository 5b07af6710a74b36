"""What people read of a finding, in their language: its name, why it matters, a harmless reason.

Rules are data, and so are their words: `en.yaml` names each rule, `pt.yaml` translates all of it.
A rule without words is shown with its own id and its English sentences, never left out.
"""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from django.utils.translation import get_language

from skills.scanning import Finding

HERE = Path(__file__).parent
NOTHING_HARMLESS = "None that we know of."
_NOTHING = {"pt": "Nenhuma que conheçamos."}


def title(rule: str) -> str:
    """What a rule is called."""
    translated = _translated(rule)
    if translated:
        return translated[0]
    named: str = _read("en").get(rule, "")
    return named or rule.rpartition(".")[2].replace("-", " ").capitalize()


def why(finding: Finding) -> str:
    translated = _translated(finding.rule)
    return translated[1] if translated else finding.why


def harmless(finding: Finding) -> str:
    """What a harmless reason would be."""
    translated = _translated(finding.rule)
    if not translated:
        return finding.benign
    return translated[2] if len(translated) > 2 else _NOTHING[_language()]


def _translated(rule: str) -> list[str]:
    language = _language()
    found: list[str] = _read(language).get(rule, []) if language in _NOTHING else []
    return found


def _language() -> str:
    return (get_language() or "en").partition("-")[0]


@cache
def _read(language: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / f"{language}.yaml").read_text())
    return found
