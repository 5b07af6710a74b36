"""The pages of repositories and pushes: works, strangers, roles, methods, twice."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from repositories import adding, places
from repositories.models import PushRequest, Repository
from spaces.models import Space
from tests.cast import Cast

pytestmark = pytest.mark.django_db

DIFF = (
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-x\n"
    "+y <script>alert(1)</script>\n+z\u202ehidden\u200b\n"
)


def url(name: str, cast: Cast, *args: object) -> str:
    return reverse(f"repositories:{name}", args=[cast.workspace.slug, *args])


@pytest.fixture
def quiet(celery_calls: list[Any]) -> list[Any]:
    return celery_calls


@pytest.fixture
def pear(cast: Cast) -> Repository:
    with cast.bound():
        row: Repository = Repository.objects.create(
            name="pear", address="https://example.com/pear", state="ready"
        )
    return row


@pytest.fixture
def push(cast: Cast, pear: Repository) -> PushRequest:
    return store_push(cast, pear)


def store_push(cast: Cast, pear: Repository, *, diff: str = DIFF, **given: Any) -> PushRequest:
    with cast.bound():
        row: PushRequest = PushRequest.objects.create(
            number=given.pop("number", 1),
            repository=pear,
            repository_name="pear",
            run_id=uuid4(),
            conversation=cast.conversation,
            space=given.pop("space", cast.space),
            agent=cast.engineer.principal,
            refs=[
                {"ref": "refs/heads/ma\u200bin", "old": "1" * 40, "new": "2" * 40, "kind": "force"}
            ],
            digest=uuid4().hex,
            quarantine=str(uuid4()),
            summary={
                "commits": [{"oid": "2" * 40, "subject": "Fix <b>it</b>", "author": "E <e@x>"}],
                "commit_count": 60,
                "file_count": 1,
                "warnings": ["config.py:1 looks like a secret."],
                "diff_is_whole": True,
            },
            **given,
        )
    places.diff_file(row).parent.mkdir(parents=True)
    places.diff_file(row).write_text(diff)
    return row


def test_the_list_says_what_to_do_when_there_is_none(cast: Cast) -> None:
    page = cast.client(cast.ada).get(url("repository-list", cast)).content.decode()
    assert "No repositories yet" in page
    assert 'name="address"' in page


def test_an_admin_adds_a_repository_and_sees_it_wait(cast: Cast, quiet: list[Any]) -> None:
    client = cast.client(cast.ada)
    answer = client.post(url("repository-add", cast), {"address": "ada/engine"})
    with cast.bound():
        row = Repository.objects.get()
    assert answer.headers["Location"] == url("repository-show", cast, row.pk)
    assert row.address == "https://github.com/ada/engine"
    assert quiet == [(adding.FETCH, [str(cast.workspace.pk), str(row.pk)])]
    assert "Waiting to be fetched" in client.get(answer.headers["Location"]).content.decode()


@pytest.mark.parametrize("address", ["", "ext::sh -c id", "nonsense"])
def test_a_wrong_address_is_said_beside_the_field(
    cast: Cast, quiet: list[Any], address: str
) -> None:
    answer = cast.client(cast.ada).post(url("repository-add", cast), {"address": address})
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert quiet == []


def test_an_error_and_progress_are_shown(cast: Cast, pear: Repository) -> None:
    with cast.bound():
        Repository.objects.update(state="failed", error="The remote does not answer.")
    client = cast.client(cast.vera)
    assert (
        "The remote does not answer."
        in client.get(url("repository-show", cast, pear.pk)).content.decode()
    )
    with cast.bound():
        Repository.objects.update(state="fetching", stage="Receiving objects", percent=40)
    part = client.get(url("repository-show", cast, pear.pk), headers={"HX-Request": "true"})
    assert "Receiving objects" in part.content.decode()
    assert "40 %" in part.content.decode()
    assert "<html" not in part.content.decode()


def test_a_secret_is_stored_and_never_shown_again(
    cast: Cast, pear: Repository, quiet: list[Any]
) -> None:
    client = cast.client(cast.ada)
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
    client.post(url("repository-credential", cast, pear.pk), {"secret": secret})
    page = client.get(url("repository-show", cast, pear.pk)).content.decode()
    assert secret not in page
    assert "6789" in page
    with cast.bound():
        assert secret.encode() not in bytes(Repository.objects.get().credential.sealed)


def test_removing_asks_for_the_name_and_says_what_is_lost(
    cast: Cast, pear: Repository, quiet: list[Any]
) -> None:
    client = cast.client(cast.ada)
    assert (
        "The copy of the repository on this server"
        in client.get(url("repository-show", cast, pear.pk)).content.decode()
    )
    client.post(url("repository-remove", cast, pear.pk), {"confirm": "peach"})
    with cast.bound():
        assert Repository.objects.get().state == "ready"
    client.post(url("repository-remove", cast, pear.pk), {"confirm": "pear"})
    client.post(url("repository-remove", cast, pear.pk), {"confirm": "pear"})
    with cast.bound():
        assert Repository.objects.get().state == "removing"
    assert "pear" not in client.get(url("repository-list", cast)).content.decode().split("<main")[1]


def test_a_repository_with_a_waiting_push_is_not_removed(
    cast: Cast, pear: Repository, push: PushRequest
) -> None:
    cast.client(cast.ada).post(url("repository-remove", cast, pear.pk), {"confirm": "pear"})
    with cast.bound():
        assert Repository.objects.get().state == "ready"


def test_a_push_shows_what_it_would_publish_with_unseen_characters_named(
    cast: Cast, push: PushRequest
) -> None:
    page = cast.client(cast.vera).get(url("push-show", cast, push.pk)).content.decode()
    assert "looks like a secret" in page
    assert "Rewrites history" in page
    assert "59 more commits" in page
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "\u200b" not in page
    assert re.search(r"U\+?202E|RIGHT-TO-LEFT", page, re.IGNORECASE)


def test_a_long_diff_is_paged_and_says_so(cast: Cast, pear: Repository) -> None:
    one = DIFF.replace("a.py", "file-{}.py")
    long = "".join(one.replace("{}", str(number)) for number in range(45))
    push = store_push(cast, pear, diff=long)
    client = cast.client(cast.ada)
    page = client.get(url("push-show", cast, push.pk)).content.decode()
    assert "Not all shown." in page
    assert "25 more files." in page
    last = client.get(url("push-diff", cast, push.pk), {"page": "3"}).content.decode()
    assert "file-44.py" in last
    assert "file-1.py" not in last
    assert client.get(url("push-diff", cast, push.pk), {"page": "999"}).status_code == 200
    assert client.get(url("push-diff", cast, push.pk), {"page": "x"}).status_code == 200


def test_fifty_thousand_lines_are_not_all_on_one_page(cast: Cast, pear: Repository) -> None:
    lines = "".join(f"+line {number}\n" for number in range(50_000))
    head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1,50000 @@\n"
    push = store_push(cast, pear, diff=head + lines)
    client = cast.client(cast.ada)
    page = client.get(url("push-diff", cast, push.pk)).content.decode()
    assert "Not all shown" in page
    assert "line 49999" not in page
    whole = client.get(url("push-diff-whole", cast, push.pk))
    assert whole.headers["Content-Disposition"].startswith("attachment")
    assert "line 49999" in whole.content.decode()


def test_a_diff_that_is_gone_is_said(cast: Cast, push: PushRequest) -> None:
    places.diff_file(push).unlink()
    page = cast.client(cast.ada).get(url("push-show", cast, push.pk)).content.decode()
    assert "The diff is not kept any more" in page


def test_pushes_of_a_private_space_are_its_participants_alone(cast: Cast, pear: Repository) -> None:
    with cast.bound():
        private = Space.objects.create(name="Vault", slug="vault", visibility="private")
    push = store_push(cast, pear, space=private)
    for name in ("push-show", "push-diff", "push-diff-whole"):
        assert cast.client(cast.ada).get(url(name, cast, push.pk)).status_code == 404
    listed = cast.client(cast.ada).get(url("push-list", cast)).content.decode()
    assert f"#{push.number}" not in listed.split("<main")[1]


PAGES = ["repository-list", "push-list"]
ROWS = ["repository-show", "push-show", "push-diff", "push-diff-whole"]
ACTS = ["repository-fetch", "repository-credential", "repository-remove"]


@pytest.mark.parametrize("name", PAGES + ROWS)
def test_strangers_get_the_same_as_for_what_is_not_there(
    cast: Cast, pear: Repository, push: PushRequest, name: str
) -> None:
    key = [] if name in PAGES else [pear.pk if "repository" in name else push.pk]
    assert cast.client(cast.eve).get(url(name, cast, *key)).status_code == 404
    assert cast.client(cast.vera).get(url(name, cast, *key)).status_code == 200
    if key:
        assert cast.client(cast.vera).get(url(name, cast, uuid4())).status_code == 404
    assert cast.client().get(url(name, cast, *key)).status_code == 302


@pytest.mark.parametrize("name", [*ACTS, "repository-add"])
def test_acts_want_a_role_and_a_post(
    cast: Cast, pear: Repository, quiet: list[Any], name: str
) -> None:
    address = url(name, cast, *([] if name == "repository-add" else [pear.pk]))
    assert cast.client(cast.eve).post(address).status_code == 404
    assert cast.client(cast.vera).post(address).status_code == 403
    assert cast.client(cast.ada).get(address).status_code == 405
    needs_admin = name != "repository-fetch"
    assert (cast.client(cast.ben).post(address).status_code == 403) is needs_admin
