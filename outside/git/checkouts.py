"""A conversation's checkout: its own git directory, its work tree, and the server's view of both.

Agents write into the git directory and the work tree, so the server never lets git read a
configuration, hook or attribute file from there that names a program. It works through a *view*: a
git directory of the server's own that borrows the agent's objects. Of the agent's git directory it
reads only HEAD, refs and packed refs, as data, and follows no link.

`git add` and `git status` are not used on a work tree: git runs `git status` inside every nested
repository that the index knows, with that repository's configuration, which an agent may have
written (seen with git 2.39). `ls-files` and `update-index` do not.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from outside.sentences import phrase

from . import directories, folders, history, names
from .command import Command, Place
from .errors import BadName, Damaged, DiskFull, GitError, TooLarge
from .locks import exclusive
from .process import run

MAX_FILES = 200_000
UNBORN = "refs/heads/unborn"
_REMOTE = """\
[remote "origin"]
\turl = "{address}"
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "{branch}"]
\tremote = origin
\tmerge = "refs/heads/{branch}"
[push]
\tdefault = simple
\tautoSetupRemote = true
"""


@dataclass(frozen=True, slots=True)
class Checkout:
    """Where one repository of a conversation lies.

    `git_dir` and `work_tree` belong to the agents; `view` and the bare `mirror` to the server.
    `common` is set for a linked worktree: the git directory of its main checkout, which has the
    objects and refs of both.
    """

    git_dir: Path
    work_tree: Path
    view: Path
    mirror: Path
    common: Path | None = None

    @property
    def shared(self) -> Path:
        """The git directory with objects, refs and configuration."""
        return self.common or self.git_dir

    @property
    def place(self) -> Place:
        return Place(git_dir=self.view, work_tree=self.work_tree)

    @property
    def pointer(self) -> bytes:
        """What the `.git` file in the work tree says; relative, so that the data can move."""
        return f"gitdir: {os.path.relpath(self.git_dir, self.work_tree)}\n".encode()


def make_checkout(
    checkout: Checkout,
    *,
    branch: str,
    commit: str | None,
    address: str,
    exclude: str = "",
    max_bytes: int = 4 * 2**30,
) -> None:
    """Afterwards the git directory stands on `branch` at `commit`; the work tree holds its files.

    Files that already lie in the work tree stay as they are and show as changes. `commit` None
    makes an unborn branch. `address` is what `git remote -v` shows. Raises TooLarge or DiskFull
    before anything is written when the files do not fit.
    """
    names.branch(branch)
    with exclusive(checkout.view):
        if commit is not None:
            _require_room(checkout, commit, max_bytes)
        settings = _REMOTE.format(address=_quoted(address), branch=_quoted(branch))
        directories.lay_out(
            checkout.git_dir,
            head=f"refs/heads/{branch}",
            bare=False,
            objects_from=[checkout.mirror],
            extra_config=settings,
        )
        folders.put(checkout.git_dir, "info/exclude", exclude.encode())
        directories.write_refs(checkout.git_dir, _refs_of_mirror(checkout.mirror))
        if commit is not None:
            folders.put(checkout.git_dir, f"refs/heads/{branch}", f"{names.oid(commit)}\n".encode())
        fill(checkout, commit, exclude)


def condition(checkout: Checkout) -> str:
    """An empty text when the checkout can be used, else a sentence that says what is wrong."""
    if not folders.is_folder(checkout.git_dir):
        return "The git directory of this checkout is gone."
    if not folders.is_folder(checkout.work_tree):
        return "The files of this checkout are gone."
    try:
        _, head = read_head(checkout)
        with opened(checkout) as place:
            if head and not history.exists(place, head):
                return "The last commit of this checkout cannot be read."
    except GitError as error:
        return error.sentence
    return ""


def mend(checkout: Checkout) -> None:
    """Afterwards the small files that lead git from the work tree to its objects are ours again,
    and a work tree that was gone holds the files of the last commit. Work is never overwritten."""
    was_gone = not folders.is_folder(checkout.work_tree)
    _point(checkout)
    if was_gone:
        _, head = read_head(checkout)
        with exclusive(checkout.view):
            fill(checkout, head)


def head(checkout: Checkout) -> tuple[str, str | None]:
    """(branch, commit) the checkout stands on. Raises Damaged."""
    return read_head(checkout)


def read_head(checkout: Checkout) -> tuple[str, str | None]:
    return directories.read_head(checkout.git_dir, refs_in=checkout.shared)


def branch_tip(checkout: Checkout, ref: str) -> str | None:
    """Where a ref of the checkout points, or None. Raises Damaged or BadName."""
    return directories.read_ref(checkout.shared, ref)


def note_remote_ref(checkout: Checkout, ref: str, oid: str) -> None:
    """Afterwards the checkout knows where the remote's ref is, as after its own push."""
    if not ref.startswith("refs/heads/"):
        return
    name = f"refs/remotes/origin/{ref.removeprefix('refs/heads/')}"
    if oid == names.ZERO:
        folders.remove(checkout.shared, name)
    else:
        folders.put(checkout.shared, names.ref(name), f"{names.oid(oid)}\n".encode())


@contextmanager
def opened(checkout: Checkout) -> Iterator[Place]:
    """The view, held exclusively, with the agent's objects and the mirror's behind it."""
    if not folders.is_folder(checkout.git_dir) or not folders.is_folder(checkout.work_tree):
        raise Damaged("This checkout is gone.")
    with exclusive(checkout.view):
        tip = tip_of(checkout)
        _own_alternates(checkout)
        sources = [checkout.shared, checkout.mirror]
        directories.lay_out(checkout.view, head=tip or UNBORN, bare=False, objects_from=sources)
        if not (checkout.view / "index").exists() and tip:
            run(Command("read-tree", (), (tip,), place=checkout.place))
        yield checkout.place


def tip_of(checkout: Checkout) -> str | None:
    return read_head(checkout)[1]


def _own_alternates(checkout: Checkout) -> None:
    """The agent's objects borrow from the mirror and from nowhere else."""
    line = os.path.relpath(checkout.mirror / "objects", checkout.shared / "objects")
    expected = f"{line}\n".encode()
    if folders.read(checkout.shared, "objects/info/alternates") != expected:
        folders.put(checkout.shared, "objects/info/alternates", expected)


def _require_room(checkout: Checkout, commit: str, max_bytes: int) -> None:
    """Raises TooLarge or DiskFull when the files of the commit cannot be laid out."""
    command = Command("ls-tree", ("-r", "-l"), (commit,), place=Place(git_dir=checkout.mirror))
    try:
        lines = run(command, output_bytes=64 * 2**20, seconds=120).stdout.splitlines()
    except TooLarge:
        lines = [b""] * (MAX_FILES + 1)
    if len(lines) > MAX_FILES:
        words = phrase("The repository has more than %(count)d files.")
        raise TooLarge(words % {"count": MAX_FILES})
    size = sum(int(field) for line in lines if (field := line.split(None, 4)[3]).isdigit())
    if size > max_bytes:
        words = phrase("The files of the repository take more than %(mb)d MB.")
        raise TooLarge(words % {"mb": max_bytes // 2**20})
    checkout.git_dir.parent.mkdir(parents=True, exist_ok=True)
    disk = os.statvfs(checkout.git_dir.parent)
    if size + 50 * 2**20 > disk.f_bavail * disk.f_frsize:
        raise DiskFull()


def fill(checkout: Checkout, commit: str | None, exclude: str = "") -> None:
    """Writes the files of the commit into the work tree; files that are there are left alone."""
    checkout.work_tree.mkdir(parents=True, exist_ok=True)
    _point(checkout)
    sources = [checkout.shared, checkout.mirror]
    directories.lay_out(checkout.view, head=commit or UNBORN, bare=False, objects_from=sources)
    if exclude:
        directories.write(checkout.view / "info" / "exclude", exclude)
    if commit is None:
        return
    run(Command("read-tree", (), (commit,), place=checkout.place))
    command = Command("checkout-index", ("--all", "--quiet", "--index"), place=checkout.place)
    run(command, seconds=600, ok=(0, 1))
    run(Command("update-index", ("-q", "--refresh"), place=checkout.place), ok=(0, 1))
    folders.put(checkout.git_dir, "index", checkout.view / "index")


def _point(checkout: Checkout) -> None:
    checkout.work_tree.mkdir(parents=True, exist_ok=True)
    if folders.read(checkout.work_tree, ".git") != checkout.pointer:
        _set_aside(checkout.work_tree / ".git", checkout.view)
        folders.put(checkout.work_tree, ".git", checkout.pointer)


def _set_aside(path: Path, view: Path) -> None:
    """A directory that stands where a file belongs is kept beside the view, not deleted."""
    if not folders.is_folder(path):
        return
    for number in range(1000):
        aside = view.with_name(f"{view.name}.aside-{number}")
        if not aside.exists():
            aside.parent.mkdir(parents=True, exist_ok=True)
            path.rename(aside)
            return


def _refs_of_mirror(mirror: Path) -> dict[str, str]:
    command = Command("for-each-ref", ("--format=%(objectname) %(refname)",))
    lines = run(
        Command(command.verb, command.options, place=Place(git_dir=mirror))
    ).text.splitlines()
    return {name: oid for oid, _, name in (line.partition(" ") for line in lines)}


def _quoted(text: str) -> str:
    """The text for a quoted value of a git configuration. Raises BadName for several lines."""
    if "\n" in text or "\0" in text:
        raise BadName("An address has one line.")
    return text.replace("\\", "\\\\").replace('"', '\\"')
