"""What a browser is told with every answer, and what a form must bring (gates C: G-C6, ASVS 3)."""

import pytest
from django.conf import settings
from django.test import Client

from tests.cast import PASSWORD, Cast

pytestmark = pytest.mark.django_db
ANSWERS = [
    ("", 200),
    ("agents/", 200),
    ("inbox/", 200),
    ("repositories/", 200),
    ("mentions/", 200),
    ("nothing-here/", 404),
    ("spaces/nothing-here/", 404),
]


@pytest.mark.parametrize(("path", "status"), ANSWERS)
def test_every_answer_says_what_may_run(cast: Cast, path: str, status: int) -> None:
    answer = cast.client(cast.ada).get(cast.path(path))
    assert answer.status_code == status
    rules = {
        name: rest
        for name, _, rest in (
            part.strip().partition(" ") for part in answer["Content-Security-Policy"].split(";")
        )
    }
    assert not [rule for rule in rules.values() if "unsafe" in rule or "*" in rule]
    for closed in ("default-src", "object-src", "base-uri", "frame-ancestors"):
        assert rules[closed] == "'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(("path", "status"), [("/accounts/login/", 200), ("/w/else/", 302)])
def test_so_does_what_a_stranger_gets(client: Client, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_no_script_reads_the_session_and_no_other_site_sends_it(cast: Cast) -> None:
    client = Client()
    client.post("/accounts/login/", {"login": cast.ada.user.email, "password": PASSWORD})
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    assert session["httponly"]
    assert session["samesite"] == "Lax"


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize("path", ["spaces/new/", "repositories/add/"])
def test_a_form_without_its_token_does_nothing(cast: Cast, path: str, htmx: bool) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.ada.user)
    headers = {"hx-request": "true"} if htmx else {}
    assert client.post(cast.path(path), {"name": "x"}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "\\\\evil"]
)
def test_a_sign_in_leads_to_no_other_site(cast: Cast, elsewhere: str) -> None:
    answer = Client().post(
        "/accounts/login/",
        {"login": cast.ada.user.email, "password": PASSWORD, "next": elsewhere},
    )
    assert answer.status_code == 302
    assert "evil" not in answer["Location"]
    assert "javascript" not in answer["Location"]


def test_a_sign_in_gets_a_session_of_its_own(cast: Cast) -> None:
    """A session that somebody planted before is not the one that is signed in."""
    client = Client()
    client.get("/accounts/login/")
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key or ""
    before = session.session_key
    client.post("/accounts/login/", {"login": cast.ada.user.email, "password": PASSWORD})
    assert client.session.session_key != before
