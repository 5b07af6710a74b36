"""A session that ends in the middle of something: one signs in and is where one was."""

import pytest
from django.test import Client

from tests.cast import Cast

pytestmark = pytest.mark.django_db


def test_a_page_leads_back_to_itself(cast: Cast) -> None:
    answer = Client().get(cast.path("agents/?q=a"))
    assert answer.headers["Location"] == "/accounts/login/?next=/w/analytical/agents/%3Fq%3Da"


@pytest.mark.parametrize(
    ("from_page", "back_to"),
    [
        ("http://testserver/w/analytical/spaces/new/", "/w/analytical/spaces/new/"),
        ("http://testserver/w/analytical/runs/?page=2", "/w/analytical/runs/%3Fpage%3D2"),
        ("https://evil.example/w/analytical/", "/"),
        ("//evil.example/x", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_an_act_leads_back_to_its_page(cast: Cast, from_page: str, back_to: str) -> None:
    """The address of the act itself answers no GET."""
    act = cast.path(f"spaces/engine-room/{cast.conversation.pk}/say/")
    by_form = Client().post(act, {"text": "hello"}, headers={"Referer": from_page})
    assert by_form.headers["Location"] == f"/accounts/login/?next={back_to}"
    headers = {"HX-Request": "true", "HX-Current-URL": from_page}
    by_script = Client().post(act, {"text": "hello"}, headers=headers)
    assert by_script.status_code == 401
    assert by_script.headers["HX-Redirect"] == f"/accounts/login/?next={back_to}"


def test_a_page_older_than_the_sign_in_says_so(cast: Cast) -> None:
    """Somebody signed in again in another tab, which changed the token of forms."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.ada.user)
    act = cast.path(f"spaces/engine-room/{cast.conversation.pk}/say/")
    by_script = browser.post(act, {"text": "hello"}, headers={"HX-Request": "true"})
    assert by_script.status_code == 403
    assert "older than your sign-in" in by_script.content.decode()
    assert by_script.headers["X-Said"].startswith("This%20page%20is%20older")
    by_form = browser.post(act, {"text": "hello"})
    assert by_form.status_code == 403
    assert "older than your sign-in" in by_form.content.decode()
    assert "Your role" not in by_form.content.decode()
