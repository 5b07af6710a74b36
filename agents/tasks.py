"""Deliveries of the agents room."""

from uuid import UUID

from celery import shared_task

from repositories import agent_files

from . import importing, seeding


@shared_task(name="agents.tasks.seed_workspace")
def seed_workspace(workspace_id: str) -> None:
    seeding.seed(UUID(workspace_id))


@shared_task(name=importing.GATHER)
def gather_import(workspace_id: str, import_id: str) -> None:
    agent_files.gather(UUID(workspace_id), UUID(import_id))
