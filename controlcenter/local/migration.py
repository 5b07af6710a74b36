"""`python -m controlcenter.local migrate`: a database elsewhere is made ready for this version.

With DATABASE_ADMIN_URL (a superuser, needed once) the roles and the database are made too, with
the names and passwords that DATABASE_URL and DATABASE_OWNER_URL give.
"""

import os
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from controlcenter.local import data_directory, keys, ports, programs, roles
from controlcenter.local.errors import StartError


def run(data: Path, *, host: str) -> int:
    """Roles, database and tables are as this version wants them. Returns the exit code."""
    app, owner = (_address(name) for name in ("DATABASE_URL", "DATABASE_OWNER_URL"))
    data_directory.prepare(data)
    os.environ["CC_DATA_DIR"] = str(data)
    keys.offer_setup_token(data, is_reachable=not ports.is_loopback(host))
    if admin := os.environ.pop("DATABASE_ADMIN_URL", ""):
        _provide(admin, app=app, owner=owner)
    keys.ensure(data, database_url=os.environ["DATABASE_OWNER_URL"])
    programs.load()
    programs.migrate()
    return 0


def _provide(admin: str, *, app: dict[str, str], owner: dict[str, str]) -> None:
    passwords = {roles.APP: app.get("password", ""), roles.OWNER: owner.get("password", "")}
    with psycopg.connect(admin, autocommit=True) as connection:
        roles.ensure(connection, passwords={name: word for name, word in passwords.items() if word})
        roles.ensure_database(connection, owner["dbname"])


def _address(name: str) -> dict[str, str]:
    if not os.environ.get(name):
        raise StartError(f"Please set {name} to the address of your PostgreSQL.")
    return {key: str(value) for key, value in conninfo_to_dict(os.environ[name]).items()}
