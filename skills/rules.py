"""What a workspace decided beforehand about skills."""

from collections.abc import Collection

from skills.scanning import Rules
from workspaces.models import Principal


def current() -> Rules:
    """The rules of the bound workspace; without a row nothing is accepted beforehand."""
    raise NotImplementedError


def change(
    *,
    by: Principal,
    accepts_first_prose: bool,
    accepts_warnings: bool,
    tolerated: Collection[str] = (),
    denied: Collection[str] = (),
) -> None:
    """The rules from now on, on record; what is installed is judged by them in the background.

    Raises ValueError for a rule id or a capability that does not exist.
    """
    raise NotImplementedError
