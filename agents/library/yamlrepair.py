"""Read front matter that is not quite YAML, as real agent files are.

The usual fault is a description with an unquoted `: ` in it. What is repaired is text that
should have stood in quotes, tabs used for indenting, and control characters; each repair is a
warning. Anything else is refused with its line.
"""

import re

from agents.library import segments, yamlread, yamlwrite
from agents.library.known import KNOWN_KEYS, TEXT_KEYS
from agents.library.segments import Segment
from agents.library.warning import LoadWarning, warn
from agents.library.yamlread import FrontMatter, FrontMatterError
from outside.sentences import phrase as _

_MAX_SEGMENTS = 200
_LEADING_TABS = re.compile(r"^[ ]*\t[ \t]*", re.MULTILINE)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_STRUCTURE = tuple("[{\"'|>&!")
# Indented by mistake; as prose it would limit nothing.
_LIMIT = re.compile(
    r"^[ \t]+(?:tools|disallowedTools|permissions?|permissionMode|approvalMode)[ \t]*:",
    re.MULTILINE,
)


def load(front: str, *, first_line: int = 1) -> tuple[FrontMatter, tuple[LoadWarning, ...]]:
    """The mapping and what had to be repaired; raises FrontMatterError when it cannot be read.

    `first_line` is the line of the file on which `front` begins; lines in warnings and errors
    are lines of the file.
    """
    try:
        return yamlread.load(front), ()
    except FrontMatterError as fault:
        mended = _mended(front, first_line) if fault.code == "invalid-yaml" else None
        if mended is None:
            line = fault.line + first_line - 1 if fault.line else 0
            raise FrontMatterError(fault.code, fault.sentence, line) from None
        return mended


def mend(front: str) -> str:
    """The front matter as YAML, repaired where needed; raises FrontMatterError."""
    try:
        yamlread.load(front)
    except FrontMatterError:
        cleaned, _said_of_it = _clean(front)
        for parts in _cuts(cleaned):
            text = "".join(_quoted(part) for part in parts)
            if _loads(text):
                return text
        raise
    return front


def _mended(front: str, first_line: int) -> tuple[FrontMatter, tuple[LoadWarning, ...]] | None:
    cleaned, warnings = _clean(front)
    if warnings and _loads(cleaned):
        return yamlread.load(cleaned), tuple(warnings)
    for parts in _cuts(cleaned):
        texts = [_quoted(part) for part in parts]
        if not _loads("".join(texts)):
            continue
        changed = [part for part, text in zip(parts, texts, strict=True) if text != part.text]
        said = (_said(part, first_line) for part in changed)
        return yamlread.load("".join(texts)), (*warnings, *said)
    return None


def _clean(front: str) -> tuple[str, list[LoadWarning]]:
    """Tabs at the start of lines as spaces, control characters as U+FFFD."""
    warnings = []
    without_tabs = _LEADING_TABS.sub(lambda match: match.group().expandtabs(2), front)
    if without_tabs != front:
        warnings.append(warn("tab-indent", _("Tabs indent the front matter; read as spaces.")))
    cleaned = _CONTROL.sub("\ufffd", without_tabs)
    if cleaned != without_tabs:
        warnings.append(warn("control-character", _("Control characters became U+FFFD.")))
    return cleaned, warnings


def _cuts(front: str) -> list[list[Segment]]:
    """Ways to see the keys: each `word:` line as a key, or only the words that we know."""
    every = segments.cut(front)
    known = segments.cut(front, is_key=KNOWN_KEYS.__contains__)
    keys = [part.key for part in every]
    is_tidy = len(set(keys)) == len(keys) and not any(map(segments.has_prose, every))
    candidates = [every, known] if is_tidy else [known]
    return [parts for parts in candidates if len(parts) <= _MAX_SEGMENTS]


def _quoted(part: Segment) -> str:
    """The segment, its value in quotes when it cannot be read without."""
    if not part.key or _loads(part.text) or _LIMIT.search(part.text):
        return part.text
    value = part.value_text
    if part.key.lower() not in TEXT_KEYS and value.startswith(_STRUCTURE):
        return part.text
    return yamlwrite.emit_pair(part.key, value)


def _loads(text: str) -> bool:
    try:
        yamlread.load(text)
    except FrontMatterError:
        return False
    return True


def _said(part: Segment, first_line: int) -> LoadWarning:
    sentence = _(
        "The value of `%(key)s` is no YAML without quotes (often because of a colon); "
        "it was read as text."
    )
    line = part.line + first_line - 1
    return warn("yaml-repaired", sentence % {"key": part.key}, line=line)
