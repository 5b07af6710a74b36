"""Deliveries of the runs room."""

from uuid import UUID

from celery import shared_task

from . import runner, worktrees


@shared_task(name="runs.tasks.execute_run")
def execute_run(workspace_id: str, run_id: str) -> None:
    runner.execute(UUID(workspace_id), UUID(run_id))


@shared_task(name=worktrees.CLEAR)
def clear_worktrees(workspace_id: str, run_id: str) -> None:
    worktrees.clear(UUID(workspace_id), UUID(run_id))
