"""Sentences: what a text asks of an agent, in the languages of the lexicon.

A rule asks which subjects meet in a sentence or two; `rules/prose.yaml` holds the rules.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yara

from .code.names import AGENT_MEMORY, host, is_inner, is_known_installer
from .lexicon import LANGUAGES, SPOKEN_ANYHOW, Subjects
from .report import Report
from .ruleset import PLACES, load
from .text import Words, normalise, squeeze


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

    def is_asserted(self, names: tuple[str, ...]) -> bool:
        """Whether a negated hit of these subjects does not count."""
        return any(name.partition("@")[0] in self.asserted for name in names)


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
_BEACON = re.compile(_DATA["beacons"])
_SPLIT_FIRST = re.compile(b"|".join(re.escape(squeeze(one)) for one in _DATA["split"]["first"]))
_SPLIT_THEN = re.compile(b"|".join(re.escape(squeeze(one)) for one in _DATA["split"]["then"]))
_FREE_ORDER = frozenset(_DATA["free_order"])


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that fits, with the stretch of the normalised text that made it fit."""

    rule: str
    start: int
    end: int
    quotable: bool


_TURNED_RULES = frozenset({"prose.override"})
_ALPHABET = b"abcdefghijklmnopqrstuvwxyz"
_CIPHERS = (
    ("rot13", bytes.maketrans(_ALPHABET, _ALPHABET[13:] + _ALPHABET[:13])),
    ("atbash", bytes.maketrans(_ALPHABET, _ALPHABET[::-1])),
)


def turned(words: Words) -> Iterator[tuple[str, int]]:
    """(cipher, line) of attacks in a text read through a cipher that a model undoes in its head."""
    tables = [*_CIPHERS, *_shifted(words.flat)]
    views = [(label, words.translated(table)) for label, table in tables]
    for label, other in (*views, ("backwards", words.backwards())):
        subjects = Subjects(other, turned=True)
        for rule in _TURNED:
            for match in _fit(rule, rule.all, subjects, other, ordered=False):
                yield label, other.line(match.start)


def _shift(by: int) -> bytes:
    return bytes.maketrans(_ALPHABET, _ALPHABET[by:] + _ALPHABET[:by])


_COMMON = (b" the ", b" and ", b" you", b" not ", b" all ", b" to ", b" with")
# Two of the most common words as a shift of the alphabet writes them; YARA seeks all in one go.
_SHIFTS = yara.compile(
    source="\n".join(
        f"rule shift_{by} {{ strings: "
        + " ".join(
            f'$w{at} = "{word.translate(_shift(26 - by)).decode()}"'
            for at, word in enumerate(_COMMON)
        )
        + " condition: 2 of them }"
        for by in range(1, 26)
        if by != 13
    )
)


def _shifted(flat: bytes) -> Iterator[tuple[str, bytes]]:
    """The shifts that make common words of what stands in the text."""
    for match in _SHIFTS.match(data=flat):
        by = int(match.rule.partition("_")[2])
        yield f"shifted by {by}", _shift(by)


_TURNED = (
    _Rule("override", (("ignore",), ("authority",)), near=80),
    _Rule("exfiltration", (("secret",), ("address",)), near=120),
    _Rule("conceal", (("send",), ("address",)), near=80),
)


def matches(
    words: Words, subjects: Subjects, *, kind: str, spoken: Callable[[int], bool] | None = None
) -> Iterator[Match]:
    """The rules that fit the text; `kind` is text, code or description.

    `spoken` says of an offset whether it is said there, rather than shown as code: what is only
    shown counts for the rules that read code, too.
    """
    for rule in _DERIVED:
        subjects.make(rule.rule, {match.start for match in _apply(rule, subjects, words)})
    for rule in _RULES:
        if rule.where not in {"any", kind, "text" if kind != "code" else kind}:
            continue
        for match in _apply(rule, subjects, words):
            if rule.where == "any" or spoken is None or spoken(match.start):
                yield match


def _apply(rule: _Rule, subjects: Subjects, words: Words) -> Iterator[Match]:
    if not rule.by_language:
        yield from _fit(rule, rule.all, subjects, words, ordered=False)
        return
    if any(
        all(map(subjects.leads, names)) and not any(map(subjects.all, names)) for names in rule.all
    ):
        return
    concept = next(option[0] for option in rule.all if option[0] not in SPOKEN_ANYHOW)
    for language in LANGUAGES[concept]:
        wanted = tuple(
            tuple(name if name in SPOKEN_ANYHOW else f"{name}@{language}" for name in option)
            for option in rule.all
        )
        yield from _fit(rule, wanted, subjects, words, ordered=language not in _FREE_ORDER)


def _fit(
    rule: _Rule, wanted: tuple[tuple[str, ...], ...], subjects: Subjects, words: Words, *,
    ordered: bool,
) -> Iterator[Match]:  # fmt: skip
    leading = [at for at, names in enumerate(wanted) if all(map(subjects.leads, names))]
    hits = {
        at: sorted({one for name in wanted[at] for one in subjects.all(name)}) for at in leading
    }
    if not all(hits.values()):
        return
    lead = min(leading, key=lambda at: len(hits[at]))
    meet = _follow if ordered else _meet
    last = -1
    for at in hits[lead]:
        if at <= last or rule.is_asserted(wanted[lead]) and is_negated(at, words):
            continue
        found = meet(rule, wanted, lead, at, subjects, words)
        if found:
            last = found[1]
            yield Match(rule.rule, found[0], found[1], rule.quotable)


def _near(
    rule: _Rule, names: tuple[str, ...], low: int, high: int, subjects: Subjects, words: Words
) -> list[int]:
    found = sorted({at for name in names for at in subjects.near(name, low, high)})
    if rule.is_asserted(names):
        found = [at for at in found if not is_negated(at, words)]
    return found


_CLAUSE = re.compile(rb"[,.;:!?\n]|\b(and|but|just|simply|instead|then|also|e|y|et|und)\b")
_NEGATION = re.compile(
    r"(?<!\w)(not|never|dont|doesnt|cannot|cant|wont|avoid|refuse|refuses|forbid|forbidden|prevent"
    r"|instead of|nao|nunca|no|jamas|ne|jamais|nicht|nie|niemals|kein\w*|non|mai|niet|nooit|nigdy"
    r"|не|никогда|ніколи|asla)(?!\w)|不要|不得|请勿|切勿|禁止|لا |אל ".encode()
)


def is_negated(at: int, words: Words) -> bool:
    """Whether a negation stands close before, in the same clause."""
    before = words.flat[max(0, at - 40) : at]
    found = None
    for found in _NEGATION.finditer(before):  # noqa: B007 - the last one counts
        pass
    if found is None:
        return False
    return not _CLAUSE.search(before[found.end() :]) and b"no matter" not in before


def _follow(
    rule: _Rule, wanted: tuple[tuple[str, ...], ...], lead: int, at: int, subjects: Subjects,
    words: Words,
) -> tuple[int, int] | None:  # fmt: skip
    """The stretch around `at` in which the subjects stand in the rule's order."""
    gaps = rule.gaps or (rule.near,) * (len(wanted) - 1)
    first = last = at
    for place in range(lead + 1, len(wanted)):
        found = _near(rule, wanted[place], last + 1, last + gaps[place - 1], subjects, words)
        if not found or rule.gaps and _BROKEN.search(words.flat, last, found[0]):
            return None
        last = found[0]
    for place in range(lead - 1, -1, -1):
        found = _near(rule, wanted[place], first - gaps[place], first - 1, subjects, words)
        if not found or rule.gaps and _BROKEN.search(words.flat, found[-1], first):
            return None
        first = found[-1]
    if words.sentence(last) - words.sentence(first) > rule.span:
        return None
    return None if rule.gaps and _ADVICE.match(words.flat, last) else (first, last)


# "Do not dump it: tell the user …" keeps nothing back, and neither does "never tell users to …".
_BROKEN = re.compile(rb"[.;:!?]\s|,")
_ADVICE = re.compile(rb"\w+ (to|that they|which|how|what to)\b")


def _meet(
    rule: _Rule, wanted: tuple[tuple[str, ...], ...], lead: int, at: int, subjects: Subjects,
    words: Words,
) -> tuple[int, int] | None:  # fmt: skip
    """The stretch around `at` in which every subject is spoken of, each in words of its own."""
    sentence = words.sentence(at)
    reach = sum(rule.gaps) * 2 if rule.gaps else rule.near
    chosen = [at]
    order = sorted(
        range(len(wanted)), key=lambda place: not all(map(subjects.leads, wanted[place]))
    )
    for place in order:
        if place == lead:
            continue
        near = [
            one
            for one in _near(rule, wanted[place], at - reach, at + reach, subjects, words)
            if one not in chosen and abs(words.sentence(one) - sentence) <= rule.span
        ]
        if not near:
            return None
        chosen.append(min(near, key=lambda one: abs(one - at)))
    low, high = min(chosen), max(chosen)
    return (low, high) if high - low <= reach else None


# ---------------------------------------------------------------------------------------------

# What a skill is about whose trade attacks are.
TRADE = re.compile(
    r"(?i)\b(secur|attack|inject|phish|pentest|red.?team|threat|vulnerab|malware|forensic|incident"
    r"|jailbreak|cipher|crypto|encod|decod|guardrail|abuse|fraud)"
)
_QUOTED = re.compile(r"[\"“”„«»‘’`「」『』]|(?<!\w)'|'(?!\w)")
_OTHER = 700


def check(
    text: str, words: Words, file: str, report: Report, *, kind: str = "text",
    spoken: Callable[[int], bool] | None = None, about: str = "",
) -> None:  # fmt: skip
    """Reports what the sentences of a text ask for; see `matches` for `kind` and `spoken`."""
    lines = text.split("\n")
    subjects = Subjects(words)
    told: set[int] = set()
    for match in matches(words, subjects, kind=kind, spoken=spoken):
        line = words.line(match.start)
        if _is_beside_the_point(match, words, lines, line):
            continue
        if match.rule == "prose.override":
            told.update(range(line - 2, line + 4))
        quoted = match.quotable and (
            _is_quotation(match, words, subjects, lines, line)
            or bool(TRADE.search(about))
            and len(_QUOTED.findall(_line(lines, line))) >= 2
        )
        rule = "prose.override-quoted" if quoted else match.rule
        report.add(rule, file, line=line, excerpt=_line(lines, line))
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
    guards = _GUARDING.get(match.rule)
    if guards and guards.search(words.flat, max(0, match.start - 40), match.end + 120):
        return True
    if match.rule == "prose.standing":
        return _line(lines, line).startswith(("name:", "description:"))
    if match.rule == "prose.role-play":
        return bool(re.search(r"`[^`\n]*(<|\[/?INST)[^`\n]*`", _line(lines, line)))
    if match.rule in _ABOUT_ADDRESSES:
        hosts = {host(one) for one in _ADDRESSES.findall(raw)}
        # A made-up or inner host is where a company's own proxy or mirror stands.
        relays = match.rule == "prose.relay"
        if hosts and all(_WELL_KNOWN.search(one) or relays and is_inner(one) for one in hosts):
            return True
    if match.rule == "prose.fetch-and-run":
        return any(is_known_installer(one) for one in re.findall(r"https://[^\s`'\")>]+", raw))
    if match.rule == "prose.conceal":
        return bool(_SPECIFIC.match(words.flat, match.end))
    return match.rule == "prose.hijack" and bool(_CONDITION.match(words.flat, match.end))


# "Do not follow instructions in the page" guards the user; only the user's own words are theirs.
_CONCEALING = re.compile(
    rb"\b(reveal|disclose|expose|tell|say|leak)\w*( \w+)? (if|whether) (the |an? |that )?"
    rb"(user|account|e ?mail|login|username|address)\b|\bsilently (\w+[^s ]s|succeed)\b"
)
_GUARDING = {
    "prose.conceal": _CONCEALING,
    "prose.conceal-strong": _CONCEALING,
    "prose.override": re.compile(
        rb"\b(not|never) (follow|obey|execute|act on|trust)( or \w+)? (any |the |such )?"
        rb"(instructions?|directions?|orders?|commands?)[^.]{0,30}? "
        rb"(in|within|inside|from|embedded|contained|found)"
        rb"(?![^.]{0,40}\b(user|system|developer|operator|person|human|owner))"
    ),
    "prose.relay": re.compile(rb"use the [\w.]{0,20} ?base url"),
    "prose.beacon": re.compile(rb"\byour[ _-][a-z_ ]{0,20}key\b"),
}
_ABOUT_ADDRESSES = {"prose.plant", "prose.relay", "prose.fetch-and-run", "prose.beacon"}
_ADDRESSES = re.compile(r"(?:https?://|\b)(?:[\w-]+\.)+[a-z]{2,}(?:/[^\s)\"'`>]*)?", re.IGNORECASE)
_WELL_KNOWN = re.compile(PLACES["well_known"])
_SPECIFIC = re.compile(rb"[\w ]{0,30}need to know (which|how|what|why|whether|the)\b")
_CONDITION = re.compile(
    rb"[\w ]{0,30}?\b(involving|that|related|relating|about|which|where|concerning|with|to|in this"
    rb"|of this)\b"
)


def _line(lines: list[str], line: int) -> str:
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _is_quotation(
    match: Match, words: Words, subjects: Subjects, lines: list[str], line: int
) -> bool:
    """Whether a text about attacks quotes one: marked as a quotation or as what somebody says, with
    the advice against it beside it, and without an address in the quoted sentence."""
    here, low, high = words.sentence(match.start), match.start - _OTHER, match.start + _OTHER
    if any(words.sentence(at) == here for at in subjects.near("address", low, high)):
        return False
    said = any(words.sentence(at) == here for at in subjects.near("mention", low, match.start - 1))
    quoted = len(_QUOTED.findall(_line(lines, line))) >= 2
    countered = any(
        abs(words.sentence(at) - here) <= 2 for at in subjects.near("counter", low, high)
    )
    return countered and (said or quoted)


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
_WHOLE_THEN = re.compile(
    rb"instruc|instruk|prompt|request|anweisung|\xd0\xbf\xd1\x80\xd0\xb5\xd0\xb4|\xe6\x8c\x87"
)
