"""An engine that is away is no fault of a page: it says so, and that it comes back."""

from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client
from redis.exceptions import ConnectionError as ValkeyError

from tests.cast import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(cast: Cast) -> Client:
    client = cast.client(cast.ada)
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize("error", [OperationalError, InterfaceError, ValkeyError])
def test_a_page_without_its_engine_is_not_ready(
    cast: Cast, browser: Client, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_away(*_: Any, **__: Any) -> None:
        raise error("the server closed the connection unexpectedly")

    monkeypatch.setattr("workspaces.access.bind", is_away)
    page = browser.get(cast.path("agents/"))
    assert (page.status_code, page["Retry-After"]) == (503, "3")
    assert "It will be back by itself." in page.content.decode()
    assert "connection unexpectedly" not in page.content.decode()
    answer = browser.get(cast.path("api/agents/"))
    assert (answer.status_code, answer.json()["code"]) == (503, "away")


def test_a_bug_is_still_a_fault(
    cast: Cast, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_broken(*_: Any, **__: Any) -> None:
        raise KeyError("nobody thought of it")

    monkeypatch.setattr("workspaces.access.bind", is_broken)
    assert browser.get(cast.path("agents/")).status_code == 500


def test_a_character_that_cannot_be_kept_is_refused(cast: Cast, browser: Client) -> None:
    address = cast.path(f"agents/{cast.engineer.pk}/runs-on/?connection=a%00b&model_id=a%00b")
    page = browser.get(address)
    assert page.status_code == 400
    assert "Nothing was changed." in page.content.decode()


def test_an_address_for_forms_opened_as_a_page_says_so(cast: Cast, browser: Client) -> None:
    page = browser.get(cast.path("repositories/add/"))
    assert (page.status_code, page["Allow"]) == (405, "POST")
    assert "Nothing was changed." in page.content.decode()
    answer = browser.delete(cast.path("api/agents/"))
    assert (answer.status_code, answer.json()["code"]) == (405, "wrong-method")
