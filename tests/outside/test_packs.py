"""What an agent wants to push: quarantined, checked, read; and fetches served from the mirror."""

import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

import pytest

from outside import git
from outside.egress import Guard
from tests import loops
from tests.remote.server import Remote, run_git

ADA = git.Identity("Ada", "ada@example.invalid")


@pytest.fixture
def checkout(remote: Remote, guard: Guard, tmp_path: Path) -> git.Checkout:
    address = remote.create("apple", {"README.md": "hello\n" * 100})
    made = git.Checkout(
        tmp_path / "c/git/apple", tmp_path / "c/repos/apple", tmp_path / "v", tmp_path / "m.git"
    )
    git.fetch_mirror(made.mirror, git.Remote(address), guard=guard)
    git.make_checkout(made, branch="main", commit=remote.tip("apple"), address=address)
    return made


def commit(checkout: git.Checkout, text: str) -> str:
    (checkout.work_tree / "README.md").write_text(text)
    return git.commit(checkout, text, author=ADA, committer=ADA).oid


def pack(checkout: git.Checkout, *tips: str) -> BinaryIO:
    file = (checkout.view / "outgoing").open("w+b")
    git.write_pack(checkout, tips, without=git.mirrored(checkout.mirror).values(), into=file)
    file.seek(0)
    return file


def take(checkout: git.Checkout, *tips: str) -> git.Place:
    where = checkout.view.with_name("quarantine")
    file = pack(checkout, *tips)
    return git.quarantine(where, mirror=checkout.mirror, pack=file, max_bytes=2**20)


def look(checkout: git.Checkout, place: git.Place, ref: str, old: str, new: str) -> git.Inspected:
    refs = git.mirrored(checkout.mirror)
    update = git.RefUpdate(ref, old, new)
    return git.inspect(place, update, remote_refs=refs, default_branch="main")


def test_an_update_shows_its_commits_files_and_diff(checkout: git.Checkout, remote: Remote) -> None:
    first, second = commit(checkout, "one\n"), commit(checkout, "two\n")
    seen = look(checkout, take(checkout, second), "refs/heads/main", remote.tip("apple"), second)
    assert (seen.kind, seen.commit_count) == ("update", 2)
    assert [entry.oid for entry in seen.commits] == [second, first]
    assert [change.path for change in seen.changes] == ["README.md"]
    assert "+two" in seen.diff.text


def test_the_kinds_of_updates(checkout: git.Checkout, remote: Remote) -> None:
    tip = remote.tip("apple")
    new = commit(checkout, "one\n")
    run_git(checkout.work_tree, "checkout", "-q", "--orphan", "other")
    run_git(checkout.work_tree, "commit", "-qm", "Other root")
    other = run_git(checkout.work_tree, "rev-parse", "HEAD")
    run_git(checkout.work_tree, "tag", "-a", "v1", "-m", "x", new)
    tag = run_git(checkout.work_tree, "rev-parse", "v1")
    place = take(checkout, new, other, tag)
    cases = [
        ("refs/heads/main", tip, new, "update"),
        ("refs/heads/topic", git.ZERO, new, "create"),
        ("refs/heads/main", tip, other, "force"),
        ("refs/heads/main", tip, git.ZERO, "delete"),
        ("refs/tags/v1", git.ZERO, tag, "tag_create"),
        ("refs/tags/v1", tip, tag, "tag_move"),
        ("refs/tags/v1", tip, git.ZERO, "tag_delete"),
    ]
    for ref, old, target, kind in cases:
        assert look(checkout, place, ref, old, target).kind == kind, (ref, kind)


def test_a_branch_points_to_a_commit_and_to_nothing_else(checkout: git.Checkout) -> None:
    new = commit(checkout, "one\n")
    blob = run_git(checkout.work_tree, "rev-parse", f"{new}:README.md")
    place = take(checkout, new)
    with pytest.raises(git.BadName, match="blob"):
        look(checkout, place, "refs/heads/x", git.ZERO, blob)


@pytest.mark.parametrize("tenth", range(0, 10))
def test_a_pack_that_was_cut_is_refused(checkout: git.Checkout, tenth: int) -> None:
    content = pack(checkout, commit(checkout, "one\n")).read()
    cut = io.BytesIO(content[: len(content) * tenth // 10])
    (checkout.view / "cut").write_bytes(cut.getvalue())
    with (checkout.view / "cut").open("rb") as file, pytest.raises(git.GitError):
        git.quarantine(
            checkout.view.with_name("q"), mirror=checkout.mirror, pack=file, max_bytes=2**20
        )


def test_a_pack_that_leans_on_unknown_objects_is_refused(
    checkout: git.Checkout, remote: Remote, guard: Guard
) -> None:
    first = commit(checkout, "one\n")
    second = commit(checkout, "two\n")
    with (checkout.view / "outgoing").open("w+b") as file:
        git.write_pack(checkout, [second], without=[first], into=file)
        file.seek(0)
        aside = checkout.view.with_name("q")
        with pytest.raises(git.Damaged):
            git.quarantine(aside, mirror=checkout.mirror, pack=file, max_bytes=2**20)


def test_a_tip_whose_history_is_missing_is_refused(checkout: git.Checkout, remote: Remote) -> None:
    place = take(checkout, commit(checkout, "one\n"))
    with pytest.raises(git.Damaged):
        look(checkout, place, "refs/heads/main", remote.tip("apple"), "1" * 40)


def test_a_pack_larger_than_its_limit_is_refused(checkout: git.Checkout) -> None:
    file = pack(checkout, commit(checkout, "one\n"))
    with pytest.raises(git.TooLarge):
        git.quarantine(
            checkout.view.with_name("q"), mirror=checkout.mirror, pack=file, max_bytes=50
        )


def test_forwarding_from_quarantine_sends_only_what_the_new_tip_reaches(
    checkout: git.Checkout, remote: Remote, guard: Guard
) -> None:
    tip, new = remote.tip("apple"), commit(checkout, "one\n")
    run_git(checkout.work_tree, "checkout", "-q", "-b", "hidden")
    hidden = commit(checkout, "hidden\n")
    place = take(checkout, new, hidden)
    assert place.git_dir is not None
    there = git.Remote(remote.address("apple"))
    git.forward(place.git_dir, there, [git.RefUpdate("refs/heads/main", tip, new)], guard=guard)
    assert remote.tip("apple") == new
    assert not git.exists(git.Place(git_dir=remote.root / "apple"), hidden)
    git.absorb(checkout.mirror, place.git_dir, {"refs/heads/main": new})
    assert git.mirrored(checkout.mirror)["refs/heads/main"] == new
    assert git.exists(git.Place(git_dir=checkout.mirror), new)


def test_each_commit_is_scanned_even_what_a_later_one_deletes(checkout: git.Checkout) -> None:
    commit(checkout, "secret-in-between\n")
    tip = commit(checkout, "clean again\n")
    place = take(checkout, tip)
    known = git.mirrored(checkout.mirror).values()
    text = git.added_lines_log(place, tip, without=known, max_bytes=2**20).text
    assert "+secret-in-between" in text
    assert "+clean again" in text


def test_a_fetch_served_from_the_mirror_has_the_remotes_names(
    checkout: git.Checkout, remote: Remote
) -> None:
    view = git.serving_view(checkout.mirror, default_branch="main")

    async def nothing() -> AsyncIterator[bytes]:
        empty: tuple[bytes, ...] = ()
        for part in empty:
            yield part

    async def advertised() -> bytes:
        answer = git.upload_pack(view, nothing(), advertise=True)
        return b"".join([chunk async for chunk in answer])

    text = loops.run(advertised())
    assert f"{remote.tip('apple')} HEAD".encode() in text
    assert f"{remote.tip('apple')} refs/heads/main".encode() in text
    assert b"refs/remotes" not in text
