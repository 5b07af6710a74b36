"""Brings skills of a source into memory: what there is, and all files of one of them.

Never a checkout, never a file: the bytes live in this process until they are let go or accepted.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from outside import git
from outside.git.memory import Limits as WireLimits
from outside.git.memory import Session, reading
from outside.sentences import phrase as _
from outside.sentences import phrase_many
from skills.scanning import LIMITS, File

from . import discovery, reach, trees
from .models import SkillSource
from .telling import Telling

MIB = 2**20


class NotOffered(Exception):
    """The commit has no such skill, or one that is passed over; `sentence` is for people."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Fetched:
    """A skill as it is in one commit: every file of it, in memory."""

    commit: str
    tree_sha: str
    offer: discovery.Offer
    files: Mapping[str, File]

    @property
    def folder(self) -> str:
        """The folder's name in its repository; nothing at the root."""
        return self.offer.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Tip:
    """Where a source stands now. `address` is where it finally answered."""

    address: str
    commit: str


def tip(source: SkillSource) -> Tip:
    """The newest commit of the branch or tag that the source follows, asked now.

    Raises a GitError: NotFound, NeedsCredential, Unreachable, EmptyRepository, …
    """
    seen = git.probe(reach.remote_of(source), guard=reach.guard())
    refs = seen.refs()
    wanted = source.ref or seen.default_branch
    for name in (f"refs/heads/{wanted}", f"refs/tags/{wanted}", wanted):
        if name in refs:
            return Tip(seen.address, refs[name])
    if seen.is_empty:
        raise git.EmptyRepository()
    sentence = _("The repository has no branch or tag %(ref)s any more.")
    raise git.NotFound(sentence % {"ref": git.printable(wanted)})


@contextmanager
def opened(
    source: SkillSource, address: str = "", *, telling: Telling | None = None
) -> Iterator[Session]:
    """Within: the source can be read."""
    remote = reach.remote_of(source)
    if address and address != remote.address:
        remote = git.Remote(address, remote.credential if _same_host(address, remote) else None)
    watch, on_bytes = (telling.tick, telling.received) if telling else (None, None)
    with reading(
        remote, guard=reach.guard(), limits=_wire_limits(), watch=watch, on_bytes=on_bytes
    ) as session:
        yield session


def catalogue(
    source: SkillSource, session: Session, commit: str
) -> tuple[str, discovery.Catalogue]:
    """The commit (a tag's is followed) and what it offers, told from its listing alone."""
    commit, entries = session.files(commit)
    listed = [discovery.Entry(entry.path, entry.mode, None, entry.oid) for entry in entries]
    return commit, discovery.discover(listed, repository=reach.display_name(source.address))


def fetch(
    source: SkillSource,
    path: str,
    commit: str,
    *,
    address: str = "",
    telling: Telling | None = None,
) -> Fetched:
    """The whole skill in the folder `path` of one commit.

    Raises NotOffered, or a GitError (CommitGone, TooLarge, NotFound, Unreachable, …).
    """
    with opened(source, address, telling=telling) as session:
        if telling:
            telling.stage(_("Reading the list of files"))
        commit, found = catalogue(source, session, commit)
        offer = found.offer(path)
        if offer is None:
            raise NotOffered(_why_not(path, found))
        if telling:
            count = len(offer.files)
            said = phrase_many("Fetching %(n)d file", "Fetching %(n)d files", count)
            telling.stage(said % {"n": count})
        blobs = session.blobs([entry.oid for entry in offer.files if not _is_module(entry)])
        files = {entry.path: _file(entry, blobs) for entry in offer.files}
    return Fetched(commit, tree_sha(offer), offer, files)


def tree_sha(offer: discovery.Offer) -> str:
    """The id of the tree that the offer's files make, before any of them is read."""
    return trees.of_listing(
        (entry.path, f"{entry.mode:o}".encode(), entry.oid) for entry in offer.files
    )


def _why_not(path: str, found: discovery.Catalogue) -> str:
    for passed in found.passed_over:
        if passed.path == path:
            return _("This folder is passed over: %(reason)s.") % {"reason": passed.reason}
    return _("The source has no skill in this folder any more. It may have been moved or deleted.")


def _file(entry: discovery.Entry, blobs: Mapping[str, bytes]) -> File:
    if _is_module(entry):
        return File(discovery.SUBMODULE, bytes.fromhex(entry.oid))
    return File(entry.mode, blobs[entry.oid])


def _is_module(entry: discovery.Entry) -> bool:
    return entry.mode == discovery.SUBMODULE


def _wire_limits() -> WireLimits:
    return WireLimits(
        seconds=settings.SKILL_FETCH_SECONDS,
        wire_bytes=settings.SKILL_SOURCE_MAX_BYTES,
        inflated_bytes=2 * settings.SKILL_SOURCE_MAX_BYTES + LIMITS.total,
    )


def _same_host(address: str, remote: git.Remote) -> bool:
    return address.split("/")[:3] == remote.address.split("/")[:3]
