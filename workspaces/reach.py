"""How the server reaches git remotes of a workspace: through the guard, with its credential."""

from django.conf import settings

from outside import git
from outside.egress import Guard

from .credentials import unseal
from .models import Credential


def guard() -> Guard:
    """What this instance may reach: the public internet and what the operator listed."""
    return Guard.of(hosts=settings.ALLOW_HOSTS, paths=settings.ALLOW_PATHS)


def remote(address: str, credential: Credential | None) -> git.Remote:
    """The remote with its credential unsealed. Raises CannotUnseal. Never leaves the server."""
    if credential is None:
        return git.Remote(address)
    secret = unseal(credential.sealed)
    username = credential.username or git.Credential(secret).username
    return git.Remote(address, git.Credential(secret, username))
