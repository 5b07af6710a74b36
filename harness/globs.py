"""Glob patterns, in time that grows with pattern and text alone: no pattern makes a match slow.

`*` stays inside one segment, `**` crosses segments, `**/` is any folders or none, `?` is one
character. With `sets` also `[a-z]` and `[!a-z]`.
"""

import re
from collections.abc import Callable

_STAR, _STARS, _FOLDERS, _ONE = "*", "**", "**/", "?"
_PLAIN = re.compile(r"\*\*/|\*\*|.", re.DOTALL)
_WITH_SETS = re.compile(r"\*\*/|\*\*|\[!?[^\]]+\]|.", re.DOTALL)
_MEMBERS = re.compile(r"(.)-(.)|(.)", re.DOTALL)


class Glob:
    """A pattern as a machine: bit n is set while the text so far may end before its token n."""

    def __init__(self, pattern: str, *, sets: bool = False) -> None:
        self._tokens = (_WITH_SETS if sets else _PLAIN).findall(pattern)
        self._end = len(self._tokens)
        self._star = self._bits(_STAR.__eq__)
        self._stars = self._bits(_STARS.__eq__)
        self._folders = self._bits(_FOLDERS.__eq__)
        self._skippable = self._star | self._stars | self._folders
        self._takers: dict[str, int] = {}

    def fits(self, text: str) -> bool:
        """Whether the whole text is what the pattern says."""
        states = self._skip(1)
        for char in text:
            over = self._stars if char == "/" else self._stars | self._star
            entered = (states & self._takes(char)) << 1
            states = self._skip(entered | states & over) | states & self._folders
            if not states:
                return False
        return bool(states >> self._end & 1)

    def _skip(self, states: int) -> int:
        """With what comes behind each wildcard that stands for nothing here."""
        while (more := (states & self._skippable) << 1) & ~states:
            states |= more
        return states

    def _takes(self, char: str) -> int:
        """The tokens that are over with this character."""
        if char not in self._takers:
            self._takers[char] = self._bits(lambda token: _is_over(token, char))
        return self._takers[char]

    def _bits(self, holds: Callable[[str], bool]) -> int:
        return sum(1 << place for place, token in enumerate(self._tokens) if holds(token))


def _is_over(token: str, char: str) -> bool:
    if token in (_STAR, _STARS):
        return False
    if char == "/":
        return token in ("/", _FOLDERS)
    return token == _ONE or (token == char if len(token) == 1 else _is_member(char, token[1:-1]))


def _is_member(char: str, members: str) -> bool:
    is_other = members[0] in "!^"
    ranges = _MEMBERS.findall(members[is_other:])
    is_named = any(low <= char <= high if low else char == one for low, high, one in ranges)
    return is_named != is_other
