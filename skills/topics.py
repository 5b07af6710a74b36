"""The name under which tabs listen to skills: sources, requests, and what is installed."""

from uuid import UUID


def skills(workspace_id: UUID) -> str:
    return f"w/{workspace_id}/skills"
