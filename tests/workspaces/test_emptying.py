"""What a test has committed is gone before the next one, also beside a page that is still open."""

import threading

import psycopg
import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connections

from tests.cast import Cast
from tests.emptying import AT_WORK, empty
from workspaces.models import User, Workspace
from workspaces.tenancy import across_workspaces


def test_rows_go_and_what_the_migrations_fill_stays(committed_cast: Cast) -> None:
    types = ContentType.objects.count()
    empty("owner")
    with across_workspaces():
        assert not Workspace.objects.exists()
    assert not User.objects.exists()
    assert ContentType.objects.count() == types > 0
    empty("owner")


def test_it_waits_for_a_page_that_is_still_at_work(committed_cast: Cast) -> None:
    owner = connections["owner"]
    with psycopg.connect(**connections["default"].get_connection_params()) as page:
        page.execute("UPDATE workspaces_user SET name = 'late'")
        emptying = threading.Thread(target=_empty_in_thread)
        emptying.start()
        with owner.cursor() as cursor:
            cursor.execute(AT_WORK)
            assert cursor.fetchone() != (0,)
        page.commit()
        emptying.join(60)
    assert not User.objects.exists()


def _empty_in_thread() -> None:
    try:
        empty("owner")
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_the_next_one_finds_nothing() -> None:
    assert not User.objects.exists()
