"""Opening accounts: the first one opens the instance, then it takes an invitation."""

from typing import Any

import pytest
from django.test import Client

from agents import seeding
from agents.models import Agent
from tests.cast import PASSWORD, Cast
from workspaces import invitations
from workspaces.forms import is_first_account
from workspaces.models import Membership, Role, User, Workspace
from workspaces.tenancy import across_workspaces, bind

pytestmark = pytest.mark.django_db
FORM = {"name": "Ada Lovelace", "email": "ada@example.org", "password1": PASSWORD}


def sign_up(client: Client, **more: str) -> Any:
    return client.post("/accounts/signup/", {**FORM, **more})


def test_the_first_visit_leads_to_an_account_and_a_workspace(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/accounts/signup/"
    answer = sign_up(client, workspace_name="Analytical")
    assert answer.status_code == 302
    user = User.objects.get()
    assert user.is_instance_admin
    with across_workspaces():
        workspace = Workspace.objects.get()
    assert workspace.slug == "analytical"
    with bind(workspace):
        assert Membership.objects.get().role == Role.OWNER


@pytest.mark.req("CC-75", "CC-76")
def test_every_workspace_gets_its_team(cast: Cast) -> None:
    workspace = seeding.found_workspace(cast.ben.user, "Second")
    seeding.seed(workspace.pk)
    seeding.seed(workspace.pk)  # twice is once
    with bind(workspace):
        names = list(Agent.objects.values_list("name", flat=True))
        assert sorted(names) == ["architect", "ceo", "engineer", "librarian", "qa"]
        chief = Agent.objects.get(name="ceo")
        others = Agent.objects.exclude(name="ceo")
        assert {each.reports_to_id for each in others} == {chief.principal_id}
        assert {(each.adapter_id, each.model_id) for each in Agent.objects.all()} == {(None, None)}


def test_of_two_first_accounts_at_one_moment_one_is_the_first() -> None:
    early, late = (User.objects.create_user(f"{name}@example.org") for name in ("ada", "ben"))
    assert [is_first_account(late), is_first_account(early)] == [False, True]


def test_after_the_first_account_the_door_is_closed(client: Client, cast: Cast) -> None:
    assert b"closed" in client.get("/accounts/signup/").content.lower()
    sign_up(client, email="mallory@example.org")
    assert not User.objects.filter(email="mallory@example.org").exists()


def test_an_invitation_opens_it_once(client: Client, cast: Cast) -> None:
    with cast.bound():
        _row, token = invitations.invite(
            email="new@example.org", role=Role.MEMBER, by=cast.ada.principal
        )
    page = client.get(f"/invite/{token}/")
    assert b"Analytical" in page.content
    sign_up(client, name="Nova", email="new@example.org")
    with cast.bound():
        joined = Membership.objects.get(user__email="new@example.org")
        assert joined.role == Role.MEMBER
    assert not joined.user.is_instance_admin
    assert Client().get(f"/invite/{token}/").status_code == 404


@pytest.mark.parametrize("token", ["", "x", "a.b.c", f"{'0' * 32}.{'0' * 32}.s", "../../etc"])
def test_a_bad_invitation_says_only_that_it_does_not_work(
    client: Client, cast: Cast, token: str
) -> None:
    assert invitations.find(token) is None
    assert client.get(f"/invite/{token}/").status_code == 404


def test_a_reachable_instance_asks_for_its_setup_token(client: Client, settings: Any) -> None:
    settings.SETUP_TOKEN = "from-the-terminal"
    sign_up(client, workspace_name="Stolen")
    assert not User.objects.exists()
    sign_up(client, workspace_name="Mine", setup_token="from-the-terminal")
    assert User.objects.get().is_instance_admin


def test_the_sessions_of_an_account_are_told_apart(client: Client, cast: Cast) -> None:
    for browser in ("Lynx/2.9", "Firefox/140"):
        there = Client(HTTP_USER_AGENT=browser)
        there.post("/accounts/login/", {"login": "ada@example.org", "password": PASSWORD})
        page = there.get("/accounts/sessions/").content.decode()
        assert browser in page
        assert "127.0.0.1" in page
        assert page.count("This one") == 1
    assert "Lynx/2.9" in page
    there.post("/accounts/sessions/")
    page = there.get("/accounts/sessions/").content.decode()
    assert "Lynx/2.9" not in page
    assert "Firefox/140" in page
