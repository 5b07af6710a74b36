"""Reading accepted skills once more, for a prompt or a folder: the bytes that were scanned."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from outside import git
from skills.scanning import File, digest

from . import skill_trees
from .skill_standing import Standing


@dataclass(frozen=True, slots=True)
class Loaded:
    """A skill with its bytes. `files` is None when they are not those that were scanned."""

    standing: Standing
    files: Mapping[str, File] | None


def load(checkout: git.Checkout, commit: str, wanted: Sequence[Standing]) -> Iterator[Loaded]:
    """Each of the skills as the commit has it, a few in memory at a time. Raises a GitError."""
    if not wanted:
        return
    with git.readable(checkout) as place:
        carried = skill_trees.carried(place, commit)
        offers = {offer.path: offer for offer in carried.offers}
        asked = {one.path: one for one in wanted}
        present = [offer for path, offer in offers.items() if path in asked]
        for group in skill_trees.read(place, present):
            for offer, files in group:
                standing = asked.pop(offer.path)
                is_same = digest(files) == standing.digest
                yield Loaded(standing, files if is_same else None)
    yield from _gone(asked.values())


def _gone(standings: Iterable[Standing]) -> Iterator[Loaded]:
    for standing in standings:
        yield Loaded(standing, None)
