"""The files of a checkout as the server sees them, and the commits that it makes of them.

Everything goes through the view of `checkouts.opened`: what an agent configured does not run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import folders, history, names
from .checkouts import Checkout, opened, read_head, tip_of
from .command import Command, Place
from .errors import BadName, Damaged, GitError
from .history import Change, Diff
from .process import run

_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge/head-name": "rebase",
    "rebase-apply/head-name": "rebase",
}


class NothingToCommit(GitError):
    code = "nothing_to_commit"
    default = "There is nothing to commit: the files are as in the last commit."


class Unfinished(GitError):
    code = "unfinished"
    default = "Another git operation is under way in this checkout. Finish it first."


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    email: str

    def environment(self, part: str) -> dict[str, str]:
        """The variables that make this the AUTHOR or the COMMITTER. Raises BadName."""
        for text in (self.name, self.email):
            if not text.strip() or any(c in text for c in "<>\n\r\0"):
                raise BadName(f"{names.printable(text)} cannot sign a commit.")
        return {f"GIT_{part}_NAME": self.name, f"GIT_{part}_EMAIL": self.email}


def snapshot(checkout: Checkout) -> str:
    """The work tree as it is now, as a tree of the view; ignored files and nested repositories left
    out. Nothing of the agent's is touched."""
    with opened(checkout) as place:
        return _snapshot(place)


def status(checkout: Checkout, *, base: str | None = None) -> list[Change]:
    """What differs between `base` (default: the last commit) and the files now, new ones too."""
    with opened(checkout) as place:
        return history.changes(place, base or tip_of(checkout), _snapshot(place))


def diff(
    checkout: Checkout,
    *,
    base: str | None = None,
    paths: Sequence[str] = (),
    max_bytes: int = 2 * 2**20,
) -> Diff:
    """The unified diff of what `status` lists."""
    with opened(checkout) as place:
        tree = _snapshot(place)
        return history.diff(place, base or tip_of(checkout), tree, paths=paths, max_bytes=max_bytes)


def log(
    checkout: Checkout, *, limit: int = 50, without: Sequence[str] = ()
) -> list[history.Commit]:
    """The commits of the branch that the checkout stands on, newest first."""
    with opened(checkout) as place:
        tip = tip_of(checkout)
        return history.log(place, tip, without=without, limit=limit) if tip else []


def commit(
    checkout: Checkout,
    message: str,
    *,
    author: Identity,
    committer: Identity,
    paths: Sequence[str] | None = None,
) -> history.Commit:
    """Commits all changes (or those below `paths`) on the current branch; no hook or filter runs.

    Afterwards branch and index of the checkout are at the new commit. Raises NothingToCommit,
    Unfinished, Busy, Damaged or BadName.
    """
    message = message.replace("\0", "").strip()
    if not message:
        raise BadName("A commit needs a message.")
    with opened(checkout) as place:
        _refuse_unfinished(checkout)
        branch, parent = read_head(checkout)
        tree, index = _tree_to_commit(place, parent, paths)
        if parent and run(_rev_parse(place, f"{parent}^{{tree}}")).text.strip() == tree:
            raise NothingToCommit()
        oid = _write_commit(place, tree, parent, message, author, committer)
        _hand_over(checkout, place, oid, parent)
        if read_head(checkout) != (branch, parent):
            raise Damaged("The branch moved while the commit was being made. Try again.")
        if branch:
            folders.put(checkout.shared, f"refs/heads/{branch}", f"{oid}\n".encode())
        else:
            folders.put(checkout.git_dir, "HEAD", f"{oid}\n".encode())
        folders.put(checkout.git_dir, "index", index)
        return history.log(place, oid, limit=1)[0]


def builds_on(checkout: Checkout, old: str, new: str) -> bool:
    """Whether `new` of the checkout contains `old` of the remote."""
    with opened(checkout) as place:
        return history.exists(place, old) and history.is_ancestor(place, old, new)


def _snapshot(place: Place) -> str:
    options = ("-z", "--modified", "--others", "--exclude-standard", "--deduplicate")
    listed = run(Command("ls-files", options, place=place)).stdout.split(b"\0")
    touched = [path for path in listed if path and not path.endswith(b"/") and _is_ours(path)]
    _update_index(place, touched)
    return run(Command("write-tree", place=place)).text.strip()


def _is_ours(path: bytes) -> bool:
    """Whether git will take the path: names that some file systems read as `.git` it will not."""
    return not any(part.lower() in {b".git", b"git~1"} for part in path.split(b"/"))


def _update_index(place: Place, paths: Sequence[bytes]) -> None:
    if not paths:
        return
    options = ("-z", "--add", "--remove", "--replace", "--stdin")
    lines = b"".join(path + b"\0" for path in paths)
    run(Command("update-index", options, place=place), stdin=lines, seconds=300)


def _tree_to_commit(
    place: Place, parent: str | None, paths: Sequence[str] | None
) -> tuple[str, Path]:
    """The tree to commit, and the index file that stands for it."""
    assert place.git_dir is not None
    tree = _snapshot(place)
    if paths is None:
        return tree, place.git_dir / "index"
    wanted = [names.path_inside(path).rstrip("/") for path in paths]
    partial = Place(place.git_dir, place.work_tree, index=place.git_dir / "partial-index")
    run(Command("read-tree", (), (parent or history.EMPTY_TREE,), place=partial))
    touched = [
        path
        for change in history.changes(place, parent, tree)
        for path in (change.path, change.old_path)
        if path and any(path == w or w == "." or path.startswith(f"{w}/") for w in wanted)
    ]
    _update_index(partial, [path.encode("utf-8", "surrogateescape") for path in touched])
    run(Command("update-index", ("-q", "--refresh"), place=partial), ok=(0, 1))
    assert partial.index is not None
    return run(Command("write-tree", place=partial)).text.strip(), partial.index


def _write_commit(
    place: Place,
    tree: str,
    parent: str | None,
    message: str,
    author: Identity,
    committer: Identity,
) -> str:
    signed = author.environment("AUTHOR") | committer.environment("COMMITTER")
    options = (f"-p{parent}",) if parent else ()
    command = Command("commit-tree", options, (tree,), place=place, environment=signed)
    return run(command, stdin=f"{message}\n".encode()).text.strip()


def _hand_over(checkout: Checkout, place: Place, oid: str, parent: str | None) -> None:
    """Afterwards the agent's git directory has the objects of the new commit, in one pack."""
    revisions = f"{oid}\n" + (f"^{parent}\n" if parent else "")
    base = checkout.view / "objects" / "pack" / "pack"
    command = Command("pack-objects", ("--revs", "-q"), (str(base),), place=place)
    name = run(command, stdin=revisions.encode()).text.strip()
    for ending in ("pack", "idx"):
        file = f"objects/pack/pack-{name}.{ending}"
        folders.put(checkout.shared, file, checkout.view / file, mode=0o444)


def _refuse_unfinished(checkout: Checkout) -> None:
    for file, what in _UNFINISHED.items():
        if folders.read(checkout.git_dir, file) is not None:
            raise Unfinished(
                f"A {what} is under way in this checkout. Finish it in the shell first."
            )


def _rev_parse(place: Place, name: str) -> Command:
    return Command("rev-parse", ("--verify", "--quiet"), (name,), place=place)
