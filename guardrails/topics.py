"""The name under which tabs listen to the inbox."""

from uuid import UUID


def inbox(workspace_id: UUID) -> str:
    return f"w/{workspace_id}/inbox"
