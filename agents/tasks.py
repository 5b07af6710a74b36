"""Deliveries of the agents room."""

from uuid import UUID

from celery import shared_task

from . import seeding


@shared_task(name="agents.tasks.seed_workspace")
def seed_workspace(workspace_id: str) -> None:
    seeding.seed(UUID(workspace_id))
