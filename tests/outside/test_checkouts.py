"""Checkouts that agents write into: what the server reads, commits, mends, and never runs."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from outside import git
from outside.egress import Guard
from tests.remote.server import ENV, Remote, run_git

ADA = git.Identity("Ada", "ada@example.invalid")


@pytest.fixture
def checkout(remote: Remote, guard: Guard, tmp_path: Path) -> git.Checkout:
    """A checkout of a repository with three files."""
    files = {"README.md": "hello\n", "src/main.py": "print(1)\n", "docs/a b.md": "text\n"}
    address = remote.create("apple", files)
    made = git.Checkout(
        git_dir=tmp_path / "conversation/git/apple",
        work_tree=tmp_path / "conversation/repos/apple",
        view=tmp_path / "conversation/server/apple",
        mirror=tmp_path / "repositories/apple.git",
    )
    git.fetch_mirror(made.mirror, git.Remote(address), guard=guard)
    git.make_checkout(made, branch="main", commit=remote.tip("apple"), address=address)
    return made


def agent(checkout: git.Checkout, *arguments: str) -> str:
    """Runs git in the work tree as an agent would."""
    return run_git(checkout.work_tree, *arguments)


def test_a_fresh_checkout_is_clean_on_its_branch(checkout: git.Checkout, remote: Remote) -> None:
    assert agent(checkout, "status", "--porcelain", "--branch") == "## main...origin/main"
    assert git.head(checkout) == ("main", remote.tip("apple"))
    assert git.status(checkout) == []
    assert git.condition(checkout) == ""
    assert (checkout.work_tree / "docs/a b.md").read_text() == "text\n"


def test_the_data_directory_can_move(checkout: git.Checkout, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for part in ("conversation", "repositories"):
        (tmp_path / part).rename(moved / part)
    assert run_git(moved / "conversation/repos/apple", "status", "--porcelain") == ""
    assert run_git(moved / "conversation/repos/apple", "log", "--format=%s") == "First commit"


def test_status_and_diff_show_what_the_files_are_now(checkout: git.Checkout) -> None:
    (checkout.work_tree / "README.md").write_text("hello\nworld\n")
    (checkout.work_tree / "src/main.py").unlink()
    (checkout.work_tree / "new 文.txt").write_text("new\n")
    (checkout.work_tree / ".gitignore").write_text("*.log\n")
    (checkout.work_tree / "noise.log").write_text("x")
    found = {(change.status, change.path): change for change in git.status(checkout)}
    assert found.keys() == {
        ("M", "README.md"),
        ("D", "src/main.py"),
        ("A", "new 文.txt"),
        ("A", ".gitignore"),
    }
    assert (found["M", "README.md"].added, found["M", "README.md"].removed) == (1, 0)
    assert "+world" in git.diff(checkout).text
    assert git.diff(checkout, paths=["src"]).text.count("diff --git") == 1
    assert git.diff(checkout, max_bytes=50).truncated


def test_a_commit_lands_where_the_agents_git_sees_it(checkout: git.Checkout) -> None:
    (checkout.work_tree / "README.md").write_text("changed\n")
    (checkout.work_tree / "new.txt").write_text("new\n")
    made = git.commit(checkout, "Add a file\n\nWhy.", author=ADA, committer=ADA)
    assert made.subject == "Add a file"
    assert agent(checkout, "log", "-1", "--format=%H %an <%ae> %cn") == (
        f"{made.oid} Ada <ada@example.invalid> Ada"
    )
    assert agent(checkout, "status", "--porcelain") == ""
    assert agent(checkout, "fsck", "--full") == ""
    with pytest.raises(git.NothingToCommit):
        git.commit(checkout, "again", author=ADA, committer=ADA)


def test_a_commit_of_some_paths_leaves_the_others_as_changes(checkout: git.Checkout) -> None:
    (checkout.work_tree / "README.md").write_text("changed\n")
    (checkout.work_tree / "src/main.py").write_text("print(2)\n")
    (checkout.work_tree / "src/new.py").write_text("print(3)\n")
    git.commit(checkout, "Only src", author=ADA, committer=ADA, paths=["src"])
    assert agent(checkout, "show", "--name-only", "--format=").split() == [
        "src/main.py",
        "src/new.py",
    ]
    assert agent(checkout, "status", "--porcelain") == "M README.md"
    assert [change.path for change in git.status(checkout)] == ["README.md"]


def test_commits_of_the_agents_own_shell_are_seen(checkout: git.Checkout) -> None:
    (checkout.work_tree / "README.md").write_text("mine\n")
    agent(checkout, "commit", "-qam", "By hand")
    assert [commit.subject for commit in git.log(checkout)] == ["By hand", "First commit"]
    assert git.status(checkout) == []


def test_an_unfinished_merge_is_not_committed_over(checkout: git.Checkout) -> None:
    (checkout.git_dir / "MERGE_HEAD").write_text("0" * 40)
    (checkout.work_tree / "README.md").write_text("mine\n")
    with pytest.raises(git.Unfinished):
        git.commit(checkout, "x", author=ADA, committer=ADA)


def test_a_git_at_work_is_not_disturbed(checkout: git.Checkout) -> None:
    (checkout.git_dir / "index.lock").write_text("")
    (checkout.work_tree / "README.md").write_text("mine\n")
    with pytest.raises(git.Busy):
        git.commit(checkout, "x", author=ADA, committer=ADA)


def evil_configuration(checkout: git.Checkout, trap: Path) -> None:
    for setting in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "diff.external",
        "core.editor",
    ):
        agent(checkout, "config", setting, str(trap))
    agent(checkout, "config", "filter.evil.clean", str(trap))
    agent(checkout, "config", "filter.evil.smudge", str(trap))
    agent(checkout, "config", "diff.evil.textconv", str(trap))
    (checkout.work_tree / ".gitattributes").write_text("* filter=evil diff=evil\n")


def evil_hooks(checkout: git.Checkout, trap: Path) -> None:
    for hook in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "reference-transaction",
    ):
        (checkout.git_dir / "hooks" / hook).symlink_to(trap)


def evil_nested_repository(checkout: git.Checkout, trap: Path) -> None:
    nested = checkout.work_tree / "nested"
    nested.mkdir()
    run_git(nested, "init", "-q")
    (nested / ".gitattributes").write_text("* filter=evil\n")
    (nested / "file").write_text("1\n")
    run_git(nested, "add", ".")
    run_git(nested, "commit", "-qm", "x")
    agent(checkout, "add", "nested")
    agent(checkout, "commit", "-qm", "With a nested repository")
    run_git(nested, "config", "filter.evil.clean", str(trap))
    run_git(nested, "config", "core.fsmonitor", str(trap))
    (nested / "file").write_text("2\n")


def evil_pointer(checkout: git.Checkout, trap: Path) -> None:
    (checkout.work_tree / ".git").write_text("gitdir: /tmp/elsewhere\n")


@pytest.mark.parametrize(
    "attack", [evil_configuration, evil_hooks, evil_nested_repository, evil_pointer]
)
def test_nothing_that_an_agent_configured_runs_in_the_server(
    checkout: git.Checkout, tmp_path: Path, attack: Callable[[git.Checkout, Path], None]
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\nexec cat\n")
    trap.chmod(0o755)
    attack(checkout, trap)
    (tmp_path / "sprung").unlink(missing_ok=True)
    (checkout.work_tree / "README.md").write_text("changed\n")
    assert git.status(checkout)
    assert git.diff(checkout).text
    git.commit(checkout, "Go on", author=ADA, committer=ADA)
    git.mend(checkout)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("place", ["refs/heads", "objects/pack", "refs"])
def test_links_in_the_git_directory_do_not_lead_the_server_elsewhere(
    checkout: git.Checkout, tmp_path: Path, place: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = checkout.git_dir / place
    target.rename(tmp_path / "kept")
    target.symlink_to(tmp_path / "elsewhere")
    (checkout.work_tree / "README.md").write_text("changed\n")
    with pytest.raises(git.GitError):
        git.commit(checkout, "x", author=ADA, committer=ADA)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_work_tree_that_became_a_link_is_not_read(checkout: git.Checkout, tmp_path: Path) -> None:
    checkout.work_tree.rename(tmp_path / "kept")
    checkout.work_tree.symlink_to("/etc")
    with pytest.raises(git.Damaged):
        git.status(checkout)


def test_a_link_in_the_work_tree_is_committed_as_a_link(checkout: git.Checkout) -> None:
    (checkout.work_tree / "leak").symlink_to("/etc/passwd")
    git.commit(checkout, "A link", author=ADA, committer=ADA)
    assert agent(checkout, "show", "HEAD:leak") == "/etc/passwd"


def test_foreign_alternates_are_taken_away(checkout: git.Checkout, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "--bare", "foreign")
    secret = run_git(tmp_path / "foreign", "hash-object", "-w", "--stdin", text="secret")
    alternates = checkout.git_dir / "objects/info/alternates"
    alternates.write_text(alternates.read_text() + f"{tmp_path}/foreign/objects\n")
    git.status(checkout)
    assert not git.exists(checkout.place, secret)


@pytest.mark.req("CC-40")
@pytest.mark.parametrize("loss", ["work tree", ".git file", ".git directory"])
def test_a_damaged_checkout_is_mended_and_work_is_kept(checkout: git.Checkout, loss: str) -> None:
    (checkout.work_tree / "README.md").write_text("work\n")
    made = git.commit(checkout, "Work", author=ADA, committer=ADA)
    if loss == "work tree":
        run_git(checkout.work_tree.parent, "init", "-q", "--bare", "unrelated")
        os.system(f"rm -rf '{checkout.work_tree}'")
        assert git.condition(checkout)
    elif loss == ".git file":
        (checkout.work_tree / ".git").unlink()
    else:
        (checkout.work_tree / ".git").unlink()
        (checkout.work_tree / ".git").mkdir()
    git.mend(checkout)
    assert git.condition(checkout) == ""
    assert agent(checkout, "rev-parse", "HEAD") == made.oid
    assert (checkout.work_tree / "README.md").read_text() == "work\n"
    assert agent(checkout, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "damage", ["HEAD garbage", "HEAD link", "lost objects", "no git directory"]
)
def test_damage_is_named_and_touches_nothing_outside(
    checkout: git.Checkout, tmp_path: Path, damage: str
) -> None:
    if damage == "HEAD garbage":
        (checkout.git_dir / "HEAD").write_text("nonsense\n")
    elif damage == "HEAD link":
        (checkout.git_dir / "HEAD").unlink()
        (checkout.git_dir / "HEAD").symlink_to("/etc/passwd")
    elif damage == "lost objects":
        (checkout.git_dir / "refs/heads/main").write_text("1" * 40 + "\n")
    else:
        checkout.git_dir.rename(tmp_path / "kept")
    assert git.condition(checkout).endswith(".")


def test_an_empty_repository_can_be_checked_out_and_committed_to(
    remote: Remote, guard: Guard, tmp_path: Path
) -> None:
    address = remote.create("empty")
    made = git.Checkout(tmp_path / "g", tmp_path / "w", tmp_path / "v", tmp_path / "m.git")
    git.fetch_mirror(made.mirror, git.Remote(address), guard=guard)
    git.make_checkout(made, branch="main", commit=None, address=address)
    (made.work_tree / "a").write_text("1\n")
    first = git.commit(made, "First", author=ADA, committer=ADA)
    assert agent(made, "log", "--format=%H") == first.oid


def test_files_that_do_not_fit_are_refused_before_anything_is_written(
    checkout: git.Checkout, remote: Remote, tmp_path: Path
) -> None:
    other = git.Checkout(tmp_path / "g", tmp_path / "w", tmp_path / "v", checkout.mirror)
    with pytest.raises(git.TooLarge):
        git.make_checkout(
            other, branch="main", commit=remote.tip("apple"), address="x", max_bytes=3
        )
    assert not other.work_tree.exists()


def test_odd_names_are_ordinary(remote: Remote, guard: Guard, tmp_path: Path) -> None:
    odd = tmp_path / "a 'quoted' $dir\n-x"
    address = remote.create("pear", {"-n": "1", "a\nb": "2", 'q"uote': "3", "*": "4"})
    made = git.Checkout(odd / "g", odd / "w", odd / "v", odd / "m.git")
    git.fetch_mirror(made.mirror, git.Remote(address), guard=guard)
    git.make_checkout(made, branch="main", commit=remote.tip("pear"), address=address)
    (made.work_tree / "-n").write_text("changed")
    assert [change.path for change in git.status(made)] == ["-n"]
    git.commit(made, "x", author=ADA, committer=ADA)
    assert run_git(made.work_tree, "status", "--porcelain") == ""
    assert ENV["HOME"] == "/nonexistent"
