"""The lines of front matter, key by key, so that one key can be changed and the rest kept."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_KEY_LINE = re.compile(
    r"""(?P<key>"[^"\n]*"|'[^'\n]*'|[^\s#\[\]{}"'&*!|>%@`,?:-][^:\n]*?|-[^\s:][^:\n]*?)"""
    r"[ \t]*:(?:[ \t]+(?P<value>.*))?[ \t]*\Z"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """The lines of one top-level key, or (key "") what stands before the first one.

    `line` counts from 1 in the front matter; each line in `text` ends with LF.
    """

    key: str
    text: str
    line: int

    @property
    def value_text(self) -> str:
        """What stands behind the colon, continuation lines included, trimmed line by line."""
        first, *rest = self.text.splitlines()
        match = _KEY_LINE.match(first)
        value = (match["value"] or "") if match else first
        return "\n".join([value.strip(), *(line.strip() for line in rest)]).strip()


def cut(front: str, *, is_key: Callable[[str], bool] = lambda key: True) -> list[Segment]:
    """The front matter as segments; their texts joined are the front matter again.

    Only keys that `is_key` accepts begin a segment; other lines belong to the key above them.
    """
    segments: list[Segment] = []
    key, lines, start = "", list[str](), 1
    for number, line in enumerate(front.splitlines(keepends=True), 1):
        match = _KEY_LINE.match(line.rstrip("\n"))
        found = match["key"].strip("\"'") if match else ""
        if match and is_key(found):
            if lines:
                segments.append(Segment(key, "".join(lines), start))
            key, lines, start = found, [], number
        lines.append(line)
    if lines:
        segments.append(Segment(key, "".join(lines), start))
    return segments


def has_prose(segment: Segment) -> bool:
    """The key is followed by lines that are neither indented, nor comments, nor list items."""
    lines = segment.text.splitlines()[1 if segment.key else 0 :]
    return any(line.strip() and line[0] not in " \t#-" for line in lines)
