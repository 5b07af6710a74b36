"""Deliveries of the skills room, all on the queue `files`."""

from uuid import UUID

from celery import shared_task

from . import bringing, requests, rescanning, restoring, rules, sources


@shared_task(name=sources.SYNC)
def sync_source(workspace_id: str, source_id: str) -> None:
    sources.sync(UUID(workspace_id), UUID(source_id))


@shared_task(name=sources.REMOVE)
def remove_source(workspace_id: str, source_id: str) -> None:
    sources.remove(UUID(workspace_id), UUID(source_id))


@shared_task(name=requests.EXAMINE)
def examine(workspace_id: str, request_id: str) -> None:
    bringing.examine(UUID(workspace_id), UUID(request_id))


@shared_task(name=requests.INSTALL)
def install(workspace_id: str, request_id: str) -> None:
    bringing.write(UUID(workspace_id), UUID(request_id))


@shared_task(name=rescanning.RESCAN)
def rescan(workspace_id: str) -> None:
    rescanning.rescan(UUID(workspace_id))


@shared_task(name=rules.RESCAN)
def rescan_all(workspace_id: str, *skills: str) -> None:
    rescanning.rescan(UUID(workspace_id), everything=True, only=[UUID(each) for each in skills])


@shared_task(name=restoring.RESTORE)
def restore(workspace_id: str, *names: str) -> None:
    restoring.restore(UUID(workspace_id), names=names)
