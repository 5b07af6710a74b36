"""Personal access tokens: made once, kept as a hash, gone when they should be."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.cast import Cast
from workspaces import members, tokens
from workspaces.models import ApiToken, AuditEntry, Membership, Role
from workspaces.tenancy import bind

pytestmark = pytest.mark.django_db


def make(cast: Cast, who: Membership, *, may_write: bool = True, days: int | None = None) -> str:
    with bind(who.workspace_id):
        _row, text = tokens.issue(who, name="nightly-7", may_write=may_write, days=days)
    return text


def call(text: str, path: str, method: str = "GET", **more: Any) -> Any:
    """A program without cookies, whose session nobody could borrow."""
    headers = {"Authorization": f"Bearer {text}"} if text else {}
    return Client(enforce_csrf_checks=True).generic(method, path, headers=headers, **more)


def test_the_page_shows_a_token_once_and_keeps_only_a_hash(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    page = cast.path("settings/tokens/")
    assert b"No token yet" in ben.get(page).content
    made = ben.post(f"{page}new/", {"name": "Nightly", "scope": "write", "days": "90"})
    [text] = re.findall(rb"cct_[0-9a-f]{32}_[\w-]{43}", made.content.partition(b"new-token")[2])[:1]
    assert made["Cache-Control"] == "no-store"
    assert text not in ben.get(page).content
    with cast.bound():
        [row] = ApiToken.objects.all()
        assert text.decode()[-43:] not in "".join(str(value) for value in vars(row).values())
        assert row.expires_at is not None
        assert row.expires_at > timezone.now() + timedelta(days=89)
    assert b"never" in ben.get(page).content
    assert call(text.decode(), cast.path("api/agents/")).status_code == 200
    with cast.bound():
        assert ApiToken.objects.get().last_used_at is not None


def test_a_member_sees_own_tokens_and_an_admin_revokes_any(cast: Cast) -> None:
    text = make(cast, cast.ben)
    with cast.bound():
        row = ApiToken.objects.get()
    address = cast.path(f"settings/tokens/{row.pk}/revoke/")
    assert b"nightly-7" not in cast.client(cast.vera).get(cast.path("settings/tokens/")).content
    assert cast.client(cast.vera).post(address).status_code == 404
    assert b"Ben Franklin" in cast.client(cast.ada).get(cast.path("settings/tokens/")).content
    for _twice in range(2):
        assert cast.client(cast.ada).post(address).status_code == 302
    assert call(text, cast.path("api/agents/")).status_code == 401


@pytest.mark.parametrize("wrong", [{"name": ""}, {"scope": "all"}, {"days": "7"}, {"name": "a\0b"}])
def test_what_cannot_be_is_said_at_its_field(cast: Cast, wrong: dict[str, str]) -> None:
    form = {"name": "x", "scope": "read", "days": "30"}
    answer = cast.client(cast.ben).post(cast.path("settings/tokens/new/"), form | wrong)
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == wrong.keys()
    with cast.bound():
        assert not ApiToken.objects.exists()


def test_a_token_dies_with_its_time_its_member_and_its_account(cast: Cast) -> None:
    address = cast.path("api/agents/")
    ending, lasting = make(cast, cast.ben, days=30), make(cast, cast.ben)
    with cast.bound():
        past = timezone.now() - timedelta(seconds=1)
        ApiToken.objects.exclude(expires_at=None).update(expires_at=past)
    assert [call(each, address).status_code for each in (ending, lasting)] == [401, 200]
    cast.ben.user.is_active = False
    cast.ben.user.save()
    assert call(lasting, address).status_code == 401
    cast.ben.user.is_active = True
    cast.ben.user.save()
    assert call(lasting, address).status_code == 200
    with cast.bound():
        members.remove(cast.ben, by=cast.ada)
    assert call(lasting, address).status_code == 401


def test_a_token_never_carries_more_than_its_member_does_now(cast: Cast) -> None:
    text = make(cast, cast.ben)
    pause = cast.path(f"api/agents/{cast.engineer.pk}/pause/")
    assert call(text, pause, "POST").status_code == 403
    with cast.bound():
        members.change_role(cast.ben, Role.ADMIN, by=cast.ada)
    assert call(text, pause, "POST").status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "cct_",
        f"cct_{'0' * 32}_{'a' * 43}",
        f"cct_{'g' * 32}_{'a' * 43}",
        "cct_" + "0" * 32 + "_" + "a" * 43 + "\u00e9",
        "a" * 100_000,
    ],
)
def test_what_is_no_token_is_refused_in_words(cast: Cast, text: str) -> None:
    answer = Client().get(cast.path("api/agents/"), headers={"Authorization": f"Bearer {text}"})
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["detail"].startswith("The token is unknown")


def test_a_wrong_token_is_not_saved_by_a_session(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    answer = ada.get(cast.path("api/agents/"), headers={"Authorization": "Bearer nothing"})
    assert answer.status_code == 401
    assert (
        ada.get(cast.path("api/agents/"), headers={"Authorization": "Basic eA=="}).status_code
        == 401
    )


def test_a_session_changes_nothing_without_its_csrf_token(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.ada.user)
    pause = cast.path(f"api/agents/{cast.engineer.pk}/pause/")
    assert client.post(pause).status_code == 403
    page = client.get(cast.path("agents/")).content.decode()
    [csrf] = re.findall(r'"X-CSRFToken": "(\w+)"', page)
    assert client.post(pause, headers={"X-CSRFToken": csrf}).status_code == 200


def test_too_many_calls_and_too_large_bodies_are_refused_in_words(
    cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workspaces.pace.time.time", lambda: 1_900_000_010.0)  # one minute long
    text, other = make(cast, cast.ada), make(cast, cast.ada)
    address = cast.path("api/agents/")
    settings.API_BODY_BYTES = 1024
    large = call(text, address, "POST", data=b" " * 2000, content_type="application/json")
    assert (large.status_code, large.json()["code"]) == (413, "too-large")
    settings.API_CALLS_A_MINUTE = 3
    answers = [call(text, address) for _call in range(4)]
    assert [answer.status_code for answer in answers[:3]] == [200, 200, 200]
    assert answers[-1].status_code == 429
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert "Try again in" in answers[-1].json()["detail"]
    assert call(other, address).status_code == 200


def test_a_member_has_no_more_than_fifty(cast: Cast) -> None:
    with cast.bound():
        for _each in range(tokens.MOST_OPEN):
            tokens.issue(cast.ben, name="x", may_write=False, days=None)
    form = {"name": "x", "scope": "read", "days": "never"}
    answer = cast.client(cast.ben).post(cast.path("settings/tokens/new/"), form)
    assert answer.status_code == 422
    assert b"Revoke one" in answer.content


def test_two_workspaces_never_share_a_token(cast: Cast) -> None:
    text = make(cast, cast.eve)
    assert call(text, "/w/elsewhere/api/agents/").status_code == 200
    assert call(text, cast.path("api/agents/")).status_code == 404
    assert (
        call(text, "/w/never-was/api/agents/").json() == call(text, cast.path("api/agents/")).json()
    )


def test_the_audit_says_which_token_acted(cast: Cast) -> None:
    text = make(cast, cast.ada)
    pause = cast.path(f"api/agents/{cast.engineer.pk}/pause/")
    assert call(text, pause, "POST").status_code == 200
    with cast.bound():
        token = ApiToken.objects.get()
        entry = AuditEntry.objects.filter(action="agent.paused").get()
        assert (entry.actor, entry.detail["through"]) == (
            cast.ada.principal,
            {"token": str(token.pk), "name": "nightly-7", "prefix": token.prefix},
        )
    ada = cast.client(cast.ada)
    ada.post(cast.path("agents/several/"), {"agents": [str(cast.ceo.pk)], "act": "paused"})
    with cast.bound():
        other = AuditEntry.objects.exclude(pk=entry.pk)
        assert not other.filter(detail__has_key="through").exists()
    page = ada.get(cast.path("settings/audit/")).content.decode()
    assert page.count(f"nightly-7” ({token.prefix}…)") == 1
