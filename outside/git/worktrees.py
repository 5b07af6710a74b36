"""Linked worktrees of a checkout: a branch and files of their own, objects and refs in common.

Laid out as `git worktree add` does it, so that git in the agent's shell takes them for what they
are, but without running git on what an agent can write.
"""

import shutil
from contextlib import suppress
from pathlib import Path

from . import folders, names
from .checkouts import Checkout, fill, head
from .errors import BadName, GitError
from .locks import exclusive
from .work import status


def worktree_of(main: Checkout, name: str, *, files: Path, view: Path) -> Checkout:
    """Where the worktree of that name lies, whether it stands or not."""
    if not name.isascii() or not name.replace("-", "").isalnum():
        raise BadName(f"{names.printable(name)} cannot name a worktree.")
    git_dir = main.git_dir / "worktrees" / name
    return Checkout(git_dir, files, view, main.mirror, common=main.git_dir)


def make_worktree(main: Checkout, tree: Checkout, *, branch: str, commit: str) -> None:
    """Afterwards the worktree stands on the new branch at the commit; doing it again changes
    nothing. Raises GitError."""
    names.branch(branch)
    if folders.is_folder(tree.git_dir) and folders.is_folder(tree.work_tree):
        return
    with exclusive(tree.view):
        folders.put(main.git_dir, f"refs/heads/{branch}", f"{names.oid(commit)}\n".encode())
        inside = f"worktrees/{tree.git_dir.name}"
        folders.put(main.git_dir, f"{inside}/commondir", b"../..\n")
        folders.put(main.git_dir, f"{inside}/gitdir", f"{tree.work_tree / '.git'}\n".encode())
        folders.put(main.git_dir, f"{inside}/HEAD", f"ref: refs/heads/{branch}\n".encode())
        fill(tree, commit)


def is_untouched(tree: Checkout, *, branch: str, commit: str) -> bool:
    """Whether the worktree is as it was made. One that cannot be read has been touched."""
    try:
        return head(tree) == (branch, commit) and not status(tree)
    except GitError:
        return False


def remove_worktree(main: Checkout, tree: Checkout, *, branch: str) -> None:
    """Afterwards there is no worktree and no branch of it. A folder that leads elsewhere by now is
    left alone."""
    for folder in (tree.work_tree, tree.git_dir, tree.view):
        if folders.is_folder(folder.parent):
            shutil.rmtree(folder, ignore_errors=True)
    with suppress(GitError, OSError):
        folders.remove(main.git_dir, f"refs/heads/{names.branch(branch)}")
