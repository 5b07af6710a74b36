"""Split a Markdown file into front matter and body, whatever its line endings are.

This is the one place that knows about byte order marks, carriage returns and fences.
"""

import hashlib
import re
from dataclasses import dataclass

from agents.library.warning import LoadWarning, warn
from outside.sentences import phrase as _

_OPENING = re.compile(r"\A((?:[ \t]*\n)*)---[ \t]*(?:\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*$", re.MULTILINE)
_LONG_CLOSING = re.compile(r"^-{4,}[ \t]*$", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEADING_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Split:
    """A file in two parts. `front` is None when there is no front matter.

    `front_line` is the line of the file (from 1) on which the front matter's text begins.
    `unterminated`: a fence opens and none closes; the whole text is then the body.
    """

    front: str | None
    body: str
    front_line: int = 0
    unterminated: bool = False
    warnings: tuple[LoadWarning, ...] = ()


def decode(data: bytes) -> tuple[str, tuple[LoadWarning, ...]]:
    """The bytes as text. Bytes that are no UTF-8 become U+FFFD, with a warning."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
        return text, (warn("not-utf8", _("The file is UTF-16; it was converted to UTF-8.")),)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as fault:
        text = data.decode("utf-8", errors="replace")
        sentence = _("Byte %(number)s is not UTF-8; unreadable bytes became U+FFFD.") % {
            "number": fault.start + 1
        }
        return text, (warn("not-utf8", sentence),)


def normalise(text: str) -> str:
    """The text with LF line ends and encodable as UTF-8."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def split(text: str) -> Split:
    """Front matter and body of a text; the body is never lost, even when the fences are wrong."""
    text = normalise(text.removeprefix("\ufeff"))
    opening = _OPENING.match(text)
    if opening is None:
        return Split(None, text)
    closing = _CLOSING.search(text, opening.end())
    is_long = closing is None
    closing = closing or _LONG_CLOSING.search(text, opening.end())
    if closing is None:
        return Split(None, text, unterminated=True)
    blank_lines = opening.group(1).count("\n")
    warnings: tuple[LoadWarning, ...] = ()
    if blank_lines:
        warnings = (warn("blank-before-fence", _("Blank lines stand before the opening ---.")),)
    if is_long:
        sentence = _("The closing fence has more than three dashes; it was taken for one.")
        warnings = (*warnings, warn("long-closing-fence", sentence))
    return Split(
        front=text[opening.end() : closing.start()],
        body=text[closing.end() :].removeprefix("\n"),
        front_line=blank_lines + 2,
        warnings=warnings,
    )


def tidy_body(body: str) -> str:
    """The body with LF ends and without blank lines around it; inner white space is kept."""
    return _LEADING_BLANK_LINES.sub("", normalise(body)).rstrip()


def body_sha256(body: str) -> str:
    """SHA-256 (hex) of the body in UTF-8 with LF, trimmed at both ends."""
    return hashlib.sha256(normalise(body).strip().encode()).hexdigest()
