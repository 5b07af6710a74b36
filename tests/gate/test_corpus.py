"""The figures of the gate on the corpus: every attack stopped, every honest skill let through."""

import json
import os
from pathlib import Path

import pytest
import yaml

from skills.scanning import Decision, File, Severity, Source, Verdict, decide
from skills.scanning.gate import scan
from tests.gate.cases import HERE, lines, load, sample, skill

CORPUS = Path(os.environ.get("CC_CORPUS") or Path(__file__).parents[2] / "../shared/corpus")
SAMPLES = CORPUS / "skillgate/samples.jsonl"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="this machine has no corpus")

ROWS = [json.loads(line) for line in SAMPLES.read_text().splitlines()] if SAMPLES.exists() else []
SKILLS = sorted(file.parent for file in (CORPUS / "skills").rglob("SKILL.md"))


def folder(path: Path) -> dict[str, File]:
    return {
        file.relative_to(path).as_posix(): File(
            0o100755 if file.stat().st_mode & 0o111 else 0o100644, file.read_bytes()
        )
        for file in path.rglob("*")
        if file.is_file()
    }


def told(verdict: Verdict) -> str:
    return "; ".join(f"{one.rule} {one.file}:{one.line} {one.excerpt}" for one in verdict.findings)


@needs_corpus
@pytest.mark.req("CC-32")
@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_each_sample_gets_its_decision(row: dict[str, object]) -> None:
    verdict = scan(sample(row), Source(str(row["id"])))
    accepted = verdict.decision is Decision.ACCEPTED
    assert accepted == (row["expect"] == "accepted"), told(verdict)


@needs_corpus
@pytest.mark.parametrize("path", SKILLS, ids=[str(path.relative_to(CORPUS)) for path in SKILLS])
def test_no_real_skill_is_refused_and_each_hold_is_explained(path: Path) -> None:
    verdict = scan(folder(path), Source(path.name))
    assert verdict.decision is not Decision.REFUSED, told(verdict)
    if verdict.decision is Decision.HELD:
        reasons = [one for one in verdict.findings if one.severity is Severity.WARN]
        assert reasons
        assert all(one.why and one.benign and one.file for one in reasons)


@needs_corpus
def test_the_corpus_is_whole() -> None:
    assert len(ROWS) == 52
    assert len(SKILLS) == 35


@pytest.mark.req("CC-32")
@pytest.mark.parametrize(
    ("name", "files"), load("malicious.yaml"), ids=lambda value: str(value)[:40]
)
def test_each_attack_of_our_own_is_stopped(name: str, files: dict[str, File]) -> None:
    assert scan(files, Source(name)).decision is not Decision.ACCEPTED


@pytest.mark.parametrize(("name", "files"), load("benign.yaml"), ids=lambda value: str(value)[:40])
def test_each_honest_skill_of_our_own_is_accepted(name: str, files: dict[str, File]) -> None:
    verdict = scan(files, Source(name))
    assert verdict.decision is Decision.ACCEPTED, told(verdict)


@pytest.mark.req("CC-32")
@pytest.mark.parametrize("order", lines("orders.yaml"), ids=lambda value: value[:50])
def test_each_order_in_an_honest_skill_is_stopped(order: str) -> None:
    assert scan(skill(f"{order}\n"), Source("tables")).decision is not Decision.ACCEPTED


@pytest.mark.parametrize("advice", lines("advice.yaml"), ids=lambda value: value[:50])
def test_each_honest_sentence_is_let_through(advice: str) -> None:
    verdict = scan(skill(f"{advice}\n"), Source("tables"))
    assert verdict.decision is Decision.ACCEPTED, told(verdict)


@pytest.mark.parametrize(
    ("name", "files"), load("companions.yaml"), ids=lambda value: str(value)[:40]
)
def test_each_file_beside_an_honest_skill_is_stopped(name: str, files: dict[str, File]) -> None:
    verdict = scan({**skill("Use the files.\n"), **files}, Source("tables"))
    assert verdict.decision is not Decision.ACCEPTED


@pytest.mark.req("CC-32")
def test_most_orders_that_were_taught_are_stopped() -> None:
    groups = yaml.safe_load((HERE / "learned" / "orders.yaml").read_text())
    for name, orders in groups.items():  # a part of each, since a scan takes its time
        assert share_held(orders[::3]) > 0.55, name
    advice = yaml.safe_load((HERE / "learned" / "advice.yaml").read_text())
    assert share_held(advice[::3]) <= 0.1


def test_unseen_words() -> None:
    """Floors for what nobody taught: they may only rise. Everything else waits for a person."""
    unseen = yaml.safe_load((HERE / "unseen.yaml").read_text())
    orders = [one for group in unseen["orders"].values() for one in group]
    assert share_held(orders) > 0.35
    assert share_held(unseen["advice"]) <= 0.1


def share_held(sentences: list[str]) -> float:
    held = [one for one in sentences if decision(one) is not Decision.ACCEPTED]
    return len(held) / len(sentences)


def decision(sentence: str) -> Decision:
    return scan(skill(f"{sentence}\n"), Source("tables")).decision


@pytest.mark.req("CC-32")
@pytest.mark.parametrize("order", lines("beyond_rules.yaml"), ids=lambda value: value[:50])
def test_what_no_rule_sees_is_held_on_its_first_install(order: str) -> None:
    verdict = scan(skill(f"{order}\n"), Source("tables"))
    assert decide(verdict).decision is not Decision.ACCEPTED
