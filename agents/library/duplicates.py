"""Which definitions are one and the same, or nearly: why, and by how much."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rapidfuzz import fuzz

from agents.library.frontmatter import body_sha256
from agents.library.places import Scope
from agents.library.scopes import Entry

NEAR_PERCENT = 88.0
MIN_CHARS = 80  # shorter bodies are alike by chance
MOST_CHARS = 40_000  # of each body that is compared
_SHARED = 0.3  # of the smaller body's lines, before two bodies are compared at all
_COMMON = 40  # a line that more bodies have says nothing
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two definitions and what they share. `percent` is how alike their bodies are; `differs`
    names the keys of the front matter that are not the same.
    """

    first: Entry
    second: Entry
    same_name: bool
    percent: float
    differs: tuple[str, ...] = ()

    @property
    def is_same_body(self) -> bool:
        """Not a character differs between the bodies, but for white space."""
        return self.percent >= 100.0


def find(entries: Iterable[Entry], *, near_percent: float = NEAR_PERCENT) -> tuple[Pair, ...]:
    """The pairs that deserve a look, the most alike first. Names are compared without case, and
    what comes along is not compared with its own kind.
    """
    known = [entry for entry in entries if entry.definition.raw or entry.definition.body]
    shipped = [entry.found.place.scope is Scope.BUILTIN for entry in known]
    texts = [_plain(entry.definition.body) for entry in known]
    wanted: set[tuple[int, int]] = {*_of_one_name(known), *_of_one_body(known), *_candidates(texts)}
    pairs = []
    for left, right in sorted(wanted):
        if shipped[left] and shipped[right]:
            continue
        same_name = _name(known[left]) == _name(known[right])
        percent = _alike(texts[left], texts[right], 0.0 if same_name else near_percent)
        long_enough = min(len(texts[left]), len(texts[right])) >= MIN_CHARS
        if same_name or (long_enough and percent >= near_percent):
            differs = _differing(known[left], known[right])
            pairs.append(Pair(known[left], known[right], same_name, round(percent, 1), differs))
    return tuple(sorted(pairs, key=lambda pair: (-pair.percent, not pair.same_name)))


def _name(entry: Entry) -> str:
    return (entry.bare or entry.name).lower()


def _plain(body: str) -> str:
    return "\n".join(tidy for line in body.splitlines() if (tidy := _SPACE.sub(" ", line).strip()))[
        :MOST_CHARS
    ]


def _of_one_name(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        if entry.name:
            groups[_name(entry)].append(number)
    for group in groups.values():
        many = len(group) > _COMMON
        yield from zip(group, group[1:], strict=False) if many else combinations(group, 2)


def _of_one_body(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        if len(entry.definition.body) >= MIN_CHARS:
            groups[body_sha256(entry.definition.body)].append(number)
    for group in groups.values():
        yield from zip(group, group[1:], strict=False)


def _candidates(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Bodies that share enough lines to be worth a comparison letter by letter."""
    lines = [{line for line in text.split("\n") if len(line) > 12} for text in texts]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(lines):
        for line in found:
            holders[line].append(number)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for group in holders.values():
        if 1 < len(group) <= _COMMON:
            for pair in combinations(group, 2):
                shared[pair] += 1
    for (left, right), count in shared.items():
        if count >= _SHARED * min(len(lines[left]), len(lines[right])):
            yield left, right


def _alike(one: str, other: str, at_least: float) -> float:
    if one == other:
        return 100.0
    return min(fuzz.ratio(one, other, score_cutoff=at_least), 99.9)


def _differing(one: Entry, other: Entry) -> tuple[str, ...]:
    mine, its = one.definition.values, other.definition.values
    return tuple(key for key in sorted({*mine, *its}) if mine.get(key) != its.get(key))
