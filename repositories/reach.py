"""How the server reaches a repository's remote: through the guard, with its own credential."""

from outside import git
from workspaces.reach import guard, remote

from .models import Repository

__all__ = ["guard", "remote_of"]


def remote_of(repository: Repository) -> git.Remote:
    """The remote with its credential unsealed. Raises CannotUnseal. Never leaves the server."""
    return remote(repository.address, repository.credential)
