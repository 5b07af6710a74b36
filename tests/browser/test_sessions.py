"""A session that ends, or a server that fails, in the middle of a form: nothing written is lost."""

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from spaces.models import Space
from tests.browser.conftest import Open
from tests.cast import PASSWORD, Cast

pytestmark = [
    pytest.mark.browser,
    pytest.mark.soak,
    pytest.mark.timeout(600),
    pytest.mark.django_db(transaction=True),
]


def write(page: Page) -> None:
    page.get_by_label("Name").fill("Boiler room")
    page.get_by_label("Topic").fill("What stokes the engine")


def is_back(page: Page) -> None:
    expect(page.get_by_label("Name")).to_have_value("Boiler room")
    expect(page.get_by_label("Topic")).to_have_value("What stokes the engine")
    expect(page.get_by_text("What you had written is back")).to_be_visible()


def test_after_the_sign_in_the_form_is_as_it_was(visit: Open, committed_cast: Cast) -> None:
    page = visit("spaces/new/")
    write(page)
    Session.objects.all().delete()
    page.get_by_role("button", name="Open the space").click()
    page.wait_for_url("**/accounts/login/**")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/spaces/new/")
    is_back(page)
    page.get_by_role("button", name="Open the space").click()
    page.wait_for_url("**/spaces/boiler-room/**")
    page.goto(page.url.partition("/spaces/")[0] + "/spaces/new/")
    expect(page.get_by_label("Name")).to_have_value("")
    with committed_cast.bound():
        assert Space.objects.filter(name="Boiler room").count() == 1


def test_after_a_trouble_the_form_is_as_it_was(
    visit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import OperationalError

    def is_away(*_: Any, **__: Any) -> None:
        raise OperationalError("the server closed the connection")

    page = visit("spaces/new/")
    write(page)
    with monkeypatch.context() as broken:
        broken.setattr("spaces.views.spaces.create_space", is_away)
        page.get_by_role("button", name="Open the space").click()
        expect(page.get_by_text("It will be back by itself.")).to_be_visible()
    page.goto(page.url)
    is_back(page)
