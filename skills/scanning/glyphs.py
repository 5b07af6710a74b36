"""Characters that are not what they seem; honest emoji and honest scripts pass."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from .report import Report
from .ruleset import COMMANDS, CONFUSABLES, UNICODE

VS15, VS16 = "\ufe0e", "\ufe0f"
ZWNJ, ZWJ = "\u200c", "\u200d"
KEYCAP = "\u20e3"
FLAG, TAG_END = "\U0001f3f4", "\U000e007f"
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0"
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
SHOWN = 8


def check(text: str, file: str, report: Report, *, first: bool = False) -> None:
    """Reports every character of a text that hides, reorders or imitates; `first` is a SKILL.md."""
    if text.startswith("\ufeff"):
        report.add(
            "unicode.byte-order-mark-skill" if first else "unicode.byte-order-mark", file, line=1
        )
        text = text[1:]
    told: Counter[str] = Counter()
    for at, rule in chain(_controls(text), () if text.isascii() else _beyond_ascii(text)):
        told[rule] += 1
        if told[rule] <= SHOWN:
            _tell(report, rule, file, text, at)


def _beyond_ascii(text: str) -> Iterator[tuple[int, str]]:
    yield from _hidden(text)
    yield from _lookalikes(text)


def hidden_message(text: str) -> str:
    """What tag characters or runs of variation selectors in the text spell, "" if nothing."""
    tags = "".join(chr(ord(char) - 0xE0000) for char in "".join(_TAG_RUNS.findall(text)))
    run = bytes(
        ord(char) - 0xFE00 if char <= VS16 else ord(char) - 0xE0100 + 16
        for char in "".join(_SELECTOR_RUNS.findall(text))
    )
    return tags if len(tags) > 3 else run.decode("utf-8", "replace") if len(run) > 8 else ""


_TAG_RUNS = re.compile("[\U000e0020-\U000e007e]{4,}")
_SELECTOR_RUNS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}|[\U000e0100-\U000e01ef]")


def _tell(report: Report, rule: str, file: str, text: str, at: int) -> None:
    report.add(
        rule,
        file,
        line=text.count("\n", 0, at) + 1,
        excerpt=text[max(text.rfind("\n", 0, at) + 1, at - 40) : at + 60],
    )


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x9f]|\r(?!\n)")


def _controls(text: str) -> Iterator[tuple[int, str]]:
    only_returns = "\n" not in text and "\r" in text
    for found in _CONTROL.finditer(text):
        if found[0] == "\x1b":
            steers = text[found.end() : found.end() + 1] in set("[]()PX^_c78=>NO#")
            yield found.start(), "unicode.terminal-escape" if steers else "unicode.control"
        elif found[0] == "\r":
            # A file whose only line ends are returns comes from an old Macintosh.
            yield found.start(), "unicode.control" if only_returns else "unicode.overwrite"
        else:
            yield found.start(), "unicode.control"


def _hidden(text: str) -> Iterator[tuple[int, str]]:
    suspects = "".join(sorted(char for char in set(text) if char > "\x7f" and _is_suspect(char)))
    if not suspects:
        return
    for run in re.finditer(f"[{re.escape(suspects)}]+", text):
        yield from _judge_run(text, run.start(), run.end())


def _is_suspect(char: str) -> bool:
    if unicodedata.category(char) in {"Cf", "Co", "Cs", "Zl", "Zp"}:
        return True
    if unicodedata.category(char) == "Cn":
        return not _within(_RECENT, char)
    return char in FILLERS or "\ufe00" <= char <= VS16 or "\U000e0100" <= char <= "\U000e01ef"


def _judge_run(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    run = text[start:end]
    if _is_honest(text, start, end):
        return
    if any("\U000e0000" <= char <= TAG_END for char in run):
        yield start, "unicode.tag-characters"
    selectors = [c for c in run if "\ufe00" <= c <= VS16 or "\U000e0100" <= c <= "\U000e01ef"]
    if selectors:
        many = len(selectors) > 2 or selectors[0] >= "\U000e0100"
        yield start, "unicode.variation-selectors" if many else "unicode.variation-selector"
    if any(char in BIDI for char in run):
        marks_only = all(char in "\u061c\u200e\u200f" for char in run if char in BIDI)
        yield start, "unicode.zero-width" if marks_only else "unicode.bidi"
    if any(unicodedata.category(char) in {"Co", "Cn", "Cs"} for char in run):
        yield start, "unicode.private"
    if any(unicodedata.category(c) == "Cf" and c not in BIDI for c in run) or set(run) & set(
        FILLERS + "\u2028\u2029"
    ):
        yield (
            start,
            "unicode.zero-width-split" if _cuts_word(text, start, end) else "unicode.zero-width",
        )


def _cuts_word(text: str, start: int, end: int) -> bool:
    """Whether ASCII letters stand on both sides."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return bool(before.isascii() and before.isalnum() and after.isascii() and after.isalnum())


def _is_honest(text: str, start: int, end: int) -> bool:
    run = text[start:end]
    before, after = text[start - 1 : start], text[end : end + 1]
    if run in {VS15, VS16}:
        if before and before in "0123456789#*":
            return run == VS16 and after == KEYCAP
        return _within(_TO_EMOJI, before) or _within(_PICTOGRAPHS, before)
    if run in {ZWJ, VS16 + ZWJ}:
        return _is_emoji_part(before) and _within(_PICTOGRAPHS, after) or _joins(before, run, after)
    if run == ZWNJ:
        return _joins(before, run, after)
    if before == FLAG and run.endswith(TAG_END):
        spelled = "".join(chr(ord(char) - 0xE0000) for char in run[:-1] if char > "\U000e0000")
        return spelled in UNICODE["tag_flags"] and len(run) == len(spelled) + 1
    return False


def _is_emoji_part(char: str) -> bool:
    return _within(_PICTOGRAPHS, char) or "\U0001f3fb" <= char <= "\U0001f3ff"


def _joins(before: str, run: str, after: str) -> bool:
    """Whether a joiner stands between letters of a script that uses it."""
    if run not in {ZWNJ, ZWJ} or not before or not after:
        return False
    script = _script(before)
    if script not in UNICODE["joining"]:
        return False
    # After a virama a joiner shapes the letter before it, so a word may end there.
    is_virama = unicodedata.combining(before) == 9
    return script == _script(after) or is_virama and not (after.isascii() and after.isalnum())


def _script(char: str) -> str:
    return unicodedata.name(char, "?").split(" ")[0]


def _read_ranges(spec: str) -> tuple[tuple[str, str], ...]:
    pairs = (one.partition("-") for one in spec.split())
    return tuple((chr(int(low, 16)), chr(int(high or low, 16))) for low, _, high in pairs)


def _within(ranges: tuple[tuple[str, str], ...], char: str) -> bool:
    return bool(char) and any(low <= char <= high for low, high in ranges)


_PICTOGRAPHS = _read_ranges(UNICODE["pictographs"])
_TO_EMOJI = _read_ranges(UNICODE["turn_to_emoji"])
_RECENT = _read_ranges(UNICODE["recent"])

# ---------------------------------------------------------------------------------------------

_ALIKE = "".join(map(chr, CONFUSABLES))
_ALIKE += "".join(sorted({char.upper() for char in _ALIKE if len(char.upper()) == 1} - set(_ALIKE)))
_ALIKE_SET = frozenset(_ALIKE)
_TOKEN = re.compile(f"[A-Za-z0-9{_ALIKE}]*[{_ALIKE}][\\w{_ALIKE}]*")
# Letters of full width and of mathematics: the same word in another dress.
_STYLED = re.compile("[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u24b6-\u24e9]{2,30}")
_MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff]{5,}")
_KNOWN = frozenset(
    name
    for group in (
        "downloaders",
        "senders",
        "shells",
        "interpreters",
        "wrappers",
        "decoders",
        "deleters",
        "installers",
        "agents",
    )
    for name in COMMANDS[group]
    if len(name) > 2
) | {
    "git",
    "github",
    "google",
    "anthropic",
    "openai",
    "microsoft",
    "paypal",
    "system",
    "user",
    "ignore",
    "import",
    "eval",
    "exec",
    "subprocess",
    "admin",
    "skill",
    "claude",
    "secure",
}


def _lookalikes(text: str) -> Iterator[tuple[int, str]]:
    for found in _MARKS.finditer(text):
        yield found.start(), "unicode.marks"
    for found in _STYLED.finditer(text):
        if unicodedata.normalize("NFKC", found[0]).lower() in _KNOWN:
            yield found.start(), "unicode.lookalike-command"
    if _ALIKE_SET.isdisjoint(text):
        return
    for found in _TOKEN.finditer(text):
        rule = _judge_token(text, found)
        if rule:
            yield found.start(), rule


def _judge_token(text: str, found: re.Match[str]) -> str:
    token = found[0]
    latin = sum(1 for char in token if char.isascii() and char.isalpha())
    alike = sum(1 for char in token if char in _ALIKE_SET)
    others = sum(1 for char in token if char.isalpha()) - latin - alike
    if others:
        return ""
    folded = token.lower().translate(CONFUSABLES)
    if folded in _KNOWN and (latin or _is_in_latin_line(text, found)):
        return "unicode.lookalike-command"
    if not latin or alike + latin < 3:
        return ""
    if _is_in_address(text, found):
        return "unicode.lookalike-command"
    return "" if _is_inflected(token) or _is_formula(token, alike) else "unicode.lookalike"


def _is_in_latin_line(text: str, found: re.Match[str]) -> bool:
    """Whether the line is otherwise Latin, so that a foreign word in it poses as one of them."""
    start = text.rfind("\n", 0, found.start()) + 1
    line = text[start : text.find("\n", found.end())].replace(found[0], "")
    letters = [char for char in line if char.isalpha()]
    return sum(1 for char in letters if char.isascii()) > 0.8 * len(letters)


def _is_in_address(text: str, found: re.Match[str]) -> bool:
    before = text[max(0, found.start() - 60) : found.start()].split(" ")[-1]
    return "://" in before or text[found.end() : found.end() + 5] in {".com/", ".org/", ".com "}


def _is_inflected(token: str) -> bool:
    """Whether a Latin abbreviation carries one ending in another script, as in Russian text."""
    latin = len(token) - len(token.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
    return latin >= 2 and not any(char.isascii() for char in token[latin:])


def _is_formula(token: str, alike: int) -> bool:
    """Whether it is a Greek letter used as a symbol, as in `Δx` or `αmax`."""
    greek = [char for char in token if "\u0370" <= char <= "\u03ff"]
    start = token.lstrip("0123456789.")
    return len(greek) == alike == 1 and greek[0] not in "οΟ" and start[:1] == greek[0]
