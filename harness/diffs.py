"""Unified diffs of edits, quick on files of any size."""

import difflib
from collections.abc import Sequence

from harness.text import readable, short_line

CONTEXT = 3
COMPARED = 2_000  # lines of each side that are compared line by line; more is shown as replaced
NO_NEWLINE = "\n\\ No newline at end of file"
SHOWN = 100_000  # characters of a diff


def unified(path: str, old: bytes, new: bytes) -> str:
    """What changed, as a unified diff for people. Empty when nothing did."""
    before, after = _lines(old), _lines(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    shown_from = max(0, start - CONTEXT)
    shown_to = max(0, end - CONTEXT)
    middle = _compare(
        before[shown_from : len(before) - shown_to],
        after[shown_from : len(after) - shown_to],
        offset=shown_from,
    )
    if not middle:
        return ""
    text = "\n".join([f"--- a/{path}", f"+++ b/{path}", *middle])
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\n[… the diff goes on …]"


def counts(diff: str) -> tuple[int, int]:
    """(lines added, lines removed) of a unified diff."""
    lines = diff.split("\n")[2:]
    return sum(x.startswith("+") for x in lines), sum(x.startswith("-") for x in lines)


def _lines(data: bytes) -> list[str]:
    if not data:
        return []
    lines = [short_line(line) for line in readable(data).split("\n")]
    if lines[-1]:
        lines[-1] += NO_NEWLINE
        return lines
    return lines[:-1]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return min(len(left), len(right))


def _compare(before: Sequence[str], after: Sequence[str], *, offset: int) -> list[str]:
    if len(before) > COMPARED or len(after) > COMPARED:
        head = f"@@ -{offset + 1},{len(before)} +{offset + 1},{len(after)} @@"
        return [head, *(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    lines = list(difflib.unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]
    return [_moved(line, offset) if line.startswith("@@") else line for line in lines]


def _moved(head: str, offset: int) -> str:
    """A hunk's head with its line numbers counted from the start of the file."""
    _, old, new, _ = head.split(" ", 3)
    return f"@@ {_shift(old, offset)} {_shift(new, offset)} @@"


def _shift(part: str, offset: int) -> str:
    start, comma, length = part[1:].partition(",")
    return f"{part[0]}{int(start) + offset}{comma}{length}"
