"""One after the other: for acts that look for what is free and then take it."""

from django.db import connection

from .tenancy import writable_workspace


def take_turn(what: str) -> None:
    """Until the transaction ends nobody else of the bound workspace is past this line for `what`;
    what is read from here on holds until it is written."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext(%s))", [f"{what} {writable_workspace()}"]
        )
