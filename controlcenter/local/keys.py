"""Whether the keys of an instance are there, and its one-time setup token."""

import os
import secrets
from pathlib import Path

import psycopg

from controlcenter.local.errors import StartError
from controlcenter.secret_files import Secrets, kept

KEYS = {
    "django.key": "CC_SECRET_KEY",
    "encryption.keys": "CC_ENCRYPTION_KEYS",
    "audit.key": "CC_AUDIT_KEY",
}


def missing(data: Path) -> list[str]:
    """The names of keys that neither a file nor the environment gives."""
    return [
        name
        for name, variable in KEYS.items()
        if not os.environ.get(variable, "").strip() and not (data / "secrets" / name).is_file()
    ]


def ensure(data: Path, *, database_url: str) -> None:
    """All keys are there afterwards, made now if this instance is new.

    A database with rows whose keys are missing is refused: new keys would hide the loss.
    """
    lost = missing(data)
    if lost and _has_rows(database_url):
        raise StartError(
            f"The database holds data, but {data / 'secrets'} lacks {', '.join(lost)}. Restore "
            "that folder from the same backup, or give the keys in "
            f"{', '.join(KEYS[name] for name in lost)}."
        )
    made = Secrets(data / "secrets")
    _ = made.django_key, made.encryption_keys, made.audit_key


def offer_setup_token(data: Path, *, is_reachable: bool) -> None:
    """CC_SETUP_TOKEN is set when others can reach us: the first account must show it."""
    if is_reachable and not os.environ.get("CC_SETUP_TOKEN"):
        file = data / "secrets" / "setup.token"
        os.environ["CC_SETUP_TOKEN"] = kept(file, secrets.token_urlsafe(18))


def _has_rows(database_url: str) -> bool:
    try:
        with psycopg.connect(database_url, connect_timeout=10) as connection:
            row = connection.execute("SELECT to_regclass('django_migrations')").fetchone()
    except psycopg.OperationalError as error:
        raise StartError(f"The database does not answer: {error}") from error
    return bool(row and row[0])
