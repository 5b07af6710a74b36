"""Finds what a text speaks of: the phrases of the lexicon, all at once, by YARA.

Subjects that are rare, and that every rule needs one of, are sought in the whole text; the common
ones only around those, block by block, when a rule asks.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import yaml
import yara

from .ruleset import PLACES, RULES, load
from .text import Words, normalise

CHUNK = 1 << 20
BLOCK = 1 << 10
OVERLAP = 160


@dataclass(frozen=True, slots=True)
class _Phrase:
    concept: str
    language: str
    left: bool
    right: bool


@dataclass(frozen=True, slots=True)
class Phrases:
    """Compiled phrases and what each of them says."""

    rules: yara.Rules
    meaning: Mapping[str, _Phrase]

    def find(self, data: bytes, start: int, end: int) -> Iterable[tuple[_Phrase, int]]:
        """(phrase, offset) of every whole phrase that begins in [start, end)."""
        piece = data[start : end + OVERLAP]
        for match in self.rules.match(data=piece):
            for string in match.strings:
                phrase = self.meaning[string.identifier]
                for one in string.instances:
                    at = one.offset
                    if at < end - start and _stands_alone(piece, at, one.matched_length, phrase):
                        yield phrase, start + at


def _stands_alone(piece: bytes, at: int, length: int, phrase: _Phrase) -> bool:
    """Whether no letter of the same alphabet continues the phrase where it must end."""
    if phrase.left and at and _continues(piece[at - 1], piece[at]):
        return False
    end = at + length
    if phrase.right and end < len(piece) and _continues(piece[end], piece[end - 1]):
        return False
    return phrase.concept != "address" or not _is_local(piece, at)


def _continues(code: int, beside: int) -> bool:
    if beside < 0x80:
        return code in _ASCII_WORD
    return code >= 0x80


_ASCII_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_LOCAL = re.compile(PLACES["local_words"].encode())


def _is_local(piece: bytes, at: int) -> bool:
    scheme = piece.find(b"://", at, at + 10)
    if scheme < 0:
        return False
    return bool(_LOCAL.match(piece, scheme + 3))


def compile_phrases(
    data: Mapping[str, Mapping[str, list[str]]], concepts: Iterable[str] | None = None,
    languages: frozenset[str] | None = None,
) -> Phrases:  # fmt: skip
    """The phrases of these concepts (all by default), ready to be sought at once."""
    lines: list[str] = []
    meaning: dict[str, _Phrase] = {}
    for concept in data if concepts is None else concepts:
        for language, phrases in data[concept].items():
            if languages is not None and language not in languages:
                continue
            for phrase in phrases:
                name = f"$p{len(meaning)}"
                pattern, left, right = _pattern(phrase, language)
                meaning[name] = _Phrase(concept, language, left, right)
                lines.append(f"{name} = {pattern}")
    body = "\n".join(lines)
    return Phrases(
        yara.compile(source=f"rule lexicon {{ strings:\n{body}\ncondition: any of them }}"), meaning
    )


def _pattern(phrase: str, language: str) -> tuple[str, bool, bool]:
    """(YARA pattern, must begin a word, must end one) for a phrase in the lexicon's spelling."""
    if phrase.startswith("/"):
        return phrase, False, False
    open_ended = phrase.endswith("*")
    pieces = [normalise(piece).strip(b" \x1e").decode() for piece in phrase.rstrip("*").split("*")]
    spaced = language not in {"zh", "ja", "ko", "th"}
    left = spaced and language not in {"ar", "he", "fa"}
    right = spaced and not open_ended
    if len(pieces) > 1:
        gap = " .{1,30} " if " * " in phrase else "[^ ]{0,24} "
        return "/" + gap.join(map(_as_regex, pieces)) + "/", left, right
    text = f'"{_as_text(pieces[0])}"'
    # YARA's own word borders are ASCII ones, and cheaper than looking here.
    if left and right and pieces[0].isascii():
        return f"{text} fullword", False, False
    return text, left, right


def _as_text(text: str) -> str:
    return "".join(
        chr(code) if 0x20 <= code < 0x7F and chr(code) not in '"\\' else f"\\x{code:02x}"
        for code in text.encode()
    )


def _as_regex(text: str) -> str:
    return "".join(
        chr(code) if chr(code).isalnum() and code < 0x7F or code == 0x20 else f"\\x{code:02x}"
        for code in text.encode()
    )


_RULES = load("prose.yaml")
_DATA: Mapping[str, Mapping[str, list[str]]] = yaml.load(
    (RULES / "lexicon.yaml").read_bytes(), Loader=yaml.CBaseLoader
)
LEADING = tuple(_RULES["leading"])
COMMON = tuple(name for name in _DATA if name not in LEADING)
SPOKEN_ANYHOW = frozenset(name for name, languages in _DATA.items() if set(languages) == {"any"})
LANGUAGES: Mapping[str, tuple[str, ...]] = {
    name: tuple(languages) for name, languages in _DATA.items()
}
_LEADING = compile_phrases(_DATA, LEADING)
_COMMON = compile_phrases(_DATA, COMMON)
_TURNED = compile_phrases(_DATA, _RULES["turned"], frozenset({"en", "any", "path"}))


class Subjects:
    """Where a text speaks of what, as offsets into `words.flat`.

    Names are concepts, or `concept@language` for those that were said in one language.
    """

    def __init__(self, words: Words, *, turned: bool = False) -> None:
        self._words = words
        self._turned = turned
        self._made: dict[str, list[int]] = {}
        self._blocks: dict[int, dict[str, list[int]]] = {}

    @cached_property
    def _leading(self) -> Mapping[str, list[int]]:
        flat, phrases = self._words.flat, _TURNED if self._turned else _LEADING
        found: dict[str, set[int]] = {}
        for start in range(0, max(1, len(flat)), CHUNK):
            for phrase, at in phrases.find(flat, start, min(len(flat), start + CHUNK)):
                found.setdefault(phrase.concept, set()).add(at)
                found.setdefault(f"{phrase.concept}@{phrase.language}", set()).add(at)
        return {name: sorted(hits) for name, hits in found.items()}

    def make(self, name: str, hits: Iterable[int]) -> None:
        """Adds a derived subject."""
        self._made[name] = sorted(hits)

    def leads(self, name: str) -> bool:
        """Whether all hits of the name are known without asking for a place."""
        return name.partition("@")[0] in LEADING or name in self._made

    def all(self, name: str) -> list[int]:
        """Every hit of a leading or derived subject, ascending."""
        return self._made.get(name) or self._leading.get(name, [])

    def near(self, name: str, low: int, high: int) -> list[int]:
        """The hits in [low, high], ascending."""
        if self.leads(name):
            hits = self.all(name)
            return hits[bisect_left(hits, low) : bisect_right(hits, high)]
        if self._turned:
            return []
        out: list[int] = []
        for block in range(max(0, low) // BLOCK, max(0, high) // BLOCK + 1):
            out += [at for at in self._block(block).get(name, ()) if low <= at <= high]
        return out

    def _block(self, number: int) -> dict[str, list[int]]:
        if number not in self._blocks:
            found: dict[str, set[int]] = {}
            start = number * BLOCK
            # A little of the block before lets a phrase see the letter in front of it.
            for phrase, at in _COMMON.find(self._words.flat, max(0, start - 8), start + BLOCK):
                if at >= start:
                    found.setdefault(phrase.concept, set()).add(at)
                    found.setdefault(f"{phrase.concept}@{phrase.language}", set()).add(at)
            self._blocks[number] = {name: sorted(hits) for name, hits in found.items()}
        return self._blocks[number]
