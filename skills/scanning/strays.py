"""Sentences that stand alone in their subject: what a skill does once, beside everything it says of
itself, such as an upload in the middle of a guide to tables."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

import yara

from .code.names import host, is_near
from .report import Report
from .ruleset import PLACES, load
from .text import Words

_DATA = load("subjects.yaml")
_SUBJECTS = {name: re.compile(pattern.encode()) for name, pattern in _DATA["subjects"].items()}
_CAREFUL = re.compile(_DATA["careful"].encode())
_HUSH = re.compile(rb"\b(never|do not|dont) (mention|tell|disclose|reveal|speak|say)\b")
_ENDINGS = tuple(f".{end}" for end in PLACES["endings"])
_ADDRESS = re.compile(
    (
        r"(?:https?://|\bwww\.)[^\s)>\]]+|[\w.]+@[\w.]+\.\w{2,}"
        rf"|(?<![\w./])(?:[a-z0-9]+\.)+(?:{'|'.join(PLACES['endings'])})(?![\w.])"
    ).encode()
)
_WELL_KNOWN = re.compile(PLACES["well_known"])
_HEADING = re.compile(r"(?m)^#{1,6} .*$")
SHORTEST = 12
CHUNK = 1 << 20


def _hints() -> tuple[yara.Rules, list[frozenset[str]]]:
    """A plain word of each alternative of each pattern, and the subjects it can stand for: without
    such a word a sentence cannot match, so that the patterns run on few sentences only."""
    words: dict[str, set[str]] = {mark: {"address"} for mark in ("://", "www.", "@", *_ENDINGS)}
    for subject, pattern in _DATA["subjects"].items():
        for alternative in _alternatives(pattern):
            for word in _needed(alternative):
                words.setdefault(word, set()).add(subject)
    lines = "\n".join(f'$h{number} = "{word}"' for number, word in enumerate(words))
    rules = yara.compile(source=f"rule hints {{ strings: {lines} condition: any of them }}")
    return rules, [frozenset(subjects) for subjects in words.values()]


def _alternatives(pattern: str) -> list[str]:
    """The pattern cut at its outermost bars."""
    out, depth = [""], 0
    for char in pattern:
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            out.append("")
        else:
            out[-1] += char
    return out


def _needed(alternative: str) -> list[str]:
    """The longest word outside all groups, or else the words of the group that says most; a group
    that may be left out does not count."""
    plain = re.sub(r"\\[a-zA-Z]|[a-z][?*]", "\0", alternative)
    groups, outside, depth = [], "", 0
    for char in plain:
        depth += char == "("
        if depth == 0:
            outside += char
        elif depth == 1 and char == "(":
            groups.append("")
        else:
            groups[-1] += char
        depth -= char == ")"
        if char == ")" and depth == 0:
            outside += f"\1{len(groups) - 1}\1"
    left_out = {int(number) for number in re.findall(r"\x01(\d+)\x01[?*]", outside)}
    found = re.findall(r"[a-z@](?:[a-z ]|\.(?=[a-z]))+", outside)
    words = [word.strip() for word in found if len(word.strip()) > 1]
    if words:
        return [max(words, key=len)]
    inside = [
        re.findall(r"[a-z]{2,}", group)
        for number, group in enumerate(groups)
        if number not in left_out and not group.startswith("?")
    ]
    return max(filter(None, inside), key=lambda one: min(map(len, one)))


_HINTS, _HINTED = _hints()


def check(
    text: str, words: Words, about: str, file: str, report: Report, *,
    spoken: Callable[[int], bool] | None = None,
) -> None:  # fmt: skip
    """Reports sentences that join two subjects of which neither `about` (name and description) nor
    a heading nor more than a few other sentences speak."""
    speech = _Speech(words, about, spoken)
    declared = _subjects(Words("\n".join([about, *_HEADING.findall(text)])).flat, about)
    # What stands in a reference is read less often, and wanders more.
    least = 2 if file.lower() == "skill.md" else 3
    lines = text.split("\n")
    for start, end, possible in speech.sentences:
        if len(possible - declared) < least:
            continue
        alone = {
            one for one in speech.subjects(start, end, possible) - declared if speech.is_rare(one)
        }
        if len(alone) >= least and not _is_careful(words.flat[start:end]):
            line = words.line(start)
            told = lines[line - 1].strip() if line <= len(lines) else ""
            report.add(
                "prose.stray", file, line=line, excerpt=f"{' + '.join(sorted(alone))}: {told}"
            )


class _Speech:
    """The sentences of a text that may speak of a subject; patterns run only where it matters."""

    def __init__(self, words: Words, about: str, spoken: Callable[[int], bool] | None) -> None:
        self._words = words
        self._about = about
        self._rare: dict[str, bool] = {}
        edges = [0, *words.boundaries, len(words.flat)]
        self.sentences = [
            (start, end, frozenset(possible))
            for start, end, possible in map(self._trimmed, _worth_reading(words.flat, edges))
            if SHORTEST < end - start < _DATA["longest"] and (spoken is None or spoken(start))
        ]

    def _trimmed(self, one: tuple[int, int, set[str]]) -> tuple[int, int, set[str]]:
        start, end, possible = one
        piece = self._words.flat[start:end]
        return start + len(piece) - len(piece.lstrip()), end, possible

    def subjects(self, start: int, end: int, possible: Iterable[str]) -> frozenset[str]:
        """What the sentence really speaks of."""
        return _subjects(self._words.flat[start:end].strip(), self._about, possible)

    def is_rare(self, subject: str) -> bool:
        """Whether only a few sentences of the text speak of the subject."""
        if subject not in self._rare:
            found = 0
            for start, end, possible in self.sentences:
                if subject in possible and subject in self.subjects(start, end, (subject,)):
                    found += 1
                    if found > _DATA["often"]:
                        break
            self._rare[subject] = found <= _DATA["often"]
        return self._rare[subject]


def _worth_reading(flat: bytes, edges: list[int]) -> Iterator[tuple[int, int, set[str]]]:
    """The sentences in which a hint stands, each with the subjects it may speak of."""
    numbers: dict[int, set[str]] = {}
    for low in range(0, max(1, len(flat)), CHUNK):
        for match in _HINTS.match(data=flat[low : low + CHUNK + 64]):
            for string in match.strings:
                subjects = _HINTED[int(string.identifier[2:])]
                for one in string.instances:
                    number = bisect_right(edges, low + one.offset) - 1
                    numbers.setdefault(number, set()).update(subjects)
    for number in sorted(numbers):
        if number + 1 < len(edges):
            yield edges[number], edges[number + 1], numbers[number]


def _subjects(sentence: bytes, about: str, possible: Iterable[str] = _SUBJECTS) -> frozenset[str]:
    found = set()
    if any(_is_strange(address, about) for address in _ADDRESS.findall(sentence)):
        found.add("address")
    bare = _ADDRESS.sub(b" ", sentence)
    found.update(name for name in possible if name in _SUBJECTS and _SUBJECTS[name].search(bare))
    return frozenset(found)


def _is_strange(address: bytes, about: str) -> bool:
    """Whether an address is neither well known nor the skill's own declared service."""
    name = host(address.decode("utf-8", "replace"))
    if _WELL_KNOWN.search(name) or is_near(name) or name.startswith("example."):
        return False
    labels = [label for label in re.split(r"[.@]", name) if len(label) > 3]
    spoken = about.lower()
    return not any(label in spoken for label in labels[:-1])


def _is_careful(sentence: bytes) -> bool:
    return bool(_CAREFUL.search(sentence)) and not _HUSH.search(sentence)
