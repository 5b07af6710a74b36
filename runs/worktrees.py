"""`isolation: worktree`: a subagent's own copy of the repositories, beside the checkouts.

Each is a linked worktree on a branch of its own, from the tip of the default branch. It is taken
away when the run has ended and left it as it was; else it stays, and its branch is named.
"""

import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from agents import paths
from harness.errors import Finished
from harness.seam import Root
from outside import git
from outside.sentences import phrase as _
from repositories import checkouts
from repositories.models import Repository
from workspaces.background import enqueue
from workspaces.handles import slug
from workspaces.tenancy import bind

from .models import Run, Subagent

log = logging.getLogger(__name__)
CLEAR = "runs.tasks.clear_worktrees"
FOLDER = "worktrees"


def stand(run: Run, row: Subagent, roots: tuple[Root, ...]) -> tuple[tuple[Root, ...], Path]:
    """The run's own copies in place of the checkouts, and the directory that holds them. One that
    stood before and is gone ends the run: nothing is done in the main checkout instead.

    Runs git, so never inside a transaction. Raises Finished.
    """
    mains = [root for root in roots if root.checkout is not None]
    if not mains:
        raise Finished(_("There is no repository here of which a worktree could be made."))
    home = _home(run)
    is_new = not row.worktrees
    try:
        if is_new:
            _plan(run, row, mains)
        copies = tuple(_stand(home, root, row, is_new=is_new) for root in mains)
    except git.GitError as error:
        words = _("A worktree for the subagent cannot be made: %(why)s")
        raise Finished(words % {"why": error.sentence}) from error
    return copies, home


def judge(run: Run) -> None:
    """What the run changed is marked to be kept. Runs git."""
    with bind(run.workspace_id):
        row = Subagent.objects.filter(run=run).first()
    if row is None or not row.worktrees:
        return
    trees = [each | {"kept": _is_touched(run, each)} for each in row.worktrees]
    with bind(run.workspace_id):
        Subagent.objects.filter(pk=row.pk).update(worktrees=trees)


def clear_later(run: Run) -> None:
    """On commit a worker with the files looks at what the ended run leaves behind."""
    enqueue(CLEAR, run.workspace_id, run.pk, queue="files")


def clear(workspace_id: UUID, run_id: UUID) -> None:
    """The worktrees of a run that has ended are gone, but for those that it changed."""
    with bind(workspace_id):
        rows = Run.objects.filter(pk=run_id, state__in=Run.ENDED)
        run = rows.select_related("conversation").first()
    if run is None:
        return
    judge(run)
    with bind(workspace_id):
        trees = Subagent.objects.filter(run=run).values_list("worktrees", flat=True).first()
    for each in trees or ():
        if not each["kept"]:
            main, tree = _places(run, each["repository"])
            git.remove_worktree(main, tree, branch=each["branch"])
    if trees and not any(each["kept"] for each in trees):
        shutil.rmtree(_home(run), ignore_errors=True)


def _plan(run: Run, row: Subagent, mains: list[Root]) -> None:
    """Writes down what is about to be made, so that whoever clears up knows of it."""
    with bind(run.workspace_id):
        found = Repository.objects.filter(name__in=[root.name for root in mains])
        branches = dict(found.values_list("name", "default_branch"))
        branch = f"subagent/{slug(row.name, fallback='agent', limit=40)}-{run.short_id}"
        row.worktrees = [
            {
                "repository": root.name,
                "branch": branch,
                "commit": _base(root, branches.get(root.name, "")),
                "kept": False,
            }
            for root in mains
        ]
        Subagent.objects.filter(pk=row.pk).update(worktrees=row.worktrees)


def _base(root: Root, default_branch: str) -> str:
    """The tip of the default branch, where the remote has it."""
    assert root.checkout is not None
    tip = git.mirrored(root.checkout.mirror).get(f"refs/heads/{default_branch}")
    commit = tip or git.head(root.checkout)[1]
    if commit is None:
        raise git.EmptyRepository()
    return commit


def _stand(home: Path, root: Root, row: Subagent, *, is_new: bool) -> Root:
    assert root.checkout is not None
    planned: dict[str, Any] = next(e for e in row.worktrees if e["repository"] == root.name)
    tree = _tree(home, root.checkout, root.name)
    if not is_new and git.condition(tree):
        words = _("The worktree of this subagent, %(name)s, was removed. Nothing was done instead.")
        raise Finished(words % {"name": planned["branch"]})
    git.make_worktree(root.checkout, tree, branch=planned["branch"], commit=planned["commit"])
    return replace(root, path=tree.work_tree, checkout=tree, branch=planned["branch"])


def _is_touched(run: Run, planned: dict[str, Any]) -> bool:
    _main, tree = _places(run, planned["repository"])
    if not tree.work_tree.is_dir():
        return False
    return not git.is_untouched(tree, branch=planned["branch"], commit=planned["commit"])


def _places(run: Run, repository: str) -> tuple[git.Checkout, git.Checkout]:
    from_main = checkouts.place_of(run.conversation, repository)
    return from_main, _tree(_home(run), from_main, repository)


def _tree(home: Path, main: git.Checkout, name: str) -> git.Checkout:
    view = main.view.parent / FOLDER / home.name / main.view.name
    files = home / "repos" / paths.segment(name)
    return git.worktree_of(main, f"{home.name}-{_plain(name)}", files=files, view=view)


def _plain(name: str) -> str:
    return "".join(each for each in name if each.isascii() and each.isalnum())[:40]


def _home(run: Run) -> Path:
    """The directory of an isolated run, in the server's own folder of them."""
    top = paths.conversation_directory(run.workspace_id, run.space_id, run.conversation_id)
    return top / FOLDER / run.pk.hex
