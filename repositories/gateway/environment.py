"""What a run's git is told: reach the repositories of its conversation through the gateway."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from django.conf import settings

from agents.paths import conversation_directory
from repositories.models import Repository, SpaceRepository

from . import tokens
from .judge import Origin


def environment_of(origin: Origin, *, gateway_url: str = "") -> dict[str, str]:
    """`run_git_environment` for all repositories of the origin's space, read in the bound
    workspace."""
    links = SpaceRepository.objects.filter(space_id=origin.space_id)
    rows = Repository.objects.filter(pk__in=links.values("repository_id"))
    home = conversation_directory(origin.workspace_id, origin.space_id, origin.conversation_id)
    return run_git_environment(origin, rows, ceiling=home / "repos", gateway_url=gateway_url)


class Reached(Protocol):
    """A repository by its name here and its address elsewhere (a Repository or a Prepared)."""

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str: ...


def run_git_environment(
    origin: Origin,
    repositories: Iterable[Reached],
    *,
    ceiling: Path,
    gateway_url: str = "",
) -> dict[str, str]:
    """Variables for the run's child processes: fetches and pushes of these repositories go through
    the gateway with the run's own token, which opens nothing else.

    `ceiling` is the folder above the checkouts: a git that lost its `.git` file stops there instead
    of finding a repository around the data directory. `gateway_url` is where the gateway is seen
    from the run (inside a sandbox it may be another one). No credential of a remote is in here.
    This routes; what keeps a push in is that nobody else has a credential, and the sandbox.
    """
    base = (gateway_url or settings.GATEWAY_URL).rstrip("/")
    entries = [("credential.helper", ""), ("protocol.ext.allow", "never")]
    for repository in repositories:
        here = f"{base}/git/{repository.name}"
        token = tokens.issue(origin, repository.name)
        entries.append((f"http.{here}.extraHeader", f"Authorization: Bearer {token}"))
        entries += [(f"url.{here}.insteadOf", text) for text in spellings(repository.address)]
    numbered = {
        variable: text
        for number, (key, value) in enumerate(entries)
        for variable, text in (
            (f"GIT_CONFIG_KEY_{number}", key),
            (f"GIT_CONFIG_VALUE_{number}", value),
        )
    }
    return {
        "GIT_CONFIG_COUNT": str(len(entries)),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_SSH_COMMAND": "/bin/false",
        "GIT_CEILING_DIRECTORIES": str(ceiling),
        **numbered,
    }


def spellings(address: str) -> list[str]:
    """The ways in which people and tools write this address."""
    plain = address.removesuffix(".git")
    found = [f"{plain}.git", plain]
    if plain.startswith("https://"):
        host, _slash, path = plain.removeprefix("https://").partition("/")
        if host and path and ":" not in host:
            found += [f"git@{host}:{path}.git", f"git@{host}:{path}"]
            found += [f"ssh://git@{host}/{path}.git", f"ssh://git@{host}/{path}"]
    return found
