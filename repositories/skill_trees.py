"""Which skills one commit of a repository carries, and their bytes.

Only the three places count, and links in them are followed inside the repository: `.claude/skills`
is often a link to `.agents/skills`, or holds links to folders elsewhere. A link that leaves the
repository, ends nowhere or goes in circles is passed over.
"""

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from outside import git
from outside.sentences import phrase as _
from skills import discovery
from skills.discovery import LINK, REPOSITORY_PLACES, SUBMODULE, Entry, Offer, PassedOver
from skills.scanning import LIMITS, File

HOPS = 8
MOST_SKILLS = 500
MOST_BYTES = LIMITS.total
GROUP_BYTES = 8 << 20
MOST_FOLLOWED = 100_000
LONGEST_TARGET = 4096
TOOL_FOLDERS = tuple(place.partition("/")[0] for place in REPOSITORY_PLACES)


@dataclass(frozen=True, slots=True)
class Carried:
    """The skills of a commit in the order of the three places, and what only looks like one."""

    offers: tuple[Offer, ...]
    passed_over: tuple[PassedOver, ...]


def carried(place: git.Place, commit: str) -> Carried:
    """What the commit carries. Raises a GitError when it cannot be read."""
    entries = _Reader(place, commit).entries()
    passed: list[PassedOver] = []
    offers = discovery.in_repository(entries)
    found = _once_each(offers, passed)
    kept, too_many = found[:MOST_SKILLS], found[MOST_SKILLS:]
    passed += [*_shadowed(entries, offers), *(_too_many(offer) for offer in too_many)]
    return Carried(_within(kept, passed), tuple(sorted(passed, key=lambda one: one.path)))


def key_of(offer: Offer) -> str:
    """The same for two commits in which the skill has the same files."""
    total = sha256()
    for entry in sorted(offer.files, key=lambda one: one.path):
        total.update(f"{entry.mode:o} {entry.oid} ".encode())
        total.update(entry.path.encode("utf-8", "surrogateescape") + b"\0")
    return total.hexdigest()


def read(
    place: git.Place, offers: Iterable[Offer]
) -> Iterator[list[tuple[Offer, dict[str, File]]]]:
    """The skills with their bytes, a few at a time. Raises a GitError."""
    for group in _groups(offers):
        oids = [one.oid for offer in group for one in offer.files if one.mode != SUBMODULE]
        size = sum(offer.size or 0 for offer in group)
        bytes_of = git.blobs(place, oids, max_bytes=size)
        yield [(offer, {one.path: _file(one, bytes_of) for one in offer.files}) for offer in group]


def _file(entry: Entry, bytes_of: Mapping[str, bytes]) -> File:
    return File(entry.mode, b"" if entry.mode == SUBMODULE else bytes_of[entry.oid])


def _groups(offers: Iterable[Offer]) -> Iterator[list[Offer]]:
    group: list[Offer] = []
    room = GROUP_BYTES
    for offer in offers:
        group.append(offer)
        room -= offer.size or 0
        if room <= 0:
            yield group
            group, room = [], GROUP_BYTES
    if group:
        yield group


def _once_each(offers: Sequence[Offer], passed: list[PassedOver]) -> list[Offer]:
    """One of those with the same files: links may show one folder under many names."""
    first: dict[str, Offer] = {}
    for offer in offers:
        same = first.setdefault(key_of(offer), offer)
        if same is not offer:
            passed.append(
                PassedOver(offer.path, _("the same files as %(path)s") % {"path": same.path})
            )
    return list(first.values())


def _shadowed(entries: Sequence[Entry], winners: Sequence[Offer]) -> list[PassedOver]:
    """What stands in the three places and is not offered, each with its reason."""
    taken = {offer.path for offer in winners}
    by_name = {offer.name.lower(): offer.path for offer in winners}
    catalogue = discovery.discover(entries)
    passed = [one for one in catalogue.passed_over if _is_in_place(one.path)]
    for offer in catalogue.offers:
        if _is_in_place(offer.path) and offer.path not in taken:
            first = by_name.get(offer.name.lower(), "")
            said = _("%(path)s has the same name and comes first")
            passed.append(PassedOver(offer.path, said % {"path": first}))
    return passed


def _is_in_place(path: str) -> bool:
    return posixpath.dirname(path) in REPOSITORY_PLACES


def _too_many(offer: Offer) -> PassedOver:
    return PassedOver(offer.path, _("more than %(n)d skills") % {"n": MOST_SKILLS})


def _within(offers: Sequence[Offer], passed: list[PassedOver]) -> tuple[Offer, ...]:
    """Those that fit into what one repository may bring along."""
    kept, room = [], MOST_BYTES
    for offer in offers:
        if (offer.size or 0) <= room:
            room -= offer.size or 0
            kept.append(offer)
        else:
            said = _("more than %(n)d MiB of skills") % {"n": MOST_BYTES >> 20}
            passed.append(PassedOver(offer.path, said))
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class _Seen:
    """An entry under the path that a reader of the three places sees; `real` is where it lies."""

    entry: Entry
    real: str

    @property
    def is_open_link(self) -> bool:
        """Whether it is a link in a position where a folder of skills, or a skill, may stand."""
        path = self.entry.path
        folders = {*TOOL_FOLDERS, *REPOSITORY_PLACES}
        return self.entry.mode == LINK and (path in folders or _is_in_place(path))


class _Reader:
    def __init__(self, place: git.Place, commit: str) -> None:
        self._place, self._commit = place, commit

    def entries(self) -> list[Entry]:
        seen = [_Seen(entry, entry.path) for entry in self._list(TOOL_FOLDERS)]
        dead: list[_Seen] = []
        for _hop in range(HOPS):
            links = [one for one in seen if one.is_open_link]
            if not links:
                break
            followed, lost = self._follow(links)
            seen = [one for one in seen if not one.is_open_link] + followed
            dead += lost
        return _once(one.entry for one in (*seen, *dead))

    def _list(self, paths: Sequence[str]) -> list[Entry]:
        return discovery.read_ls_tree(git.listing(self._place, self._commit, paths))

    def _follow(self, links: Sequence[_Seen]) -> tuple[list[_Seen], list[_Seen]]:
        """What the links lead to, under their own paths; and the links that lead nowhere."""
        texts = git.blobs(
            self._place,
            [link.entry.oid for link in links if _is_short(link)],
            max_bytes=LONGEST_TARGET * len(links),
        )
        targets = [_target(link, texts.get(link.entry.oid, b"")) for link in links]
        wanted = sorted({target for target in targets if target})
        found = sorted(self._list(wanted), key=lambda one: one.path) if wanted else []
        followed: list[_Seen] = []
        lost: list[_Seen] = []
        for link, target in zip(links, targets, strict=True):
            inside = _below(found, target) if target else []
            if len(followed) + len(inside) > MOST_FOLLOWED:
                inside = []
            followed += [
                _Seen(replace(one, path=link.entry.path + one.path[len(target) :]), one.path)
                for one in inside
            ]
            lost += [] if inside else [link]
        return followed, lost


def _below(found: Sequence[Entry], target: str) -> list[Entry]:
    """The entries at or below the path, of entries sorted by path."""
    start = bisect_left(found, target, key=lambda one: one.path)
    end = bisect_left(found, target + "0", key=lambda one: one.path)  # "0" comes right after "/"
    return [one for one in found[start:end] if _is_at(one.path, target)]


def _is_short(link: _Seen) -> bool:
    return 0 < (link.entry.size or 0) <= LONGEST_TARGET


def _target(link: _Seen, text: bytes) -> str:
    """The path in the repository that a link leads to; "" when it leads nowhere we go."""
    spelled = text.decode("utf-8", "surrogateescape")
    if not spelled or spelled.startswith("/") or "\0" in spelled or "\\" in spelled:
        return ""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(link.real), spelled))
    # A folder that holds the link would hold itself.
    if target.startswith("..") or target == "." or _is_at(link.real, target):
        return ""
    return "" if ".git" in target.lower().split("/") else target


def _is_at(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _once(entries: Iterable[Entry]) -> list[Entry]:
    return list({entry.path: entry for entry in entries}.values())
