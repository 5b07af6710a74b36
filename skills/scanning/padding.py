"""Text that stands where nobody looks: far below, far to the right, or spelled in blanks."""

import re

from .report import Report

_BLANK_LINES = re.compile(r"(?:[ \t\r\f\v\xa0\u3000]*\n){60,}[ \t\f\v\xa0]*(?=\S)")
_FAR_RIGHT = re.compile(r"[^\s|][ \t]{150,}(?=[^\s|])|(?m:^)[ \t]{400,}(?=\S)")
_MARKUP_BLANKS = re.compile(r"(?i)(?:(?:<br\s{0,3}/?>|&nbsp;|&#160;|&emsp;)\s{0,20}){40,}")
_TRAILING = re.compile(r"(?m)[ \t]{4,}$")
_BLANKS = dict.fromkeys(map(ord, "\t\f\v\xa0\u3000"), " ")
LONG_BODY = 512 << 10


def check(text: str, file: str, report: Report) -> None:
    """Reports padding that hides, and blanks that spell."""
    blanks = text.translate(_BLANKS)
    for pattern, what, shape, within in (
        (_BLANK_LINES, "blank lines", "\n" * 60, blanks.replace(" ", "").replace("\r", "")),
        (_FAR_RIGHT, "blanks", " " * 150, blanks),
        (_MARKUP_BLANKS, "characters of blank markup", "", text),
    ):
        found = pattern.search(text) if shape in within else None
        if found:
            line = text.count("\n", 0, found.end()) + 1
            size, then = found.end() - found.start(), text[found.end() : found.end() + 80]
            excerpt = f"{size} {what}, then: {then}"
            report.add("structure.padding", file, line=line, excerpt=excerpt)
    trailing = _TRAILING.findall(text) if "\t" in text else []
    mixed = [one for one in trailing if " " in one and "\t" in one]
    if len(mixed) >= 4 or sum(map(len, mixed)) > 60:
        report.add("encoding.blank-code", file, excerpt=f"{len(mixed)} lines")
    if file.lower() == "skill.md" and len(text) > LONG_BODY:
        report.add("structure.oversize-body", file, excerpt=f"{len(text)} characters")
