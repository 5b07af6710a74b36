"""The names under which tabs listen to a space."""

from uuid import UUID


def conversation(workspace_id: UUID, conversation_id: UUID) -> str:
    return f"w/{workspace_id}/conversation/{conversation_id}"


def space(workspace_id: UUID, space_id: UUID) -> str:
    return f"w/{workspace_id}/space/{space_id}"
