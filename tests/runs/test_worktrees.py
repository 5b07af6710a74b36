"""`isolation: worktree`: a subagent in a copy of its own, which stays if it changed something."""

from pathlib import Path
from typing import Any

import pytest

from outside import git
from repositories import checkouts
from runs import worktrees
from runs.models import Run
from tests.runs.family import Family, delegate, only_child, text
from tests.runs.stage import WithRepository
from tests.runs.test_definitions import at_home, results
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def family(stage: WithRepository) -> Family:
    front = "isolation: worktree\n"
    at_home(stage, stage.cast.ada, ".fuxi/agents/mason.md", text("mason", front=front))
    return Family(stage)


def bash(command: str, **more: Any) -> Call:
    return Call("bash", {"command": command, **more})


def main_checkout(family: Family) -> git.Checkout:
    return checkouts.place_of(family.stage.cast.conversation, "engine")


def build(family: Family, child: list[Step], parent: Step) -> tuple[Run, Run]:
    """The run and its isolated child, both over."""
    with family.play([Step(calls=[delegate("mason")]), parent], ("You are mason.", child)):
        [run] = family.stage.say("@engineer let the mason build")
        assert family.settle(run).state == "succeeded"
    born = only_child(family)
    worktrees.clear(born.workspace_id, born.pk)
    return run, born


@pytest.mark.req("FX-58", "FX-59", "FX-74")
def test_what_an_isolated_child_changes_stays_on_a_branch_of_its_own(family: Family) -> None:
    child = [
        Step(calls=[bash("pwd; git -C repos/engine branch --show-current; ls repos/engine")]),
        Step(calls=[Call("write", {"path": "repos/engine/wall.txt", "content": "stone\n"})]),
        Step(calls=[Call("git_commit", {"message": "Build a wall"})]),
        Step(text="Built."),
    ]
    run, born = build(family, child, Step(text="Good.", expect="kept in a worktree"))
    where, _wrote, committed = results(family.stage, born)
    branch = f"subagent/mason-{born.short_id}"
    assert "/worktrees/" in where
    assert branch in where
    assert "README.md" in where
    assert f"on {branch} in engine" in committed
    main = main_checkout(family)
    assert not (main.work_tree / "wall.txt").exists()
    assert git.status(main) == []
    assert git.head(main)[0] == "main"
    assert branch in results(family.stage, run)[0]
    [tree] = family.subagent(born).worktrees
    assert tree["kept"]
    # The parent has the branch, because both have the same objects and refs.
    with family.play(
        [Step(calls=[bash(f"git -C repos/engine merge -q {branch}")]), Step(text="Merged.")]
    ):
        [merging] = family.stage.say("@engineer merge it")
        assert family.settle(merging).state == "succeeded"
    assert (main.work_tree / "wall.txt").read_text() == "stone\n"


@pytest.mark.soak
@pytest.mark.req("FX-74")
def test_an_unchanged_worktree_goes_with_its_branch(family: Family) -> None:
    _run, born = build(
        family, [Step(calls=[bash("ls repos/engine")]), Step(text="Seen.")], Step(text="Good.")
    )
    [tree] = family.subagent(born).worktrees
    assert not tree["kept"]
    main = main_checkout(family)
    assert git.branch_tip(main, f"refs/heads/{tree['branch']}") is None
    assert not (main.git_dir / "worktrees").exists() or not any(
        (main.git_dir / "worktrees").iterdir()
    )
    assert not list((main.work_tree.parents[1] / "worktrees").iterdir())


@pytest.mark.soak
@pytest.mark.req("FX-59")
def test_a_command_without_its_worktree_fails_and_is_run_nowhere_else(family: Family) -> None:
    touch = bash("touch here.txt", directory="repos/engine")
    child = [
        Step(calls=[bash("echo 1", directory="repos/engine")]),
        Step(calls=[touch]),
        Step(text="It is gone.", expect="nothing was run elsewhere"),
    ]
    with family.play(
        [Step(calls=[delegate("mason")]), Step(text="Hm.")], ("You are mason.", child)
    ) as server:

        def take_away() -> None:
            if "You are mason." in str(server.requests[-1]) and len(server.requests) == 3:
                [home] = (main_checkout(family).work_tree.parents[1] / "worktrees").iterdir()
                remove(home / "repos" / "engine")

        server.on_request = take_away
        [begun] = family.stage.say("@engineer let the mason build")
        family.settle(begun)
    assert not (main_checkout(family).work_tree / "here.txt").exists()


def remove(folder: Path) -> None:
    for entry in sorted(folder.rglob("*"), reverse=True):
        entry.rmdir() if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    folder.rmdir()


@pytest.mark.soak
def test_without_a_repository_there_is_no_worktree(family: Family) -> None:
    with family.stage.cast.bound():
        family.stage.cast.space.repository_links.all().delete()
    with family.play(
        [Step(calls=[delegate("mason")]), Step(text="Hm.", expect="no repository here")]
    ):
        [run] = family.stage.say("@engineer let the mason build")
        assert family.settle(run).state == "succeeded"
    assert family.children() == []
