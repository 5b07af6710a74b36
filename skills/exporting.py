"""Taking skills along: a ZIP of their directories with the lock entries beside them."""

from collections.abc import Collection


def archive(slugs: Collection[str]) -> bytes:
    """A ZIP with `<slug>/…` for each and a `skills-lock.json` of their entries; the same skills
    always give the same bytes. Raises lockfile.LockUnreadable or lockfile.LockMismatch."""
    raise NotImplementedError
