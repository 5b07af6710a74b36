"""Checkouts of a conversation: side by side, made once, mended, never overwritten."""

import shutil

import pytest

from outside import git
from repositories import adding, checkouts
from repositories.models import Checkout, Repository
from spaces.models import Conversation
from tests.cast import Cast
from tests.remote.server import Remote, run_git
from tests.repositories.conftest import add_and_fetch

pytestmark = pytest.mark.django_db


@pytest.mark.req("CC-40")
def test_all_repositories_of_the_space_stand_side_by_side(
    cast: Cast, apple: Repository, remote: Remote
) -> None:
    add_and_fetch(cast, remote.create("pear", {"p": "1"}))
    made = checkouts.prepare(cast.conversation)
    assert [each.name for each in made] == ["apple", "pear"]
    assert [each.path.parent.name for each in made] == ["repos", "repos"]
    assert (made[0].path / "README.md").read_text() == "hello\n"
    assert (made[0].branch, made[0].base) == ("main", remote.tip("apple"))


def test_preparing_twice_changes_nothing(cast: Cast, apple: Repository) -> None:
    (first,) = checkouts.prepare(cast.conversation)
    (first.path / "README.md").write_text("work in progress\n")
    (second,) = checkouts.prepare(cast.conversation)
    assert first == second
    assert (second.path / "README.md").read_text() == "work in progress\n"


def test_two_conversations_do_not_share_branches(cast: Cast, apple: Repository) -> None:
    with cast.bound():
        other = Conversation.objects.create(space=cast.space, title="Second")
    (one,), (two,) = checkouts.prepare(cast.conversation), checkouts.prepare(other)
    (one.path / "README.md").write_text("one\n")
    signer = git.Identity("Ada", "ada@example.org")
    git.commit(one.checkout, "One", author=signer, committer=signer)
    assert run_git(two.path, "log", "--format=%s") == "First commit"
    assert run_git(two.path, "status", "--porcelain") == ""


@pytest.mark.parametrize("loss", ["work tree", "git directory", "HEAD", "objects", "all"])
def test_what_is_lost_or_damaged_is_mended(cast: Cast, apple: Repository, loss: str) -> None:
    (made,) = checkouts.prepare(cast.conversation)
    (made.path / "README.md").write_text("work\n")
    if loss in {"work tree", "all"}:
        shutil.rmtree(made.path)
    if loss in {"git directory", "all"}:
        shutil.rmtree(made.git_dir)
    if loss == "HEAD":
        (made.git_dir / "HEAD").write_text("\0\0")
    if loss == "objects":
        (made.git_dir / "refs/heads/main").write_text("1" * 40)
    (again,) = checkouts.prepare(cast.conversation)
    assert git.condition(again.checkout) == ""
    kept = "hello\n" if loss in {"work tree", "all"} else "work\n"
    assert (again.path / "README.md").read_text() == kept
    if loss != "work tree":
        with cast.bound():
            assert Checkout.objects.get().mended_why


def test_an_unreachable_remote_does_not_stop_work_on_what_is_here(
    cast: Cast, apple: Repository, remote: Remote, settings: object
) -> None:
    settings.MIRROR_FRESH_SECONDS = 0  # type: ignore[attr-defined]
    remote.fail_with = 503
    (made,) = checkouts.prepare(cast.conversation)
    assert (made.path / "README.md").exists()


def test_a_repository_that_never_came_fails_with_a_reason(cast: Cast, remote: Remote) -> None:
    add_and_fetch(cast, remote.address("nowhere"))
    with pytest.raises(checkouts.CheckoutFailed, match="no repository at this address") as caught:
        checkouts.prepare(cast.conversation)
    assert caught.value.code == "not_found"


def test_a_full_disk_is_told_before_anything_is_written(
    cast: Cast, apple: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outside.git.checkouts.os.statvfs", lambda path: FullDisk())
    with pytest.raises(checkouts.CheckoutFailed, match="disk is full"):
        checkouts.prepare(cast.conversation)
    assert not checkouts.place_of(cast.conversation, "apple").work_tree.exists()


class FullDisk:
    f_bavail = 0
    f_frsize = 4096


def test_an_empty_repository_can_be_worked_in(cast: Cast, remote: Remote) -> None:
    add_and_fetch(cast, remote.create("empty"))
    (made,) = checkouts.prepare(cast.conversation)
    assert (made.branch, made.base) == ("main", "")
    (made.path / "a").write_text("1")
    signer = git.Identity("Ada", "ada@example.org")
    assert git.commit(made.checkout, "First", author=signer, committer=signer).parents == ()


def test_removing_a_repository_deletes_its_checkouts(cast: Cast, apple: Repository) -> None:
    (made,) = checkouts.prepare(cast.conversation)
    with cast.bound():
        adding.ask_remove(apple, by=cast.ada.principal)
    adding.remove(cast.workspace.pk, apple.pk)
    assert not made.path.exists()
    assert not made.git_dir.exists()
