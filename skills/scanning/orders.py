"""Orders by their grammar: sentences in which a verb of one kind meets a thing of another kind, in
one language. `rules/orders.yaml` holds the words and what may not meet."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from .code.names import host
from .lexicon import compile_phrases
from .prose import is_negated
from .report import Report
from .ruleset import PLACES, RULES
from .text import Words, normalise

CHUNK = 1 << 20
SHORTEST = 6
_DATA: Mapping[str, Any] = yaml.load((RULES / "orders.yaml").read_bytes(), Loader=yaml.CBaseLoader)


@dataclass(frozen=True, slots=True)
class _Order:
    """A row of `orders`: groups of words that may not meet in a sentence."""

    rule: str
    all: tuple[tuple[str, ...], ...]
    within: int
    asserted: frozenset[str]
    topic: re.Pattern[bytes] | None
    strange: bool
    towards: bool
    foreign: bool
    next: bool
    where: str


def _read(row: Mapping[str, Any]) -> _Order:
    topic = row.get("topics")
    return _Order(
        rule=row["rule"],
        all=tuple(tuple(group.split("|")) for group in row["all"]),
        within=int(row.get("within", 120)),
        asserted=frozenset(row.get("asserted", ())),
        topic=re.compile(_DATA["topics"][topic].encode()) if topic else None,
        strange=row.get("strange") == "true",
        towards=row.get("towards") == "true",
        foreign=row.get("foreign") == "true",
        next=row.get("next") == "true",
        where=row.get("where", "text"),
    )


_ORDERS = tuple(map(_read, _DATA["orders"]))
# Groups that are an order by themselves or with an address; any other needs a second one.
ALONE = frozenset(
    name
    for order in _ORDERS
    for others in [[names for names in order.all if names != ("address",)]]
    if len(others) == 1
    for name in others[0]
)
FEWEST = 3
_CAREFUL = re.compile(_DATA["careful"].encode())
_PHRASES = compile_phrases(_DATA["words"])
_WELL_KNOWN = re.compile(PLACES["well_known"])
_LOCAL = re.compile(PLACES["local_hosts"])
_VERBS = frozenset(_DATA["verbs"])
_ORDERING = re.compile(_DATA["ordering"].encode())
_TOWARDS = re.compile(_DATA["towards"].encode())
_TONGUES = {name: re.compile(words.encode()) for name, words in _DATA["tongues"].items()}
_ADDRESS = re.compile(_DATA["addresses"].encode())
_ANY = frozenset({"any", "path"})

Hits = dict[str, list[int]]
_Index = Mapping[str, Sequence[tuple[int, _Order]]]


def check(
    text: str, words: Words, about: str, file: str, report: Report, *, kind: str = "text",
    spoken: Callable[[int], bool] | None = None,
) -> None:  # fmt: skip
    """Reports the sentences of a text that are such an order; `about` is what the skill says of
    itself, which makes some of them its business."""
    orders = _by_group(
        order for order in _ORDERS if order.where == kind and not _is_business(order, about)
    )
    lines = text.split("\n")
    for sentence in sentences(words):
        likely = sentence.may_be(orders)
        if not likely or spoken is not None and not spoken(sentence.start):
            continue
        for order in likely:
            if sentence.is_order(order, about):
                line = words.line(sentence.begin)
                told = lines[line - 1].strip() if line <= len(lines) else ""
                report.add(order.rule, file, line=line, excerpt=told)


def _by_group(orders: Iterable[_Order]) -> "_Index":
    """The orders by the groups of their first entry, one of which a sentence must speak of."""
    found: dict[str, list[tuple[int, _Order]]] = {}
    for at, order in enumerate(orders):
        for name in order.all[0]:
            found.setdefault(name, []).append((at, order))
    return found


def _is_business(order: _Order, about: str) -> bool:
    return order.topic is not None and bool(order.topic.search(normalise(about)))


@lru_cache(2)
def sentences(words: Words) -> "tuple[Sentence, ...]":
    """The sentences of a text with the groups of words in them and in the one before."""
    return tuple(_sentences(words))


def _sentences(words: Words) -> "Iterator[Sentence]":
    found: dict[int, dict[str, Hits]] = {}
    edges = words.boundaries
    for low in range(0, max(1, len(words.flat)), CHUNK):
        for phrase, at in _PHRASES.find(words.flat, low, min(len(words.flat), low + CHUNK)):
            hits = found.setdefault(bisect_right(edges, at), {}).setdefault(phrase.language, {})
            hits.setdefault(phrase.concept, []).append(at)
    for number in range(len(edges) + 1):
        start = edges[number - 1] if number else 0
        end = edges[number] if number < len(edges) else len(words.flat)
        if end - start < SHORTEST:
            continue
        said = found.get(number, {})
        yield Sentence(words, start, end, said, found.get(number - 1, {}))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the groups of words in it, by language and group."""

    words: Words
    start: int
    end: int
    said: Mapping[str, Hits]
    before: Mapping[str, Hits]

    @property
    def begin(self) -> int:
        """Where its first letter stands."""
        piece = self.words.flat[self.start : self.end]
        return self.start + len(piece) - len(piece.lstrip())

    def may_be(self, orders: _Index) -> list[_Order]:
        """The orders whose groups of words are all there, whatever the language."""
        if not self.said:
            return []
        here = {name for hits in self.said.values() for name in hits} | {"address"}
        there = here.union(*self.before.values()) if self.before else here
        if len(there) < FEWEST and not any(one in ALONE for one in here):
            return []
        likely = {at: order for name in there for at, order in orders.get(name, ())}
        return [
            order
            for _, order in sorted(likely.items())
            if not any((there if order.next else here).isdisjoint(names) for names in order.all)
        ]

    def groups(self) -> frozenset[str]:
        """The groups of words it speaks of in a language it may be of, and marks of its own."""
        found = {
            name
            for language, hits in self.said.items()
            if language in _ANY or self._is_tongue(language)
            for name in hits
        }
        addresses = _ADDRESS.finditer(self.words.flat, self.start, self.end)
        if any(_is_strange(one[0], "") for one in addresses):
            found.add("address")
        if self._is_careful():
            found.add("careful")
        return frozenset(found)

    def is_order(self, order: _Order, about: str) -> bool:
        languages = [one for one in self.said if self._is_tongue(one)] or ["any"]
        return any(
            self._is_said(order, one, about)
            for one in languages
            if not order.foreign or one != "en"
        )

    def is_english(self) -> bool:
        """Whether its letters and small words are those of English rather than another language."""
        piece = self.words.flat[self.start : self.end]
        own = len(_TONGUES["en"].findall(piece))
        return piece.isascii() and all(
            own >= len(words.findall(piece)) for name, words in _TONGUES.items() if name != "en"
        )

    def _is_tongue(self, language: str) -> bool:
        """Whether the sentence may be of the language, judged by its small words."""
        if language in _ANY:
            return False
        if language == "en" or language not in _TONGUES:
            return True
        piece = self.words.flat[self.start : self.end]
        own = len(_TONGUES[language].findall(piece))
        return bool(own) and own >= len(_TONGUES["en"].findall(piece))

    def _is_said(self, order: _Order, language: str, about: str) -> bool:
        wanted: list[list[int]] = []
        for names in order.all:
            hits = [at for name in names for at in self._hits(order, name, language, about)]
            if not hits:
                return False
            wanted.append(hits)
        return _meet(wanted, order.within) and not self._is_careful()

    def _hits(self, order: _Order, name: str, language: str, about: str) -> list[int]:
        if name == "address":
            return self._addresses(order, about)
        sources = [self.said, self.before] if order.next else [self.said]
        own = [at for source in sources for at in source.get(language, {}).get(name, ())]
        if language == "en" and name in _VERBS:
            own = [at for at in own if self._is_ordering(at)]
        hits = own + [
            at for source in sources for one in _ANY for at in source.get(one, {}).get(name, ())
        ]
        if name in order.asserted:
            hits = [at for at in hits if not is_negated(at, self.words)]
        return hits

    def _is_ordering(self, at: int) -> bool:
        """Whether a verb stands where English puts one that gives an order."""
        before = self.words.flat[max(self.start, at - 24) : at]
        return not before.strip() or bool(_ORDERING.search(before))

    def _addresses(self, order: _Order, about: str) -> list[int]:
        return [
            found.start()
            for found in _ADDRESS.finditer(self.words.flat, self.start, self.end)
            if not (order.strange and not _is_strange(found[0], about))
            and not (order.towards and not self._is_target(found.start()))
        ]

    def _is_target(self, at: int) -> bool:
        return bool(_TOWARDS.search(self.words.flat[max(self.start, at - 48) : at]))

    def _is_careful(self) -> bool:
        return bool(_CAREFUL.search(self.words.flat, self.start, self.end))


def _is_strange(address: bytes, about: str) -> bool:
    """Whether an address is neither well known, nor this machine, nor the skill's own service."""
    name = host(address.decode("utf-8", "replace"))
    if not name:
        return True
    if _WELL_KNOWN.search(name) or _LOCAL.match(name):
        return False
    labels = [label for label in re.split(r"[.@]", name) if len(label) > 3]
    spoken = about.lower()
    return not any(label in spoken for label in labels[:-1])


def _meet(wanted: list[list[int]], within: int) -> bool:
    """Whether one hit of each group stand together, each in a place of its own."""
    for lead in wanted[0]:
        chosen = {lead}
        for hits in wanted[1:]:
            near = [at for at in hits if abs(at - lead) <= within and at not in chosen]
            if not near:
                break
            chosen.add(min(near, key=lambda at: abs(at - lead)))
        else:
            return True
    return False
