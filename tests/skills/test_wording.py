"""Every rule has words in every language that the pages speak."""

import pytest
from django.utils import translation

from skills import wording
from skills.scanning import Finding, Severity
from skills.scanning.ruleset import CATALOGUE

FINDINGS = [
    Finding(rule.id, rule.family, rule.severity, "SKILL.md", 1, "x", rule.why, rule.benign)
    for rule in CATALOGUE.values()
]


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda one: one.rule)
def test_a_rule_is_named_and_explained_in_both_languages(finding: Finding) -> None:
    english = wording.title(finding.rule)
    assert finding.rule in wording._read("en"), "name the rule in skills/wording/en.yaml"
    assert (wording.why(finding), wording.harmless(finding)) == (finding.why, finding.benign)
    with translation.override("pt-pt"):
        assert finding.rule in wording._read("pt"), "translate it in skills/wording/pt.yaml"
        words = (wording.title(finding.rule), wording.why(finding), wording.harmless(finding))
    assert all(words)
    assert words[1] != finding.why
    assert english
    has_none = finding.benign == wording.NOTHING_HARMLESS
    assert (words[2] == "Nenhuma que conheçamos.") == has_none


def test_a_rule_without_words_is_still_shown() -> None:
    unknown = Finding("code.brand-new", "code", Severity.WARN, "x", 1, "x", "Why.", "Benign.")
    with translation.override("pt-pt"):
        assert wording.title("code.brand-new") == "Brand new"
        assert (wording.why(unknown), wording.harmless(unknown)) == ("Why.", "Benign.")
