"""The names under which tabs listen to runs."""

from uuid import UUID


def run(workspace_id: UUID, run_id: UUID) -> str:
    return f"w/{workspace_id}/run/{run_id}"


def roster(workspace_id: UUID) -> str:
    return f"w/{workspace_id}/roster"


def runs(workspace_id: UUID) -> str:
    return f"w/{workspace_id}/runs"
