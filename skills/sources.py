"""Registering a skill source, reading what it offers, removing it.

What talks to the network runs on the queue `files` and says how far it is; a page only asks for it.
"""

from uuid import UUID

from workspaces.models import Principal

from .models import SkillSource

SYNC = "skills.tasks.sync_source"
REMOVE = "skills.tasks.remove_source"


class CannotRegister(ValueError):
    """The source cannot be registered; the text is a sentence for people."""


def register(
    address: str, *, by: Principal, ref: str = "", secret: str = "", username: str = ""
) -> SkillSource:
    """The source, in state `checking`: on commit it is looked for and read in the background. Until
    that has worked once (`is_added`) it offers nothing, and its error says why.

    `address` is `owner/name`, a GitHub address, or what the operator allows: another git host or an
    absolute path. Raises CannotRegister when it is none, or the workspace has it already.
    """
    raise NotImplementedError


def ask_sync(source: SkillSource) -> None:
    """On commit the source is read again in the background; asking twice is asking once."""
    raise NotImplementedError


def change_credential(source: SkillSource, *, by: Principal, secret: str, username: str) -> None:
    """The source is reached with the new credential from now on, and read again."""
    raise NotImplementedError


def ask_remove(source: SkillSource, *, by: Principal) -> None:
    """The source offers nothing any more and its row goes in the background, with its open
    requests. Installed skills stay as they are, pinned, and find no updates."""
    raise NotImplementedError


def sync(workspace_id: UUID, source_id: UUID) -> None:
    """The job: reads the listing of the source's newest commit and writes down what it offers,
    which installed skills have an update, or the error. Does nothing when somebody else is at it.
    """
    raise NotImplementedError


def remove(workspace_id: UUID, source_id: UUID) -> None:
    """The job: deletes the row of a source that is to go."""
    raise NotImplementedError
