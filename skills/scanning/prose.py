"""Sentences: what a text asks of an agent, in the languages of the lexicon.

Phrases are found all at once by YARA; a rule then asks which subjects meet in a sentence or two.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yara
import yaml

from .code.names import AGENT_MEMORY, is_known_installer
from .report import Report
from .ruleset import PLACES, RULES, load
from .text import Words, normalise, squeeze

CHUNK = 1 << 20
OVERLAP = 512
Hits = Mapping[str, list[int]]


def _lexicon() -> tuple[yara.Rules, dict[str, tuple[str, str, bool, bool]]]:
    """The compiled phrases; for each its concept, language and which of its edges must be bare."""
    data = yaml.load((RULES / "lexicon.yaml").read_bytes(), Loader=yaml.CBaseLoader)  # noqa: S506
    lines, strings = [], {}
    for concept, languages in data.items():
        for language, phrases in languages.items():
            for phrase in phrases:
                name = f"${len(strings)}"
                pattern, left, right = _pattern(phrase, language)
                strings[name] = (concept, language, left, right)
                lines.append(f"{name} = {pattern}")
    source = "rule lexicon { strings:\n" + "\n".join(
        line.replace("$", "$s", 1) for line in lines
    ) + "\ncondition: any of them }"  # fmt: skip
    return yara.compile(source=source), {f"$s{name[1:]}": what for name, what in strings.items()}


def _pattern(phrase: str, language: str) -> tuple[str, bool, bool]:
    """(YARA pattern, left edge, right edge) of a phrase in the lexicon's spelling."""
    if phrase.startswith("/"):
        return phrase, False, False
    open_ended = phrase.endswith("*")
    pieces = [normalise(piece).strip(b" \x1e").decode() for piece in phrase.rstrip("*").split("*")]
    spaced = language not in {"zh", "ja", "ko", "th"}
    left = spaced and language not in {"ar", "he", "fa"}
    right = spaced and not open_ended
    if len(pieces) == 1:
        return f'"{_escape(pieces[0])}"', left, right
    gap = " .{1,30} " if " * " in phrase else "[^ ]{0,24} "
    return "/" + gap.join(_escape_regex(piece) for piece in pieces) + "/", left, right


def _escape(text: str) -> str:
    return "".join(
        chr(code) if 0x20 <= code < 0x7F and chr(code) not in '"\\' else f"\\x{code:02x}"
        for code in text.encode()
    )


def _escape_regex(text: str) -> str:
    return "".join(
        chr(code) if chr(code).isalnum() and code < 0x7F or code == 0x20 else f"\\x{code:02x}"
        for code in text.encode()
    )


@dataclass(frozen=True, slots=True)
class _Rule:
    """A row of prose.yaml."""

    rule: str
    all: tuple[tuple[str, ...], ...]
    span: int = 0
    near: int = 400
    asserted: frozenset[str] = frozenset()
    where: str = "any"
    gaps: tuple[int, ...] = ()
    by_language: bool = False
    quotable: bool = False


def _read_rule(row: Mapping[str, Any], quotable: Sequence[str]) -> _Rule:
    name = row.get("rule") or row["name"]
    return _Rule(
        rule=name,
        all=tuple(tuple(concept.split("|")) for concept in row["all"]),
        span={"sentence": 0, "pair": 1}[row.get("span", "sentence")],
        near=row.get("near", 400),
        asserted=frozenset(row.get("asserted", ())),
        where=row.get("where", "any"),
        gaps=tuple(row.get("gaps", ())),
        by_language=row.get("order") == "language",
        quotable=name in quotable,
    )


_DATA = load("prose.yaml")
_DERIVED = tuple(_read_rule(row, ()) for row in _DATA["derived"])
_RULES = tuple(_read_rule(row, _DATA["quotable"]) for row in _DATA["rules"])
_YARA, _STRINGS = _lexicon()
_BEACON = re.compile(_DATA["beacons"])
_SPLIT_FIRST = re.compile(b"|".join(re.escape(squeeze(one)) for one in _DATA["split"]["first"]))
_SPLIT_THEN = re.compile(b"|".join(re.escape(squeeze(one)) for one in _DATA["split"]["then"]))
_SPOKEN_ANYHOW = frozenset(
    concept
    for concept in {what[0] for what in _STRINGS.values()}
    if {what[1] for what in _STRINGS.values() if what[0] == concept} == {"any"}
)
_FREE_ORDER = frozenset(_DATA["free_order"])
_LOCAL = re.compile(PLACES["local_hosts"].encode().replace(b"-", b" "))
_WORD = re.compile(rb"[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that fits, with the stretch of the normalised text that made it fit."""

    rule: str
    start: int
    end: int
    quotable: bool


def spot(words: Words) -> Hits:
    """Where each concept is spoken of, as ascending offsets into `words.flat`."""
    flat = words.flat
    found: dict[str, set[int]] = {}
    for start in range(0, max(1, len(flat)), CHUNK):
        piece = flat[start : start + CHUNK + OVERLAP]
        for match in _YARA.match(data=piece):
            for string in match.strings:
                concept, language, left, right = _STRINGS[string.identifier]
                hits = found.setdefault(concept, set())
                spoken = found.setdefault(f"{concept}@{language}", set())
                for one in string.instances:
                    at, end = one.offset, one.offset + one.matched_length
                    if left and at and _is_letter(piece, at - 1, one.matched_data[0]):
                        continue
                    if right and end < len(piece) and _is_letter(piece, end, one.matched_data[-1]):
                        continue
                    if concept == "address" and _is_local(piece, at):
                        continue
                    hits.add(start + at)
                    spoken.add(start + at)
    return {concept: sorted(hits) for concept, hits in found.items() if hits}


def _is_letter(piece: bytes, at: int, beside: int) -> bool:
    """Whether the byte continues a word of the same alphabet as the byte beside it."""
    code = piece[at]
    if beside < 0x80:
        return code < 0x80 and bool(_WORD.match(piece, at))
    return code >= 0x80


def _is_local(piece: bytes, at: int) -> bool:
    scheme = piece.find(b"://", at, at + 10)
    return scheme >= 0 and bool(_LOCAL.match(piece[scheme + 3 : scheme + 60].split(b"/")[0].rstrip()))


_TURNED_RULES = frozenset(
    {"prose.override-strong", "prose.exfiltration", "prose.conceal-strong", "prose.override"}
)
_ALPHABET = b"abcdefghijklmnopqrstuvwxyz"
_CIPHERS = (
    ("rot13", bytes.maketrans(_ALPHABET, _ALPHABET[13:] + _ALPHABET[:13])),
    ("atbash", bytes.maketrans(_ALPHABET, _ALPHABET[::-1])),
)


def turned(words: Words) -> Iterator[tuple[str, Match]]:
    """Attacks in a text that is read through a cipher a model undoes in its head."""
    for label, table in _CIPHERS:
        for match in matches(words.translated(table), kind="code"):
            if match.rule in _TURNED_RULES:
                yield label, match
    for match in matches(words.backwards(), kind="code"):
        if match.rule in _TURNED_RULES:
            yield "backwards", match


def matches(words: Words, *, kind: str) -> Iterator[Match]:
    """The rules that fit the text; `kind` is text, code or description."""
    hits = dict(spot(words))
    if not hits:
        return
    for rule in _DERIVED:
        made = [match.start for match in _apply(rule, hits, words)]
        if made:
            hits[rule.rule] = made
    for rule in _RULES:
        if rule.where == "any" or rule.where == kind or rule.where == "text" and kind != "code":
            yield from _apply(rule, hits, words)


def _apply(rule: _Rule, hits: Hits, words: Words) -> Iterator[Match]:
    if not rule.by_language:
        yield from _fit(rule, rule.all, hits, words, ordered=False)
        return
    languages = {name.partition("@")[2] for name in hits if name.startswith(f"{rule.all[0][0]}@")}
    for language in sorted(languages):
        wanted = tuple(
            tuple(name if name in _SPOKEN_ANYHOW else f"{name}@{language}" for name in option)
            for option in rule.all
        )
        yield from _fit(rule, wanted, hits, words, ordered=language not in _FREE_ORDER)


def _fit(
    rule: _Rule, wanted: tuple[tuple[str, ...], ...], hits: Hits, words: Words, *, ordered: bool
) -> Iterator[Match]:
    groups: list[list[int]] = []
    for options in wanted:
        merged = sorted({at for name in options for at in _asserted(name, rule, hits, words)})
        if not merged:
            return
        groups.append(merged)
    lead = 0 if ordered else min(range(len(groups)), key=lambda at: len(groups[at]))
    last = -1
    for at in groups[lead]:
        if at <= last:
            continue
        found = _follow(rule, groups, at, words) if ordered else _meet(rule, groups, lead, at, words)
        if found:
            last = found[1]
            yield Match(rule.rule, found[0], found[1], rule.quotable)


def _asserted(name: str, rule: _Rule, hits: Hits, words: Words) -> list[int]:
    """The hits of a concept, without the negated ones where the rule wants asserted ones."""
    found = hits.get(name, [])
    if name.partition("@")[0] not in rule.asserted:
        return found
    return [at for at in found if not _is_negated(at, words)]


_CLAUSE = re.compile(rb"[,.;:!?\n]|\b(and|but|just|simply|instead|then|also|e|y|et|und)\b")
_NEGATION = re.compile(
    r"(?<!\w)(not|never|dont|doesnt|cannot|cant|wont|avoid|refuse|refuses|forbid|forbidden|prevent"
    r"|instead of|nao|nunca|no|jamas|ne|jamais|nicht|nie|niemals|kein\w*|non|mai|niet|nooit|nigdy"
    r"|не|никогда|ніколи|asla)(?!\w)|不要|不得|请勿|切勿|禁止|لا |אל ".encode()
)


def _is_negated(at: int, words: Words) -> bool:
    """Whether a negation stands close before, in the same clause."""
    before = words.flat[max(0, at - 40) : at]
    found = None
    for found in _NEGATION.finditer(before):  # noqa: B007 - the last one counts
        pass
    if found is None:
        return False
    return not _CLAUSE.search(before[found.end() :]) and b"no matter" not in before


def _follow(rule: _Rule, groups: list[list[int]], at: int, words: Words) -> tuple[int, int] | None:
    """The stretch from `at` in which a hit of each group follows that of the group before."""
    here, reached = words.sentence(at), at
    for number, group in enumerate(groups[1:]):
        gap = rule.gaps[number] if rule.gaps else rule.near
        place = bisect_right(group, reached)
        if place == len(group) or group[place] - reached > gap:
            return None
        before, reached = reached, group[place]
        if words.sentence(reached) - here > rule.span:
            return None
        if rule.gaps and _BROKEN.search(words.flat, before, reached):
            return None
    return None if rule.gaps and _ADVICE.match(words.flat, reached) else (at, reached)


# "Do not dump it: tell the user …" keeps nothing back, and neither does "never tell users to …".
_BROKEN = re.compile(rb"[.;:!?]\s|\xe2\x80\x94| - |,")
_ADVICE = re.compile(rb"\w+ (to|that they|which|how|what to)\b")


def _meet(
    rule: _Rule, groups: list[list[int]], lead: int, at: int, words: Words
) -> tuple[int, int] | None:
    """The stretch around `at` in which every group has a hit, or None."""
    sentence = words.sentence(at)
    reach = sum(rule.gaps) * 2 if rule.gaps else rule.near
    chosen = [at]
    for number, group in enumerate(groups):
        if number == lead:
            continue
        near = group[bisect_left(group, at - reach) : bisect_right(group, at + reach)]
        near = [
            one
            for one in near
            if one not in chosen and abs(words.sentence(one) - sentence) <= rule.span
        ]
        if not near:
            return None
        chosen.append(min(near, key=lambda one: abs(one - at)))
    low, high = min(chosen), max(chosen)
    return (low, high) if high - low <= reach else None


# ---------------------------------------------------------------------------------------------

_QUOTED = re.compile(r"[\"“”„«»‘’`「」『』]|(?<!\w)'|'(?!\w)")
_OTHER = 700


def check(text: str, words: Words, file: str, report: Report, *, kind: str = "text") -> None:
    """Reports what the sentences of a text ask for."""
    lines = text.split("\n")
    context: Hits | None = None
    told: set[int] = set()
    for match in matches(words, kind=kind):
        line = words.line(match.start)
        if _is_beside_the_point(match, words, lines, line):
            continue
        if match.rule == "prose.override":
            told.update(range(line - 2, line + 4))
        if match.quotable:
            context = spot(words) if context is None else context
            if _is_quotation(match, words, context, lines, line):
                report.add("prose.override-quoted", file, line=line, excerpt=_line(lines, line))
                continue
        report.add(match.rule, file, line=line, excerpt=_line(lines, line))
    for found in _BEACON.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        report.add("prose.beacon", file, line=line, excerpt=found[0])
    _check_split(words, told, file, report)


def _is_beside_the_point(match: Match, words: Words, lines: list[str], line: int) -> bool:
    """What the normalised text cannot tell: a file's exact name, a tag shown as code, a claim with
    a condition behind it."""
    raw = "\n".join(lines[max(0, line - 3) : line + 3])
    if match.rule == "prose.memory":
        stretch = words.flat[match.start - 40 : match.end + 40]
        is_row = _line(lines, line).startswith("|")
        return is_row or not AGENT_MEMORY.search(raw) and b"memor" not in stretch
    if match.rule == "prose.role-play":
        return bool(re.search(r"`[^`\n]*(<|\[/?INST)[^`\n]*`", _line(lines, line)))
    if match.rule == "prose.fetch-and-run":
        return any(is_known_installer(one) for one in re.findall(r"https://[^\s`'\")>]+", raw))
    if match.rule == "prose.conceal":
        return bool(_SPECIFIC.match(words.flat, match.end))
    return match.rule == "prose.hijack" and bool(_CONDITION.match(words.flat, match.end))


_SPECIFIC = re.compile(rb"[\w ]{0,30}need to know (which|how|what|why|whether|the)\b")
_CONDITION = re.compile(rb"[\w ]{0,30}?\b(involving|that|related|relating|about|which|where|concerning|with|to|in this|of this)\b")


def _line(lines: list[str], line: int) -> str:
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _is_quotation(
    match: Match, words: Words, context: Hits, lines: list[str], line: int
) -> bool:
    """Whether a text about attacks quotes one: marked as a quotation or as what somebody says, with
    the advice against it beside it, and without an address or key in the quoted sentence."""
    here = words.sentence(match.start)
    if any(words.sentence(at) == here for at in _around(context, "address", match.start)):
        return False
    said = any(
        at < match.start and words.sentence(at) == here
        for at in _around(context, "mention", match.start)
    )
    quoted = len(_QUOTED.findall(_line(lines, line))) >= 2
    countered = any(
        abs(words.sentence(at) - here) <= 2 for at in _around(context, "counter", match.start)
    )
    return countered and (said or quoted)


def _around(context: Hits, concept: str, at: int) -> list[int]:
    hits = context.get(concept, [])
    return hits[bisect_left(hits, at - _OTHER) : bisect_right(hits, at + _OTHER)]


def _check_split(words: Words, told: set[int], file: str, report: Report) -> None:
    """Known phrases that only show once every blank and mark is gone."""
    squeezed, near = words.squeezed, _DATA["split"]["near"]
    for first in _SPLIT_FIRST.finditer(squeezed):
        then = _SPLIT_THEN.search(squeezed, first.end(), first.end() + near)
        if then is None:
            continue
        line = words.squeezed_line(first.start())
        if line in told:
            continue
        stretch = squeezed[first.start() : then.end()].decode("utf-8", "replace")
        rule = "prose.override" if _spelled_out(words, line) else "prose.split"
        report.add(rule, file, line=line, excerpt=stretch)


def _spelled_out(words: Words, line: int) -> bool:
    """Whether both words stand whole in the lines around, so that nothing was cut."""
    lines = words.lined.split(b"\n")
    around = b" ".join(lines[max(0, line - 2) : line + 2]).replace(b"\x1e", b" ")
    return bool(_WHOLE_FIRST.search(around)) and bool(_WHOLE_THEN.search(around))


_WHOLE_FIRST = re.compile(
    rb"\b(" + b"|".join(normalise(one) for one in _DATA["split"]["first"]) + rb")"
)
_WHOLE_THEN = re.compile(rb"instruc|instruk|prompt|request|anweisung|\xd0\xbf\xd1\x80\xd0\xb5\xd0\xb4|\xe6\x8c\x87")
