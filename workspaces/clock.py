"""The one clock that all machines of an instance share: what is due is due by the database's."""

from datetime import datetime

from django.db import connection


def now() -> datetime:
    """The database's time at this moment, with its zone."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [moment] = cursor.fetchone()
    found: datetime = moment
    return found
