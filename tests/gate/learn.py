"""Learns `skills/scanning/rules/weights.json`: which words make a sentence sound like an order
against the user.

    python -m tests.gate.learn FOLDER…

Orders and honest advice come from `cases/` (never from `cases/unseen.yaml`, which measures), plain
sentences from the skills below the folders. Two of three skills teach, the third sets the line.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, log, sqrt
from pathlib import Path

import yaml

from skills.scanning import markdown
from skills.scanning.orders import sentences
from skills.scanning.ruleset import RULES
from skills.scanning.text import Words
from skills.scanning.weighing import features

CASES = Path(__file__).parent / "cases"
EPOCHS = 12
HEAVIER = {True: 8.0, False: 1.0}
ADVICE_COUNTS = 6
SMALLEST = 0.04
CHANCE = 0.01
Sentence = frozenset[str]


def read_sentences(text: str) -> list[Sentence]:
    """The features of every sentence that a text says."""
    words = Words(text)
    spoken = markdown.spoken(text, words)
    return [
        frozenset(
            features(words.flat[one.start : one.end].decode("utf-8", "replace"), one.groups())
        )
        for one in sentences(words)
        if one.is_english() and (spoken is None or spoken(one.begin))
    ]


def read_cases() -> tuple[list[Sentence], list[Sentence]]:
    """(orders, advice) of our own."""
    grouped = yaml.safe_load((CASES / "learned" / "orders.yaml").read_text())
    orders = [one for group in grouped.values() for one in group]
    for name in ("orders.yaml", "beyond_rules.yaml"):
        orders += yaml.safe_load((CASES / name).read_text())
    advice = yaml.safe_load((CASES / "learned" / "advice.yaml").read_text())
    advice += yaml.safe_load((CASES / "advice.yaml").read_text())
    rows = yaml.safe_load((CASES / "benign.yaml").read_text())
    advice += [what["body"] for row in rows for what in row["files"].values() if "body" in what]
    return _all(orders), _all(advice)


def _all(texts: Iterable[str]) -> list[Sentence]:
    return [one for text in texts for one in read_sentences(text)]


def read_skills(folders: Iterable[str]) -> list[list[Sentence]]:
    """The sentences of each skill's body below the folders."""
    found = sorted(path for folder in folders for path in Path(folder).rglob("SKILL.md"))
    return [read_sentences(_body(path.read_text("utf-8", "replace"))) for path in found]


def _body(text: str) -> str:
    _, opened, rest = text.partition("---\n")
    return rest.partition("\n---")[2] if opened and text.startswith("---") else text


def learn(orders: Sequence[Sentence], others: Sequence[Sentence]) -> tuple[dict[str, float], float]:
    """Weights and bias by logistic regression, AdaGrad; a feature of no order says nothing."""
    rows = [(one, True) for one in orders] + [(one, False) for one in others]
    counts = Counter(name for row, _ in rows for name in row)
    told = {name for one in orders for name in one if counts[name] > 1}
    rows = [(row & told, is_order) for row, is_order in rows]
    weights: dict[str, float] = {}
    slopes: dict[str, float] = {}
    chance = random.Random(1)
    for _ in range(EPOCHS):
        chance.shuffle(rows)
        for row, is_order in rows:
            total = weights.get("", 0.0) + sum(weights.get(name, 0.0) for name in row)
            error = (1 / (1 + exp(-max(-30.0, min(30.0, total)))) - is_order) * HEAVIER[is_order]
            if abs(error) < 1e-4:
                continue
            for name in ("", *row):
                slope = error + 0.002 * weights.get(name, 0.0)
                slopes[name] = slopes.get(name, 1e-8) + slope * slope
                weights[name] = weights.get(name, 0.0) - 0.25 * slope / sqrt(slopes[name])
    bias = weights.pop("")
    return {name: value for name, value in weights.items() if abs(value) > SMALLEST}, bias


def draw_line(
    weights: dict[str, float], bias: float, skills: Sequence[Sequence[Sentence]]
) -> list[float]:
    """`a + b·log(sentences)` above which a share of CHANCE of skills of each length would stand."""
    heights = sorted(
        (bias + sum(weights.get(name, 0.0) for name in row) for skill in skills for row in skill),
        reverse=True,
    )

    def needed(length: int) -> float:
        return heights[max(0, int(CHANCE / length * len(heights)))]

    short, long = needed(8), needed(120)
    slope = (long - short) / (log(120) - log(8))
    return [round(short - slope * log(8), 3), round(slope, 3)]


def main(folders: Sequence[str]) -> None:
    orders, advice = read_cases()
    skills = read_skills(folders)
    random.Random(2).shuffle(skills)
    taught, kept = skills[: len(skills) * 2 // 3], skills[len(skills) * 2 // 3 :]
    plain = [one for skill in taught for one in skill]
    weights, bias = learn(orders, plain + advice * ADVICE_COUNTS)
    data = {
        "bias": round(bias, 3),
        "line": draw_line(weights, bias, kept),
        "weights": {name: round(weights[name] * 100) for name in sorted(weights)},
    }
    text = json.dumps(data, ensure_ascii=False, indent=0)
    (RULES / "weights.json").write_text(f"{text}\n")
    print(f"{len(orders)} orders, {len(advice)} advice, {len(skills)} skills; line {data['line']}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
