"""What every test may rely on: both database roles, the cast, folders of its own."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import browser, sign_in, tab

if TYPE_CHECKING:
    from tests.cast import Cast

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # Playwright leaves a loop running

__all__ = ["browser", "sign_in", "tab"]  # one Chromium for all that asks for one
BOTH = ["default", "owner"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A database test uses the owner's alias (shape, flush) and the application's (all else).

    Also one that only asks for a fixture that stands on the database: with the application's alias
    alone, which mirrors the other, nothing of it would be rolled back.
    """
    for item in items:
        markers = list(item.iter_markers("django_db"))
        fixtures = getattr(item, "fixturenames", ())
        if not markers and "transactional_db" in fixtures:
            item.add_marker(pytest.mark.django_db(transaction=True, databases=BOTH))
        elif not markers and "db" in fixtures:
            item.add_marker(pytest.mark.django_db(databases=BOTH))
        for marker in markers:
            if not marker.kwargs.get("databases"):
                dict.update(marker.kwargs, databases=BOTH)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Signs in as the application role; people of the cast need no slow hash."""
    from django.conf import settings
    from django.db import connections

    # A pool keeps sessions open, and a database with sessions cannot be dropped at the end.
    connections["default"].settings_dict["OPTIONS"].pop("pool", None)
    assert settings.DATABASES["default"]["USER"] == "cc_app", "the tests must run as cc_app"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """At its end nobody is connected to the test database any more: it can be dropped."""
    from django.db import connections
    from django.test import TransactionTestCase

    from tests.emptying import empty
    from workspaces.standby import standby

    TransactionTestCase._fixture_teardown = lambda _: empty("owner")  # type: ignore[attr-defined]
    yield
    standby().close()
    connections.close_all()  # Django closes the owner's alias, and not the one that mirrors it


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The instance's data directory is a folder of the test."""
    from django.conf import settings

    folder = tmp_path / "data"
    before, settings.DATA_DIR = settings.DATA_DIR, folder
    yield folder
    settings.DATA_DIR = before


@pytest.fixture(autouse=True)
def english() -> None:
    """The language that a test before this one spoke, over a page, is not spoken any more."""
    from django.utils import translation

    translation.activate("en")


@pytest.fixture
def cast(db: None) -> "Cast":
    """Ada's workspace Analytical with Ben, Vera, ceo and engineer; Eve's workspace elsewhere."""
    from tests.cast import make_cast

    return make_cast()


@pytest.fixture
def committed_cast(transactional_db: None) -> "Cast":
    """The same, really committed: for threads and other processes."""
    from tests.cast import make_cast

    return make_cast()
