"""Builds `skills/scanning/rules/concepts.json`: words that stand for each other, in groups.

    python -m tests.gate.concepts WORDS.txt VECTORS.npy

The groups are 1,000 clusters of public-domain word vectors (GloVe 6B, 50 dimensions, PDDL), of the
20,000 most frequent words. WORDS has one word a line, in the order of the rows of VECTORS. Needs
numpy, which nothing else here does.
"""

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skills.scanning.ruleset import RULES

GROUPS = 1_000
WORDS = 20_000
ROUNDS = 30


def cluster(numpy: Any, rows: Any) -> Any:
    """The number of each row's group: k-means by cosine, from a fixed start."""
    chance = numpy.random.default_rng(0)
    rows = rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
    middles = rows[chance.choice(len(rows), GROUPS, replace=False)]
    for _ in range(ROUNDS):
        nearest = (rows @ middles.T).argmax(axis=1)
        for group in range(GROUPS):
            members = rows[nearest == group]
            if len(members):
                middle = members.sum(axis=0)
                middles[group] = middle / numpy.linalg.norm(middle)
    return nearest


def main(arguments: Sequence[str]) -> None:
    numpy = importlib.import_module("numpy")
    words = Path(arguments[0]).read_text().split("\n")
    vectors = numpy.load(arguments[1], mmap_mode="r")
    chosen = [at for at, word in enumerate(words) if word.isascii() and word.isalpha()][:WORDS]
    nearest = cluster(numpy, numpy.array(vectors[chosen], dtype="float32"))
    groups: list[list[str]] = [[] for _ in range(GROUPS)]
    for at, group in zip(chosen, nearest, strict=True):
        groups[group].append(words[at])
    text = json.dumps([" ".join(group) for group in groups if group], indent=0)
    (RULES / "concepts.json").write_text(f"{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
