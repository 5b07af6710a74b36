"""How the server reaches a repository's remote: through the guard, with its own credential."""

from django.conf import settings

from outside import git
from outside.egress import Guard
from workspaces.credentials import unseal

from .models import Repository


def guard() -> Guard:
    """What this instance may reach: the public internet and what the operator listed."""
    return Guard.of(hosts=settings.ALLOW_HOSTS, paths=settings.ALLOW_PATHS)


def remote_of(repository: Repository) -> git.Remote:
    """The remote with its credential unsealed. Raises CannotUnseal. Never leaves the server."""
    credential = repository.credential
    if credential is None:
        return git.Remote(repository.address)
    secret = unseal(credential.sealed)
    username = credential.username or git.Credential(secret).username
    return git.Remote(repository.address, git.Credential(secret, username))
