"""Adding a repository by its address: what is accepted, what each trouble says, what is kept."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.utils import timezone

from outside import git
from repositories import adding, places, recovery
from repositories.models import Repository, SpaceRepository
from tests.cast import Cast
from tests.remote.server import Remote, run_git
from tests.repositories.conftest import add_and_fetch
from workspaces.models import AuditEntry, Credential

pytestmark = pytest.mark.django_db


def test_a_repository_is_added_by_address_and_fetched(cast: Cast, apple: Repository) -> None:
    assert (apple.name, apple.state, apple.default_branch) == ("apple", "ready", "main")
    assert apple.is_ready
    assert not apple.is_empty
    assert places.mirror(cast.workspace.pk, "apple").is_dir()
    with cast.bound():
        assert AuditEntry.objects.filter(action="repository.add").exists()


def test_adding_asks_nothing_of_the_network(cast: Cast, remote: Remote) -> None:
    address = remote.create("apple", {"a": "1"})
    with cast.bound():
        repository = adding.add(address, by=cast.ada.principal)
    assert remote.entries == []
    assert repository.state == "queued"
    assert repository.is_busy


@pytest.mark.parametrize(
    "address",
    ["", "ext::sh -c id", "--upload-pack=x", "ftp://x/y", "nonsense", "../here"]
    + ["https://ada:secret@example.org/x", "https://example.org/../x", "https://example.org/x?t=1"],
)
def test_what_is_no_address_is_refused_at_once(cast: Cast, address: str) -> None:
    with cast.bound(), pytest.raises(adding.CannotAdd):
        adding.add(address, by=cast.ada.principal)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("HTTPS://GitHub.com/Owner/Name.git/", "https://github.com/Owner/Name"),
        ("owner/name.git", "https://github.com/owner/name"),
        ("https://ada@git.example.org/team/shop.git", "https://git.example.org/team/shop.git"),
        ("git@git.example.org:team/shop.git", "https://git.example.org/team/shop.git"),
    ],
)
def test_one_repository_has_one_spelling(cast: Cast, written: str, stored: str) -> None:
    with cast.bound():
        assert adding.add(written, by=cast.ada.principal).address == stored


def test_the_same_address_twice_is_refused_in_words(cast: Cast, apple: Repository) -> None:
    with cast.bound(), pytest.raises(adding.CannotAdd, match="already"):
        adding.add(f" {apple.address}/ ", by=cast.ada.principal)


def test_a_folder_with_files_is_added_only_when_the_operator_allowed_it(
    cast: Cast, tmp_path: Path, settings: LazySettings
) -> None:
    folder = tmp_path / "engine"
    folder.mkdir()
    run_git(folder, "init", "-q", "-b", "trunk")
    (folder / "a.txt").write_text("1\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-q", "-m", "First")
    with cast.bound(), pytest.raises(adding.CannotAdd, match="CC_ALLOW_PATHS"):
        adding.add(str(folder), by=cast.ada.principal)
    settings.ALLOW_PATHS = [str(tmp_path)]
    row = add_and_fetch(cast, str(folder))
    assert (row.state, row.default_branch, row.name) == ("ready", "trunk", "engine")


def test_names_are_distinct_slugs_whatever_the_address(cast: Cast, remote: Remote) -> None:
    names = []
    with cast.bound():
        for path in ("新聞", "暫存", "a/Apple Pie", "b/apple-pie", "c/.git", "d/apple-pie.git"):
            address = f"http://127.0.0.1:{remote.port}/{path.replace(' ', '%20')}"
            names.append(adding.add(address, by=cast.ada.principal).name)
    assert len(set(names)) == len(names)
    assert all(name.isascii() for name in names)


@pytest.mark.parametrize(
    ("trouble", "code", "words"),
    [
        ("wrong", "not_found", "no repository"),
        ("private", "needs_credential", "private"),
        ("wrong secret", "wrong_credential", "refused the credential"),
        ("down", "unreachable", "does not answer"),
        ("hidden", "bad_address", "not on the public internet"),
        ("huge", "too_large", "larger than"),
    ],
)
def test_each_trouble_is_a_state_with_a_sentence(
    cast: Cast, remote: Remote, settings: LazySettings, trouble: str, code: str, words: str
) -> None:
    address, given = remote.create("apple", {"a": "1" * 5000}), {}
    if trouble == "wrong":
        address = remote.address("pear")
    if trouble in {"private", "wrong secret"}:
        remote.credential, remote.private_reads = ("ada", "right"), True
        given = {"secret": "wrong", "username": "ada"} if trouble == "wrong secret" else {}
    if trouble == "down":
        remote.fail_with = 503
    if trouble == "hidden":
        settings.ALLOW_HOSTS = []
    if trouble == "huge":
        settings.REPOSITORY_MAX_BYTES = 100
    repository = add_and_fetch(cast, address, **given)
    assert (repository.state, repository.error_code) == ("failed", code)
    assert words in repository.error
    assert not repository.is_ready


def test_a_private_repository_is_fetched_with_the_stored_credential(
    cast: Cast, remote: Remote
) -> None:
    remote.credential, remote.private_reads = ("ada", "s3cret-s3cret-s3cret"), True
    address = remote.create("apple", {"a": "1"})
    repository = add_and_fetch(cast, address, secret="s3cret-s3cret-s3cret", username="ada")
    assert repository.state == "ready"
    with cast.bound():
        stored = Credential.objects.get()
    assert b"s3cret" not in bytes(stored.sealed)


def test_a_secret_goes_with_what_it_was_for(cast: Cast, apple: Repository) -> None:
    with cast.bound():
        for secret in ("first-secret-of-apple", "second-secret-of-apple"):
            row = Repository.objects.get(pk=apple.pk)
            adding.change_credential(row, by=cast.ada.principal, secret=secret, username="")
        assert Credential.objects.get() == Repository.objects.get().credential
        adding.ask_remove(apple, by=cast.ada.principal)
    adding.remove(cast.workspace.pk, apple.pk)
    with cast.bound():
        assert not Credential.objects.exists()


def test_a_fetch_that_the_disk_refuses_ends_in_words(cast: Cast, apple: Repository) -> None:
    mirror = places.mirror(cast.workspace.pk, "apple")
    shutil.rmtree(mirror)
    mirror.write_text("in the way")
    with cast.bound():
        adding.ask_fetch(apple)
    with pytest.raises(OSError, match="apple"):
        adding.fetch(cast.workspace.pk, apple.pk)
    with cast.bound():
        row = Repository.objects.get()
    assert (row.state, row.error_code) == ("failed", "error")
    assert "went wrong on the server" in row.error


def test_an_empty_repository_is_ready_and_says_so(cast: Cast, remote: Remote) -> None:
    repository = add_and_fetch(cast, remote.create("empty"))
    assert (repository.state, repository.is_empty) == ("ready", True)


def test_a_later_fetch_that_fails_keeps_the_mirror(
    cast: Cast, apple: Repository, remote: Remote
) -> None:
    remote.fail_with = 500
    adding.fetch(cast.workspace.pk, apple.pk)
    with cast.bound():
        after = Repository.objects.get()
    assert (after.state, after.is_ready) == ("failed", True)
    assert places.mirror(cast.workspace.pk, "apple").is_dir()


def test_a_fetch_in_progress_is_not_started_twice(
    cast: Cast, apple: Repository, remote: Remote
) -> None:
    with cast.bound():
        Repository.objects.update(state="fetching", fetch_beat_at=timezone.now())
    before = len(remote.entries)
    adding.fetch(cast.workspace.pk, apple.pk)
    assert len(remote.entries) == before


def test_a_fetch_that_was_given_away_says_and_changes_nothing(
    cast: Cast, apple: Repository, remote: Remote
) -> None:
    with cast.bound():
        Repository.objects.update(state="queued")
    first = adding._claim(cast.workspace.pk, apple.pk)
    with cast.bound():
        Repository.objects.update(fetch_beat_at=timezone.now() - timedelta(minutes=5))
    second = adding._claim(cast.workspace.pk, apple.pk)
    assert first is not None
    assert second is not None
    with pytest.raises(git.TimedOut):
        adding._Telling(first).tick()
    adding._settle(first, state="failed", error="It cannot be reached.")
    with cast.bound():
        now = Repository.objects.get()
    assert (now.state, now.error) == ("fetching", "")
    adding._Telling(second).tick()
    adding._settle(second, state="ready")
    with cast.bound():
        assert Repository.objects.get().state == "ready"


def test_a_fetch_that_died_is_found_by_the_sweep(
    cast: Cast, apple: Repository, celery_calls: list[tuple[str, list[str]]]
) -> None:
    with cast.bound():
        stale = timezone.now() - timedelta(minutes=5)
        Repository.objects.update(state="fetching", fetch_beat_at=stale)
    recovery.sweep()
    assert (adding.FETCH, [str(cast.workspace.pk), str(apple.pk)]) in celery_calls


def test_removing_deletes_mirror_and_row(cast: Cast, apple: Repository) -> None:
    with cast.bound():
        adding.ask_remove(apple, by=cast.ada.principal)
        assert not SpaceRepository.objects.exists()
    adding.remove(cast.workspace.pk, apple.pk)
    adding.remove(cast.workspace.pk, apple.pk)
    assert not places.mirror(cast.workspace.pk, "apple").exists()
    with cast.bound():
        assert not Repository.objects.exists()
