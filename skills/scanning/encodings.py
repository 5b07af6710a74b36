"""Text inside text: base64, hex, escapes and their kind, decoded where the result means something.

A decoded piece is worth reading when it is text, or when its first bytes are a known form.
"""

import base64
import binascii
import html
import re
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .kinds import kind

LONGEST = 8 << 20
SHORTEST = 10
SUMS = frozenset({16, 20, 28, 30, 32, 48, 64})


@dataclass(frozen=True, slots=True)
class Found:
    """What an encoded piece decodes to, and at which character of the text it begins."""

    label: str
    at: int
    data: bytes


_TOKEN = re.compile(r"(?<!\S)\S{16,}")
_RUN = re.compile(r"[A-Za-z0-9+/_-]{16}|(?:\\u\{?[0-9A-Fa-f]{4}\}?|[\\%=].{2,4}){4}")
_WRAPPED = re.compile(
    r"(?m)^[ \t\"'#/*>]*([A-Za-z0-9+/_-]{40,}[\"' \t\\+]*\r?\n"
    r"(?:[ \t\"'#/*>]*[A-Za-z0-9+/_-]{40,}[\"' \t\\+]*\r?\n)*"
    r"[ \t\"'#/*>]*[A-Za-z0-9+/_-]{2,}={0,2})"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}[\s:\\,-]?){10,}(?![0-9A-Za-z])")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{16,}={0,6}(?![A-Za-z0-9])")
_ESCAPES = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\u\{?[0-9A-Fa-f]{2,6}\}?|\\[0-3][0-7]{2}){4,}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}[A-Za-z0-9./_-]{0,3}){6,}")
_PERCENT_TWICE = re.compile(r"(?:[^\s%]{0,40}%25[0-9A-Fa-f]{2}){3,}[^\s%]{0,40}")
_POINTS = re.compile(r"(?:U\+[0-9A-Fa-f]{4,6}[\s,;]{0,3}){8,}")
_ENTITIES = re.compile(r"(?:&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});?\s?){4,}")
_NUMBERS = re.compile(
    r"(?<![\w.])(?:(?:0x[0-9A-Fa-f]{2}|\d{2,3})(?:\s{0,9},\s{0,9}|\s{1,9})){8,}"
    r"(?:0x[0-9A-Fa-f]{2}|\d{2,3})(?![\w.])"
)
_BITS = re.compile(r"(?<![01])(?:[01]{8}[\s,]?){6,}(?![01])")
_QUOTED_PRINTABLE = re.compile(r"(?:=[0-9A-F]{2}){6,}")
_MORSE_RUN = re.compile(r"(?:[.-]{1,5}[ /|]{1,3}){20,}[.-]{1,5}")
_MORSE_CODE = (
    "a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-."
    " s... t- u..- v...- w.-- x-..- y-.-- z--.. 0----- 1.---- 2..--- 3...-- 4....- 5..... 6-...."
    " 7--... 8---.. 9----."
)
_MORSE = {entry[1:]: entry[0] for entry in _MORSE_CODE.split()}
_BASE85_QUOTED = re.compile(r"([\"'])([!#-&(-~]{20,})\1")
_JOINTS = re.compile(r"[\"']\s{0,20}(?:\+|\.|,|\\|&|\)\s*\+\s*\()?\s{0,20}[\"']")
_ASSIGNED = re.compile(r"[\"']([A-Za-z0-9+/=_-]{4,})[\"']")


def find(text: str) -> Iterator[Found]:
    """Every piece of the text that decodes to something a reader or a program could use."""
    yield from _in_words(text)
    shapes = _shapes(text)
    for label, pattern, decoder, sign in _OVER_LINES:
        if sign in shapes or sign in text:
            yield from _matches(label, pattern, decoder, text, 0)
    joined = _JOINTS.sub("", text)
    if joined != text:
        yield from (Found(f"{one.label}, joined", 0, one.data) for one in _in_words(joined))
    pieces = "".join(_ASSIGNED.findall(text))
    if len(pieces) >= 2 * SHORTEST and _has_joiner(text):
        for label, decoder in (("hex", _hex), ("base64", _base64)):
            yield from _attempt(f"{label}, in pieces", 0, pieces, decoder)


_GROUPS = re.compile(
    r"(?<!\S)(?:(?:[A-Za-z0-9+/]{4} ){7,}|(?:[A-Za-z0-9+/]{8} ){4,}|(?:[A-Za-z0-9+/]{16} ){2,})"
    r"[A-Za-z0-9+/]{1,16}={0,2}(?!\S)"
)
_LONG = re.compile(r"={0,2}[A-Za-z0-9+/]{32,}")


def _shapes(text: str) -> set[str]:
    """Which digit-by-digit schemes the text could hold at all, told by what its characters are."""
    data = text.encode("utf-8", "replace")
    found = set()
    hexed = data.translate(_HEX_SHAPE)
    if b"h" * 20 in hexed or b"hh hh hh" in hexed or b"hh  hh  hh" in hexed:
        found.add("hex")
    digits = data.translate(_DIGIT_SHAPE)
    if any(one in digits for one in _NUMBER_SHAPES) or data.count(b"0x") > 8:
        found.add("numbers")
    if b"b" * 8 in data.translate(_BIT_SHAPE):
        found.add("bits")
    letters = data.translate(_LETTER_SHAPE)
    if any(one in letters for one in _GROUP_SHAPES):
        found.add("groups")
    return found


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _shape(members: bytes, letter: str) -> bytes:
    """A table that makes members one letter, separators a blank and everything else a dot."""
    return bytes(
        ord(letter) if code in members else 0x20 if code in b" \t\r\n:,\\-x" else 0x2E
        for code in range(256)
    )


_HEX_SHAPE = _shape(b"0123456789abcdefABCDEF", "h")
_DIGIT_SHAPE = _shape(b"0123456789", "d")
_BIT_SHAPE = _shape(b"01", "b")
_LETTER_SHAPE = bytes(0x68 if chr(code) in _LETTERS else code for code in range(256))
_GROUP_SHAPES = tuple((b"h" * size + b" ") * count for size, count in ((4, 7), (8, 4), (16, 2)))
_NUMBER_SHAPES = tuple(b"dd" + b" " * gap + b"dd" for gap in range(1, 9))


def _in_words(text: str) -> Iterator[Found]:
    """What is encoded in one word without blanks; a word that comes again says nothing new."""
    seen: set[str] = set()
    for word in _TOKEN.finditer(text):
        token = word[0]
        if token in seen:
            continue
        seen.add(token)
        for label, pattern, decoder, sign in _IN_WORDS if _is_worth(token) else ():
            if sign in token:
                yield from _matches(label, pattern, decoder, token, word.start())
        if len(token) > 31 and _LONG.fullmatch(token):
            yield from _attempt("base64, backwards", word.start(), token[::-1], _base64)
        yield from _base85(word.start(), token.lstrip("\"'`(<~").rstrip("\"'`)],.;:~>"))
        if '"' in token or "'" in token:
            for quoted in _BASE85_QUOTED.finditer(token):
                yield from _base85(word.start(), quoted[2])


def _is_worth(token: str) -> bool:
    return bool(_RUN.search(token)) or "%25" in token


def _matches(
    label: str, pattern: re.Pattern[str], decoder: Callable[[str], bytes | None], text: str, at: int
) -> Iterator[Found]:
    for found in pattern.finditer(text):
        if found.end() - found.start() <= LONGEST:
            yield from _attempt(label, at + found.start(), found[0], decoder)


def _base85(at: int, token: str) -> Iterator[Found]:
    if (
        len(token) < 20
        or len(token) > 1 << 20
        or "://" in token
        or not _LOOKS_85.search(token[:400])
    ):
        return
    for label, decoder in (("base85", base64.b85decode), ("ascii85", base64.a85decode)):
        if any(_attempt(label, at, token[:40], decoder)):
            yield from _attempt(label, at, token, decoder)


_LOOKS_85 = re.compile(r"[!#$%&(*;<?@^`{|}~].*[!#$%&(*;<?@^`{|}~]|[A-Z].*[a-z].*[0-9]")


def _has_joiner(text: str) -> bool:
    return bool(re.search(r"\+|join|concat|fromhex|unhexlify|decode|atob|\.\.", text))


def _attempt(
    label: str, at: int, encoded: str, decoder: Callable[[str], bytes | None]
) -> Iterator[Found]:
    try:
        data = decoder(encoded)
    except (ValueError, binascii.Error, OverflowError, UnicodeError):
        return
    if data and len(data) >= SHORTEST and _means_something(data):
        yield Found(label, at, data)


def _means_something(data: bytes) -> bool:
    if kind(data) not in {"text", "media", "bitmap", "icon", "data", "tiff", "font"}:
        return True
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return len(data) >= 24 and data[1::2].count(0) > 0.8 * len(data[1::2])
    readable = sum(1 for char in text[:4096] if char.isprintable() or char in "\r\n\t")
    return readable > 0.95 * min(len(text), 4096) and bool(
        re.search(r"[A-Za-z]{2}|[^\x00-\x7f]{2}", text)
    )


def _base64(encoded: str) -> bytes:
    bare = re.sub(r"[\s\\\"'#*>]", "", encoded).rstrip("=").replace("-", "+").replace("_", "/")
    bare = bare[: len(bare) - 1] if len(bare) % 4 == 1 else bare
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def _hex(encoded: str) -> bytes:
    bare = re.sub(r"0x|[^0-9A-Fa-f]", "", encoded)
    data = bytes.fromhex(bare[: len(bare) // 2 * 2])
    # A sum of a file is noise; by chance some begin like a known form.
    return b"" if len(data) in SUMS and not data.isascii() else data


def _base32(encoded: str) -> bytes:
    bare = encoded.rstrip("=")
    return base64.b32decode(bare + "=" * (-len(bare) % 8))


def _escapes(encoded: str) -> bytes:
    plain = re.sub(r"\\u\{?([0-9A-Fa-f]{2,6})\}?", lambda one: chr(int(one[1], 16)), encoded)
    plain = re.sub(r"\\x([0-9A-Fa-f]{2})", lambda one: chr(int(one[1], 16)), plain)
    plain = re.sub(r"\\([0-3][0-7]{2})", lambda one: chr(int(one[1], 8)), plain)
    return plain.encode("utf-8", "replace")


def _numbers(encoded: str) -> bytes | None:
    values = [int(one, 0) for one in re.findall(r"0x[0-9A-Fa-f]{2}|[1-9]\d{1,2}", encoded)]
    if all(9 <= value < 127 for value in values):
        return bytes(values)
    plain = encoded.split()
    octal = [int(one, 8) for one in plain] if all(map(_OCTAL.fullmatch, plain)) else [0]
    return bytes(octal) if all(9 <= value < 127 for value in octal) else None


_BYTES = re.compile(
    r"(?<=[\[({])\s{0,9}(?:(?:0x[0-9A-Fa-f]{2}|\d{1,3})\s{0,9},\s{0,9}){12,}+(?:0x[0-9A-Fa-f]{2}|\d{1,3})"
    r"[^\^\n]{0,20}(?:[^\^]{0,400}?\^=?\s{0,3}(?:0x[0-9A-Fa-f]{1,2}|\d{1,3})\b)"
)


def _unmasked(encoded: str) -> bytes | None:
    """Bytes that the code behind them masks with one number."""
    listed, _, mask = encoded.rpartition("^")
    numbers = re.match(r"[\s\d,xa-fA-F]+", listed)
    key = int(mask.lstrip("= \t\n"), 0)
    values = [int(one, 0) ^ key for one in re.findall(_BYTE, numbers[0] if numbers else "")]
    return bytes(values) if all(9 <= value < 127 for value in values) else None


_BYTE = re.compile(r"0x[0-9A-Fa-f]{2}|[1-9]\d{0,2}")
_OCTAL = re.compile(r"[0-7]{2,3}")


def _percent_twice(encoded: str) -> bytes:
    return urllib.parse.unquote_to_bytes(urllib.parse.unquote(encoded))


def _points(encoded: str) -> bytes:
    """`U+0069 U+0067`: characters by their numbers."""
    found = re.findall(r"[0-9A-Fa-f]{4,6}", encoded)
    return "".join(chr(int(one, 16) % 0x110000) for one in found).encode("utf-8", "replace")


def _bits(encoded: str) -> bytes:
    bare = re.sub(r"[^01]", "", encoded)
    return bytes(int(bare[at : at + 8], 2) for at in range(0, len(bare) - 7, 8))


Scheme = tuple[str, re.Pattern[str], Callable[[str], bytes | None], str]
_IN_WORDS: tuple[Scheme, ...] = (
    ("base64", _BASE64, _base64, ""),
    ("base32", _BASE32, _base32, ""),
    ("escapes", _ESCAPES, _escapes, "\\"),
    ("percent", _PERCENT, lambda text: urllib.parse.unquote_to_bytes(text), "%"),
    ("percent, twice", _PERCENT_TWICE, _percent_twice, "%25"),
    ("quoted-printable", _QUOTED_PRINTABLE, lambda text: binascii.a2b_qp(text), "="),
)


def _morse(text: str) -> bytes:
    words = re.split(r"\s*[/|]\s*|\s{3,}", text)
    return " ".join("".join(_MORSE.get(one, "") for one in word.split()) for word in words).encode()


_UUENCODED = re.compile(r"(?m)^begin [0-7]{3,4} \S[^\n]*\n(?:[!-`][ -`]{0,61}\n)+\s*end\b")


def _uudecode(text: str) -> bytes | None:
    try:
        return b"".join(binascii.a2b_uu(line) for line in text.split("\n")[1:-1] if line.strip())
    except binascii.Error:
        return None


_OVER_LINES: tuple[Scheme, ...] = (
    ("base64", _WRAPPED, _base64, "\n"),
    ("hex", _HEX, _hex, "hex"),
    ("base64, in groups", _GROUPS, _base64, "groups"),
    ("entities", _ENTITIES, lambda text: html.unescape(text).encode("utf-8", "replace"), "&#"),
    ("numbers", _NUMBERS, _numbers, "numbers"),
    ("bits", _BITS, _bits, "bits"),
    ("numbers, masked", _BYTES, _unmasked, "^"),
    ("morse", _MORSE_RUN, _morse, ".-"),
    ("code points", _POINTS, _points, "U+"),
    ("uuencode", _UUENCODED, _uudecode, "begin "),
)
