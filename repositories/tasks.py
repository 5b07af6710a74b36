"""Deliveries of the repositories room, all on the queue `files`."""

from uuid import UUID

from celery import shared_task

from . import adding, forwarding, skill_scans


@shared_task(name=adding.FETCH)
def fetch_repository(workspace_id: str, repository_id: str) -> None:
    adding.fetch(UUID(workspace_id), UUID(repository_id))


@shared_task(name=adding.REMOVE)
def remove_repository(workspace_id: str, repository_id: str) -> None:
    adding.remove(UUID(workspace_id), UUID(repository_id))


@shared_task(name=forwarding.FORWARD)
def forward_push(workspace_id: str, push_request_id: str) -> None:
    forwarding.forward(UUID(workspace_id), UUID(push_request_id))


@shared_task(name=skill_scans.SCAN)
def scan_skills(workspace_id: str, repository_id: str) -> None:
    skill_scans.scan_published(UUID(workspace_id), UUID(repository_id))
