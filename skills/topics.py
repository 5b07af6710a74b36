"""The name under which tabs listen to skills: sources, requests, and what is installed."""

from uuid import UUID


def inbox(workspace_id: UUID) -> str:
    """Where those listen who decide: a skill that is held needs them, as an approval does."""
    return f"w/{workspace_id}/inbox"


def skills(workspace_id: UUID) -> str:
    return f"w/{workspace_id}/skills"
