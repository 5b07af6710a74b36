"""Between two tests that really commit: rows go, tables stay.

Django's flush truncates all 50 tables, makes their content types and permissions again (0.2 s of
processor time), and dies of a deadlock beside a page that is still open. Here only what holds rows
is emptied, once nobody is at work.
"""

import time
from functools import cache
from typing import Any

from django.db import OperationalError, connections, transaction

# What the migrations fill.
KEPT = {"django_migrations", "django_content_type", "auth_permission"}
PATIENCE_SECONDS = 10.0
ATTEMPTS = 4
AT_WORK = (
    "SELECT count(*) FROM pg_locks JOIN pg_database AS here ON here.oid = database"
    " WHERE here.datname = current_database() AND pid <> pg_backend_pid() AND locktype = 'relation'"
)


def empty(alias: str) -> None:
    """No table has a row afterwards, but for what the migrations fill."""
    connection = connections[alias]
    _wait_for_others(connection)
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic(using=alias), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '20s'")
                cursor.execute(_question(tuple(_tables(connection))))
                if filled := [table for (table,) in cursor.fetchall()]:
                    cursor.execute("; ".join(f'DELETE FROM "{table}"' for table in filled))
            return
        except OperationalError:  # a deadlock, or a row that an open page holds
            if attempt == ATTEMPTS - 1:
                raise


def _wait_for_others(connection: Any) -> None:
    """A page that was left still does its work: what it writes would be found by the next test."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute(AT_WORK)
            if cursor.fetchone() == (0,):
                return
            time.sleep(0.01)


def _tables(connection: Any) -> list[str]:
    return sorted(set(connection.introspection.table_names()) - KEPT)


@cache
def _question(tables: tuple[str, ...]) -> str:
    """Which of them hold rows."""
    return " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT FROM \"{table}\")" for table in tables
    )
