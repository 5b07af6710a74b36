"""Where repositories, checkouts and quarantined pushes lie on disk. From slugs and ids only."""

from pathlib import Path
from uuid import UUID

from agents.paths import conversation_directory, segment, workspace_directory
from outside import git

from .models import PushRequest

OBJECTS = "git"


def mirror(workspace_id: UUID, name: str) -> Path:
    """The bare, fetch-only mirror of a repository."""
    return workspace_directory(workspace_id) / "repositories" / f"{segment(name)}.git"


def checkout(
    workspace_id: UUID, *, space_id: UUID, conversation_id: UUID, name: str
) -> git.Checkout:
    """A conversation's checkout: `git/<name>` and `repos/<name>` are the agents', `server/<name>`
    (never mounted into a sandbox) is ours."""
    home = conversation_directory(workspace_id, space_id, conversation_id)
    return git.Checkout(
        git_dir=home / "git" / segment(name),
        work_tree=home / "repos" / segment(name),
        view=home / "server" / segment(name),
        mirror=mirror(workspace_id, name),
    )


def pushes(workspace_id: UUID) -> Path:
    """Quarantined pushes, one directory each."""
    return workspace_directory(workspace_id) / "pushes"


def quarantine(request: PushRequest) -> Path:
    """The directory of the push that the request came with."""
    return pushes(request.workspace_id) / segment(request.quarantine)


def objects(request: PushRequest) -> Path:
    """The server's git directory with the pushed objects."""
    return quarantine(request) / OBJECTS


def diff_file(request: PushRequest) -> Path:
    """The diff that was shown to whoever decided, as text."""
    return quarantine(request) / f"{request.pk}.diff"
