"""Packs that an agent wants to push: taken into quarantine, checked, and read.

A quarantine is a git directory of the server's own that borrows from the mirror. What is forwarded
later is read from it: only objects that the new tips reach leave, so a pack cannot smuggle others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from . import checkouts, directories, history, names
from .checkouts import Checkout
from .command import Command, Place
from .errors import BadName, Damaged, DiskFull, GitError, TimedOut, TooLarge
from .history import Change, Commit, Diff
from .process import run
from .remotes import RefUpdate

MAX_COMMITS = 200


@dataclass(frozen=True, slots=True)
class Inspected:
    """What one ref update would do. `commits` are the newest of `commit_count` new ones."""

    update: RefUpdate
    kind: str
    base: str | None
    commits: tuple[Commit, ...]
    commit_count: int
    changes: tuple[Change, ...]
    diff: Diff


def quarantine(
    git_dir: Path, *, mirror: Path, pack: BinaryIO | None, max_bytes: int, seconds: float = 300
) -> Place:
    """Afterwards `git_dir` holds the pack's objects, completed and checked, over the mirror's.

    Raises Damaged when the pack is cut, broken, or leans on objects that neither side has.
    """
    directories.lay_out(git_dir, head="refs/heads/none", objects_from=[mirror])
    place = Place(git_dir=git_dir)
    if pack is not None:
        options = ("--stdin", "--fix-thin", "--strict", f"--max-input-size={max_bytes}")
        try:
            run(Command("index-pack", options, place=place), stdin=pack, seconds=seconds)
        except (TooLarge, TimedOut, DiskFull):
            raise
        except GitError as error:
            raise Damaged(
                "The pushed objects are incomplete or damaged.", detail=error.detail
            ) from error
    return place


def inspect(
    place: Place,
    update: RefUpdate,
    *,
    remote_refs: dict[str, str],
    default_branch: str,
    diff_bytes: int = 5 * 2**20,
) -> Inspected:
    """What the update means, over the remote's refs as the mirror has them.

    Raises BadName for a branch that would not point to a commit, Damaged for missing objects.
    """
    kind = kind_of(place, update)
    if update.new == names.ZERO:
        return Inspected(update, kind, update.old, (), 0, (), Diff("", truncated=False))
    known = list(remote_refs.values())
    _require_whole(place, update.new, known)
    tip = run(Command("rev-parse", ("--verify",), (f"{update.new}^{{commit}}",), place=place))
    commit = tip.text.strip()
    base = _base(place, update, commit, remote_refs.get(f"refs/heads/{default_branch}"))
    return Inspected(
        update=update,
        kind=kind,
        base=base,
        commits=tuple(history.log(place, commit, without=known, limit=MAX_COMMITS)),
        commit_count=history.count(place, commit, without=known),
        changes=tuple(history.changes(place, base, commit)),
        diff=history.diff(place, base, commit, max_bytes=diff_bytes),
    )


def kind_of(place: Place, update: RefUpdate) -> str:
    """create, update, force or delete for branches; tag_create, tag_move or tag_delete for tags."""
    is_tag = update.name.startswith("refs/tags/")
    if update.new == names.ZERO:
        return "tag_delete" if is_tag else "delete"
    object_kind = _object_kind(place, update.new)
    if is_tag and object_kind in {"commit", "tag"}:
        return "tag_create" if update.old == names.ZERO else "tag_move"
    if object_kind != "commit":
        raise BadName(f"{update.name} would point to a {object_kind}, not to a commit.")
    if update.old == names.ZERO:
        return "create"
    return "update" if history.is_ancestor(place, update.old, update.new) else "force"


def write_pack(
    checkout: Checkout, tips: Sequence[str], *, without: Iterable[str], into: BinaryIO
) -> None:
    """Writes the thin pack that takes the remote from `without` to `tips`."""
    lines = [names.oid(tip) for tip in tips]
    lines += [f"^{names.oid(oid)}" for oid in dict.fromkeys(without)]
    options = ("--revs", "--thin", "--stdout", "--delta-base-offset", "-q")
    with checkouts.opened(checkout) as place:
        command = Command("pack-objects", options, place=place)
        run(
            command, stdin="".join(f"{line}\n" for line in lines).encode(), stdout=into, seconds=300
        )


def _object_kind(place: Place, oid: str) -> str:
    try:
        return history.kind_of(place, oid)
    except GitError as error:
        raise Damaged("The pushed objects are incomplete.", detail=error.detail) from error


def _require_whole(place: Place, tip: str, known: Iterable[str]) -> None:
    revisions = "".join(f"{line}\n" for line in [tip, *(f"^{oid}" for oid in dict.fromkeys(known))])
    command = Command("rev-list", ("--objects", "--quiet", "--stdin"), place=place)
    try:
        run(command, stdin=revisions.encode(), seconds=300)
    except GitError as error:
        raise Damaged("The pushed objects are incomplete.", detail=error.detail) from error


def _base(place: Place, update: RefUpdate, commit: str, default: str | None) -> str | None:
    """What the diff of an update is shown against."""
    if update.old != names.ZERO:
        return update.old
    return history.merge_base(place, default, commit) if default else None
