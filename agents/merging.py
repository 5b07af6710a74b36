"""Two people edited one agent: what only one of them changed is kept, what both did is asked."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clash:
    """A field that both changed, to different values."""

    name: str
    theirs: str
    mine: str


@dataclass(frozen=True, slots=True)
class Merged:
    """`values` to go on with; `taken` are the fields that only the other one changed."""

    values: dict[str, str]
    taken: tuple[str, ...]
    clashes: tuple[Clash, ...]


def merge(
    mine: Mapping[str, str],
    theirs: Mapping[str, str],
    *,
    i_changed: Mapping[str, bool],
    they_changed: Mapping[str, bool],
) -> Merged:
    """Field by field. A field of which nobody knows who changed it counts as changed by both."""
    values, taken, clashes = dict(mine), [], []
    for name, value in theirs.items():
        own = mine.get(name, "")
        if own == value:
            continue
        if not i_changed.get(name, True):
            values[name] = value
            taken.append(name)
        elif they_changed.get(name, True):
            clashes.append(Clash(name, theirs=value, mine=own))
    return Merged(values, tuple(taken), tuple(clashes))
