"""Finding @handles in a text. What stands in code, in an address or behind a letter is text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
# `@agent-package:name` calls for a package's subagent, never for a colleague.
_MENTION = re.compile(
    r"(?<![\w@/.\-])@(?!agent-[\w.-]+:\w)([A-Za-z0-9][A-Za-z0-9-]{0,62})(?![\w@]|-+\w|\.\w)"
)


@dataclass(frozen=True, slots=True)
class Found:
    """An @handle as written, with its place in characters: text[start:end] == '@' + handle."""

    handle: str
    start: int
    end: int


# `@agent-<name>` and a quoted name call for a subagent; whether there is one is not known here.
_SUBAGENT = "agent-"


def unborne(text: str, handles: Iterable[str]) -> list[str]:
    """The names mentioned in the text that none of the `handles` is, each once, in order."""
    known = {handle.lower() for handle in handles}
    names = {each.handle.lower(): each.handle for each in find(text)}
    return [
        handle
        for name, handle in names.items()
        if name not in known and not name.startswith(_SUBAGENT)
    ]


def find(text: str) -> list[Found]:
    """Every @handle in reading order; whether anybody bears it is for the caller to see."""
    blanked = _CODE.sub(lambda match: " " * len(match.group()), text)
    return [
        Found(match[1].rstrip("-"), match.start(), match.start() + 1 + len(match[1].rstrip("-")))
        for match in _MENTION.finditer(blanked)
    ]
