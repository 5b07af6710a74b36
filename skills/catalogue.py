"""What the sources of a workspace offer. What a repository says of itself is shown, and decides
nothing: neither order nor verdict, and no prompt contains it."""

from collections.abc import Sequence
from dataclasses import dataclass

from .models import Skill, SkillListing, SkillSource


@dataclass(frozen=True, slots=True)
class Card:
    """What a repository says about one of its skills: untrusted text, with invisible characters
    spelled out. `remarks` are ours (odd file name, links, …) but name its files."""

    description: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the catalogue. `installed` is the skill that came from exactly this source and
    path; `name_taken` another skill of the workspace that bears the name."""

    listing: SkillListing
    card: Card
    installed: Skill | None = None
    name_taken: bool = False
    others: int = 0  # further listings of the same name, in this or another source


def search(
    text: str = "", *, source: SkillSource | None = None, skipped: bool = False
) -> Sequence[Entry]:
    """The offers of all added sources whose name, path or description contains every word of
    `text`, ordered by name, source and path; with `skipped` those that are passed over."""
    raise NotImplementedError


def card_of(listing: SkillListing) -> Card:
    """What the repository says about it; empty when it cannot be unsealed any more."""
    raise NotImplementedError
