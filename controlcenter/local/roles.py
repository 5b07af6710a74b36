"""The three roles in PostgreSQL that row-level security stands on (DESIGN 6).

`cc_owner` owns the database and migrates. `cc_app` signs in for everything else and owns
nothing. `cc_system` sees all workspaces; nobody signs in as it and nobody inherits it: it is
taken on with SET ROLE for one transaction.
"""

import psycopg
from psycopg import sql

from controlcenter.local.passwords import Passwords

OWNER = "cc_owner"
APP = "cc_app"
SYSTEM = "cc_system"

ATTRIBUTES = {
    # CREATEDB, because the tests create their databases as this role.
    OWNER: "LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS INHERIT",
    APP: "LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS NOINHERIT",
    SYSTEM: "NOLOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS NOINHERIT",
}


def ensure(connection: psycopg.Connection, *, passwords: Passwords | None) -> None:
    """The roles exist with exactly these attributes, memberships and passwords."""
    for role, attributes in ATTRIBUTES.items():
        known = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount
        verb = "ALTER" if known else "CREATE"
        connection.execute(sql.SQL(f"{verb} ROLE {role} {attributes}"))
        if passwords and role in passwords:
            connection.execute(
                sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                    sql.Identifier(role), sql.Literal(passwords[role])
                )
            )
    for statement in memberships(connection.info.server_version):
        connection.execute(statement)


def memberships(server_version: int) -> list[str]:
    """Grant the system role so that it can be taken on but is never inherited."""
    if server_version >= 160000:
        # From 16 on the grant decides, not the member's NOINHERIT.
        return [
            f"GRANT {SYSTEM} TO {member} WITH INHERIT FALSE, SET TRUE, ADMIN FALSE"
            for member in (APP, OWNER)
        ]
    return [f"GRANT {SYSTEM} TO {APP}, {OWNER}"]


def ensure_database(connection: psycopg.Connection, name: str) -> None:
    """The database exists and belongs to `cc_owner`; others may connect, not create."""
    if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(
                sql.Identifier(name), sql.Identifier(OWNER)
            )
        )
