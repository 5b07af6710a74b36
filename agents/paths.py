"""Where a workspace's agents and skills stand on disk. Built from validated slugs and ids only."""

from pathlib import Path
from uuid import UUID

from django.conf import settings

from workspaces.models import HANDLE


class BadSegment(ValueError):
    """A path segment that is no slug; nothing was touched."""


def segment(slug: str) -> str:
    """The slug again. Raises BadSegment for anything that could lead elsewhere."""
    if not HANDLE.match(slug):
        raise BadSegment(f"{slug!r} is not a name that a directory may have.")
    return slug


def workspace_directory(workspace_id: UUID) -> Path:
    return settings.DATA_DIR / "workspaces" / str(workspace_id)


def agent_directory(workspace_id: UUID, name: str) -> Path:
    return workspace_directory(workspace_id) / "agents" / segment(name)


def skill_directory(workspace_id: UUID, slug: str) -> Path:
    return workspace_directory(workspace_id) / "skills" / segment(slug)


def conversation_directory(workspace_id: UUID, space_id: UUID, conversation_id: UUID) -> Path:
    """The home of a conversation: `git/`, `repos/` and `agents/` below it."""
    return workspace_directory(workspace_id) / "spaces" / str(space_id) / str(conversation_id)
