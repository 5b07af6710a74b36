"""What the sources of a workspace offer. What a repository says of itself is shown, and decides
nothing: neither order nor verdict, and no prompt contains it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload
from uuid import UUID

from django.db.models import QuerySet

from outside.sentences import unpack

from . import sealing
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
    everything = _listings()
    rows = everything.filter(source=source) if source else everything
    rows = rows.exclude(skipped="") if skipped else rows.filter(skipped="")
    found = list(rows.order_by("name", "source__name", "path"))
    words = text.casefold().split()
    if words:
        found = [row for row in found if _contains(row, words)]
    named = Counter(everything.filter(skipped="").values_list("name", flat=True))
    return Entries(found, named)


def card_of(listing: SkillListing) -> Card:
    """What the repository says about it; empty when it cannot be unsealed any more."""
    said = sealing.open_(listing.sealed)
    return Card(said[0], tuple(map(unpack, said[1]))) if said else Card()


class Entries(Sequence[Entry]):
    """Rows whose cards are unsealed only when they are looked at: a page of many costs little."""

    def __init__(self, rows: Sequence[SkillListing], named: Mapping[str, int]) -> None:
        self._rows, self._named = rows, named
        skills = list(Skill.objects.all())
        self._by_place: dict[tuple[UUID | None, str], Skill] = {
            (skill.source_id, skill.path): skill for skill in skills if skill.source_id
        }
        self._slugs = {skill.slug for skill in skills}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> "Entries": ...
    def __getitem__(self, at: int | slice) -> "Entry | Entries":
        if isinstance(at, slice):
            part = object.__new__(Entries)
            part.__dict__.update(self.__dict__, _rows=self._rows[at])
            return part
        return self._entry(self._rows[at])

    def __iter__(self) -> Iterator[Entry]:
        return map(self._entry, self._rows)

    def _entry(self, row: SkillListing) -> Entry:
        installed = self._by_place.get((row.source_id, row.path))
        return Entry(
            row,
            card_of(row),
            installed,
            name_taken=installed is None and row.name.lower() in self._slugs,
            others=max(0, self._named.get(row.name, 0) - 1),
        )


def _listings() -> QuerySet[SkillListing]:
    added = SkillListing.objects.exclude(source__synced_at=None)
    return added.exclude(source__state=SkillSource.State.REMOVING).select_related("source")


def _contains(row: SkillListing, words: Sequence[str]) -> bool:
    plain = f"{row.name} {row.path} {row.source.name}".casefold()
    left = [word for word in words if word not in plain]
    if not left:
        return True
    said = card_of(row).description.casefold()
    return all(word in said for word in left)
