"""Keys: UUIDv7, made in Python, so that a row knows its key before it is stored."""

from uuid import UUID

from uuid_utils import compat


def uuid7() -> UUID:
    """A fresh key; later calls sort after earlier ones."""
    return compat.uuid7()
