"""From bytes to text, and from text to the one spelling in which rules are written.

A reader of a skill sees through quotes, emphasis, case, accents, zero-width characters and line
breaks; so does `Words`. Lines survive, so that every finding can name its place.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from .ruleset import CONFUSABLES

NUL = "\0"
MOSTLY = 0.92


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with the encoding it was read in; `odd` names why that encoding is worth a finding."""

    text: str
    encoding: str
    odd: str = ""


def decode(data: bytes) -> Decoded | None:
    """The text in the bytes, or None where they are no text in any encoding a reader would try."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff", "utf-32-be"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return Decoded(text, encoding, "" if encoding == "utf-8" else encoding)
    if b"\0" in data:
        return _with_nuls(data)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _legacy(data)


def utf7(text: str) -> str | None:
    """The text read as UTF-7, where that reveals ASCII somebody took care to hide; else None."""
    if not text.isascii() or not _UTF7.search(text):
        return None
    try:
        plain = text.encode().decode("utf-7")
    except UnicodeDecodeError:
        return None
    return plain if plain != text and plain.isascii() else None


def _with_nuls(data: bytes) -> Decoded | None:
    for encoding, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
        if len(data) >= 8 and zeros.count(0) > 0.7 * len(zeros):
            text = data.decode(encoding, "replace")
            if _printable(text) > MOSTLY:
                return Decoded(text, encoding, encoding)
    bare = data.replace(b"\0", b"")
    if not bare or data.count(0) > len(data) // 4:
        return None
    try:
        text = bare.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return Decoded(text, "utf-8", "nul") if _printable(text) > MOSTLY else None


def _legacy(data: bytes) -> Decoded | None:
    text = data.decode("cp1252", "replace")
    sample = text[:65536]
    controls = sum(1 for char in sample if char < " " and char not in "\t\n\r\f\x1b")
    ascii_share = sum(1 for char in sample if " " <= char <= "~" or char in "\r\n\t") / len(sample)
    odd = "broken" if _BROKEN.search(data) else "legacy"
    return Decoded(text, "cp1252", odd) if ascii_share > 0.75 and controls < 3 else None


# What UTF-8 forbids, and readers that are lenient take for other characters: a longer form than
# needed, half of a surrogate pair, a mark of UTF-16 in the middle.
_BROKEN = re.compile(
    rb"[\xc0\xc1][\x80-\xbf](?![\x80-\xbf])|\xed[\xa0-\xbf][\x80-\xbf]|\xff\xfe|\xfe\xff"
)


def _printable(text: str) -> float:
    sample = text[:65536]
    good = sum(1 for char in sample if char.isprintable() or char in "\t\n\r\f")
    return good / max(1, len(sample))


_UTF7 = re.compile(r"\+A[A-P][A-Za-z0-9+/]{1,}-?")

# ---------------------------------------------------------------------------------------------

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_LINE_HEAD = re.compile(
    rb"(?m)^[ \t]*(?:(?:[-+]|\d{1,3}[.)]|#{1,6})[ \t]+|(?:[*>|;#%]|//+|--+)+[ \t]*)+"
)
_BLANKS = re.compile(rb"[ \t]{2,}")
_COMMENT_MARK = re.compile(rb"<!--|-->")
_STARTS = b"\x1e"
_TABLE = bytes.maketrans(b"-_\r\t\f\v", b"  \n   ")
_DROPPED = bytes(range(0x00, 0x09)) + bytes(range(0x0E, 0x1E)) + b"\x7f\"'`*~\\"
_QUOTES = (
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\u00ab\u00bb\u2039\u203a"
    "\u300c\u300d\u300e\u300f\u301d\u301e"
)
_FOLDED: dict[int, str | None] = {
    **dict.fromkeys(map(ord, _QUOTES)),
    **dict.fromkeys(range(0x2010, 0x2013), " "),
    **dict.fromkeys(range(0x2013, 0x2016), ","),
    **{
        ord(char): plain
        for char, plain in zip("łøđıæœ", ("l", "o", "d", "i", "ae", "oe"), strict=True)
    },
    # Small capitals and the letters of flags are letters to whoever reads.
    **dict(zip(map(ord, "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ"), "abcdefghijklmnopqrstuvwyz", strict=True)),
    **{0x1F1E6 + at: chr(0x61 + at) for at in range(26)},
}


def fold(text: str) -> str:
    """Non-ASCII text without case, accents, width, quotes and everything that cannot be seen."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = unicodedata.normalize("NFKC", _ACCENTS.sub("", text)).translate(_FOLDED)
    if any(unseen(char) for char in set(text)):
        text = "".join(char for char in text if not unseen(char))
    return text


def unseen(char: str) -> bool:
    """Whether the character leaves no mark on a page."""
    if unicodedata.category(char) in {"Cf", "Co", "Cn", "Cs"}:
        return True
    return char in _BLANK or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def normalise(text: str) -> bytes:
    """The text as rules see it, UTF-8, lines kept; `\\x1e` marks where a list item begins."""
    if not text.isascii():
        text = _BEYOND_ASCII.sub(lambda run: fold(run[0]), text)
    data = text.encode("utf-8", "replace").replace(b"\r\n", b"\n").lower()
    if b"\x1b" in data:
        data = _ANSI.sub(b"", data)
    if b"<!--" in data:
        data = _COMMENT_MARK.sub(b" ", data)
    data = _LINE_HEAD.sub(_STARTS, data)
    return _BLANKS.sub(b" ", data.translate(_TABLE, _DROPPED))


class Words:
    """A text in the rules' spelling, with a way back to its lines.

    `flat` has a space for each line break and is what phrases are sought in; `squeezed` has no
    blanks, marks or look-alikes left at all, for phrases that were cut to pieces.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.lined = normalise(text)
        self.flat = self.lined.translate(_FLAT)

    @cached_property
    def _breaks(self) -> list[int]:
        return [found.start() for found in re.finditer(b"\n", self.lined)]

    def line(self, offset: int) -> int:
        """The line, from 1, of an offset in `flat`."""
        return bisect_right(self._breaks, offset - 1) + 1 if offset else 1

    @cached_property
    def boundaries(self) -> list[int]:
        """Offsets at which a sentence ends."""
        return [found.end() for found in _SENTENCE_END.finditer(self.lined)]

    def sentence(self, offset: int) -> int:
        """The number of the sentence that an offset stands in."""
        return bisect_right(self.boundaries, offset)

    def translated(self, table: bytes) -> "Words":
        """The same text with its letters exchanged, offsets unchanged."""
        other = Words("")
        other.lined, other.flat = self.lined.translate(table), self.flat.translate(table)
        return other

    def backwards(self) -> "Words":
        """Each line read from its end."""
        other = Words("")
        lines = self.lined.decode("utf-8", "replace").split("\n")
        other.lined = "\n".join(line[::-1] for line in lines).encode()
        other.flat = other.lined.translate(_FLAT)
        return other

    @cached_property
    def squeezed(self) -> bytes:
        return squeeze(without_comments(self._text))

    def squeezed_line(self, offset: int) -> int:
        """The line, from 1, of an offset in `squeezed`."""
        length, lines = 0, without_comments(self._text).split("\n")
        for number, line in enumerate(lines, start=1):
            length += len(squeeze(line))
            if length > offset:
                return number
        return len(lines)


def squeeze(text: str) -> bytes:
    """Only the letters, with look-alikes and digit spellings made one."""
    if not text.isascii():
        text = _BEYOND_ASCII.sub(lambda run: fold(run[0]).translate(CONFUSABLES), text)
    return text.encode("utf-8", "replace").translate(_SKELETON, _SQUEEZED_OUT)


def without_comments(text: str) -> str:
    """The text without `<!-- -->` and `/* */`; their line breaks stay. An open one stays whole."""
    for start, end in (("<!--", "-->"), ("/*", "*/")):
        kept, at = [], 0
        while (opened := text.find(start, at)) >= 0:
            closed = text.find(end, opened + len(start))
            if closed < 0:
                break
            kept += [text[at:opened], "\n" * text.count("\n", opened, closed)]
            at = closed + len(end)
        if kept:
            text = "".join(kept) + text[at:]
    return text


_FLAT = bytes.maketrans(b"\n\x1e", b"  ")
_SENTENCE_END = re.compile(
    rb"[.!?;](?=\s|$)|\n[ \t]*\n|\x1e|\xe3\x80\x82|\xef\xbc\x81|\xef\xbc\x9f|\xe0\xa5\xa4"
    rb"|\xd8\x9f|\xd8\x9b"
)
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_SKELETON = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0134578@$lL|", b"abcdefghijklmnopqrstuvwxyzoieastbasiii"
)
_SQUEEZED_OUT = bytes(
    code for code in range(0x80) if not chr(code).isalnum() and chr(code) not in "@$|"
)
