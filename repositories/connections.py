"""Giving the thread's database connection back before something slow begins."""

from django.db import connection


def give_back() -> None:
    """The connection returns to the pool, unless a transaction of the caller's is open."""
    if not connection.in_atomic_block:
        connection.close()
