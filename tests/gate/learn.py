"""Learns `skills/scanning/rules/weights.json`: which words make a sentence sound like an order
against the user.

    python -m tests.gate.learn FOLDER…

Orders and honest advice come from `cases/` (never from `cases/unseen.yaml`, which measures), plain
sentences from the skills below the folders. Two of three skills teach, the third sets the line.
Needs scikit-learn, which nothing else here does.
"""

import importlib
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from pathlib import Path

import yaml

from skills.scanning import markdown
from skills.scanning.orders import sentences
from skills.scanning.ruleset import RULES
from skills.scanning.text import Words
from skills.scanning.weighing import features

CASES = Path(__file__).parent / "cases"
# By several hands each, so that what is learned is no single author's way of speaking.
ORDERS = ("orders", "direct", "roundabout", "second_hand")
ADVICE = ("advice", "upright", "second_hand_advice")
HEAVIER = 8.0
LOOSENESS = 0.1
ADVICE_COUNTS = 6
SMALLEST = 0.04
CHANCE = 0.015
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
    orders = []
    for name in ORDERS:
        grouped = yaml.safe_load((CASES / "learned" / f"{name}.yaml").read_text())
        orders += [one for group in grouped.values() for one in group]
    for name in ("orders.yaml", "beyond_rules.yaml"):
        orders += yaml.safe_load((CASES / name).read_text())
    advice = []
    for name in ADVICE:
        advice += yaml.safe_load((CASES / "learned" / f"{name}.yaml").read_text())
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
    """Weights and bias by logistic regression, well regularised; a feature of no order says
    nothing, nor does one that came once."""
    linear = importlib.import_module("sklearn.linear_model")
    sparse = importlib.import_module("scipy.sparse")
    rows = [*orders, *others]
    counts = Counter(name for row in rows for name in row)
    told = sorted({name for one in orders for name in one if counts[name] > 1})
    number = {name: at for at, name in enumerate(told)}
    cells = [(at, number[name]) for at, row in enumerate(rows) for name in row if name in number]
    ones, places = [1.0] * len(cells), tuple(zip(*cells, strict=True))
    table = sparse.csr_matrix((ones, places), shape=(len(rows), len(told)))
    is_order = [1] * len(orders) + [0] * len(others)
    weight = [HEAVIER] * len(orders) + [1.0] * len(others)
    model = linear.LogisticRegression(C=LOOSENESS, solver="liblinear", max_iter=300)
    model.fit(table, is_order, sample_weight=weight)
    return (
        {
            name: value
            for name, value in zip(told, model.coef_[0], strict=True)
            if abs(value) > SMALLEST
        },
        float(model.intercept_[0]),
    )


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
    return [round(float(short - slope * log(8)), 3), round(float(slope), 3)]


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
