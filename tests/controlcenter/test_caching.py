"""Pages are stored nowhere; files that never change are."""

import pytest
from django.contrib.staticfiles import finders

from tests.cast import Cast

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["", "inbox/", "agents/", "mentions/", "nothing-here/"])
def test_a_page_is_stored_nowhere(cast: Cast, path: str) -> None:
    answer = cast.client(cast.ada).get(cast.path(path))
    assert "no-store" in answer["Cache-Control"]


def test_the_page_of_who_is_not_signed_in_neither(cast: Cast) -> None:
    assert "no-store" in cast.client().get("/accounts/login/")["Cache-Control"]


def test_a_script_may_be_kept(cast: Cast) -> None:
    assert finders.find("js/main.js")
    assert "no-store" not in cast.client().get("/static/js/main.js").get("Cache-Control", "")
