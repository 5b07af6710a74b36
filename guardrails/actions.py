"""One action as the policy sees it: what kind it is, what it touches, who does it and where.

A facet that is None was *not stated*: nobody knows what the call touches there. That is not the
same as an empty tuple, which says that it touches nothing.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

Word = str | None
"""One word of a command; None where only a running shell knows it (`$x`, `$(…)`, `*`)."""

Words = tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Classes by name (a name outside the closed set asks), facets as they were stated.

    - `paths`: relative to the checkout where inside it, absolute elsewhere.
    - `refs`: full (`refs/heads/x`) or short branch names, tags always full.
    - `hosts`: without scheme and port.
    - `spellings`: the command as typed first, then the same without wrappers and global options.
    - `rewrites`: something at the other end is lost (force, delete); None when nobody knows.
    - `count`, `cents`: how many things this one call touches, what it may cost.
    - `opaque`: the command could not be read whole, so more may happen than the classes say.
    """

    classes: frozenset[str]
    agent_id: str = ""
    space_id: str = ""
    paths: tuple[str, ...] | None = None
    refs: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None
    repositories: tuple[str, ...] | None = None
    spellings: tuple[Words, ...] = ()
    rewrites: bool | None = False
    count: int | None = None
    cents: int | None = None
    opaque: bool = False

    @property
    def command(self) -> Words:
        """The command as typed; empty when the action is no command."""
        return self.spellings[0] if self.spellings else ()


def starts_with(words: Words, prefix: Iterable[str]) -> bool | None:
    """Whether the words begin with the prefix, word for word; None when a word is unknown."""
    prefix = tuple(prefix)
    if not prefix or len(words) < len(prefix) or not words:
        return False
    pairs = list(zip(words[: len(prefix)], prefix, strict=True))
    if any(word is not None and word != wanted for word, wanted in pairs):
        return False
    return None if any(word is None for word, _ in pairs) else True


def might_start_with(spellings: Iterable[Words], prefix: Iterable[str]) -> bool | None:
    """Whether any spelling begins with the prefix: True, False, or None for "cannot rule out"."""
    answers = [starts_with(words, prefix) for words in spellings]
    if True in answers:
        return True
    return None if None in answers else False


def to_json(action: Action) -> dict[str, Any]:
    """Every field, sorted, so that the same action always gives the same text."""
    return {**asdict(action), "classes": sorted(map(str, action.classes))}


def from_json(stored: dict[str, Any]) -> Action:
    """The action of its JSON form."""
    facets = ("paths", "refs", "hosts", "repositories")
    lists = {name: None if stored[name] is None else tuple(stored[name]) for name in facets}
    return Action(
        **(
            stored
            | lists
            | {
                "classes": frozenset(stored["classes"]),
                "spellings": tuple(tuple(words) for words in stored["spellings"]),
            }
        )
    )
