"""Weighs a sentence by words that were learned: how much it sounds like an order against the user.

`rules/weights.json` holds what `tests/gate/learn.py` learned from our own cases and public skills,
`rules/concepts.json` which words stand for each other, so that a paraphrase weighs like its model.
A long text has more sentences that sound odd by chance, so more is asked of each of them. Only
English is weighed: of other languages we have too few honest sentences to learn from.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import log

from .orders import Sentence, sentences
from .prose import TRADE
from .report import Report
from .ruleset import RULES, RulesUnreadable
from .text import Words

STEM = 6
SHORTEST_TEXT = 8
LONGEST_TEXT = 100
_TOKEN = re.compile(r"[a-z0-9.]{0,30}\.[a-z]+|[a-z0-9]+|[\u0400-\u04ff]+|[^\x00-\x7f]")
_ADDRESS = re.compile(r"(?:https?|ftp|wss?)://\S+|(?<!\S)\S{1,80}@\S{1,80}")
_LETTER = re.compile(r"[a-z\u0400-\u04ff]")


def _load() -> tuple[dict[str, float], float, list[float]]:
    try:
        data = json.loads((RULES / "weights.json").read_text())
    except (OSError, ValueError) as error:
        raise RulesUnreadable(f"weights.json: {error}") from error
    return (
        {name: value / 100 for name, value in data["weights"].items()},
        data["bias"],
        data["line"],
    )


def _load_concepts() -> dict[str, int]:
    try:
        groups = json.loads((RULES / "concepts.json").read_text())
    except (OSError, ValueError) as error:
        raise RulesUnreadable(f"concepts.json: {error}") from error
    return {word: number for number, group in enumerate(groups) for word in group.split()}


WEIGHTS, BIAS, LINE = _load()
CONCEPTS = _load_concepts()


def check(
    text: str, words: Words, about: str, file: str, report: Report, *,
    spoken: Callable[[int], bool] | None = None,
) -> None:  # fmt: skip
    """Reports sentences that weigh more than a text of this length may have by chance; a skill that
    says it is about attacks speaks of them."""
    if TRADE.search(about):
        return
    said = [one for one in sentences(words) if spoken is None or spoken(one.begin)]
    if len(said) > LONGEST_TEXT:
        return
    line = LINE[0] + LINE[1] * log(max(SHORTEST_TEXT, len(said)))
    lines = text.split("\n")
    for one in said:
        if not any(f"g:{name}" in WEIGHTS for hits in one.said.values() for name in hits):
            continue
        piece = words.flat[one.start : one.end].decode("utf-8", "replace")
        if one.is_english() and weigh(piece, one.groups()) > line:
            number = words.line(one.begin)
            told = lines[number - 1].strip() if number <= len(lines) else ""
            if report.has_said("prose", file, number):
                continue
            report.add("prose.odd-order", file, line=number, excerpt=told)


def doubt(words: Words, file: str, report: Report) -> None:
    """Takes back warnings of rules that go by single words, where the sentences at the line are of
    English that sounds like no order at all and neither name an address nor hold a command."""
    if not report.holds(file, DOUBTED):
        return
    near: dict[int, list[Sentence]] = {}
    for one in sentences(words):
        near.setdefault(words.line(one.begin), []).append(one)
    report.doubt(file, DOUBTED, lambda line: _is_harmless([*_around(near, line)], words))


DOUBTED = frozenset(
    f"prose.{name}"
    for name in ("approval", "conceal", "deceive", "lowers-guard", "memory", "stray",
                 "risky-act", "exfiltration")
)  # fmt: skip
HARMLESS = -1.0
_COMMAND = re.compile(rb"\$\(|\||://|@|\.(invalid|test|example)\b")


def _around(near: Mapping[int, list[Sentence]], line: int) -> Iterator[Sentence]:
    """The sentences that begin on the line or a neighbour, and the last one before these."""
    for at in (line - 1, line, line + 1):
        yield from near.get(at, ())
    before = max((at for at in near if at < line - 1), default=None)
    if before is not None:
        yield near[before][-1]


def _is_harmless(said: list[Sentence], words: Words) -> bool:
    pieces = [words.flat[one.start : one.end] for one in said]
    return bool(said) and all(
        one.is_english()
        and not _COMMAND.search(piece)
        and weigh(piece.decode("utf-8", "replace"), one.groups()) < HARMLESS
        for one, piece in zip(said, pieces, strict=True)
    )


def weigh(piece: str, groups: frozenset[str]) -> float:
    """How much the sentence sounds like such an order."""
    return BIAS + sum(WEIGHTS.get(one, 0.0) for one in features(piece, groups))


def features(piece: str, groups: frozenset[str]) -> set[str]:
    """What is counted: stems of words, pairs of them that stand together, the concepts that words
    stand for, and groups of words (see rules/orders.yaml) alone and in pairs."""
    tokens = _TOKEN.findall(_ADDRESS.sub(" ", piece))
    stems = [_stem(token) for token in tokens]
    found = {f"w:{one}" for one in stems}
    found |= {f"c:{CONCEPTS[one]}" for one in tokens if one in CONCEPTS}
    found |= {f"b:{one} {other}" for one, other in zip(["^", *stems], [*stems, "$"], strict=True)}
    named = sorted(groups)
    found |= {f"g:{one}" for one in named}
    found |= {f"p:{one}+{other}" for at, one in enumerate(named) for other in named[at + 1 :]}
    return found


def _stem(token: str) -> str:
    if token.isdigit():
        return "0"
    return token[:STEM] if _LETTER.match(token) else token
