"""The names under which tabs listen to repositories and pushes."""

from uuid import UUID


def repositories(workspace_id: UUID) -> str:
    return f"w/{workspace_id}/repositories"
