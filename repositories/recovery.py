"""Finds what was left behind: approved pushes that nobody forwards, decisions that nobody heard,
fetches that died. Called by the scheduler's tick; looks across workspaces for ids only."""

import logging
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from guardrails.models import Approval
from workspaces import clock
from workspaces.background import enqueue
from workspaces.tenancy import across_workspaces, bind

from . import adding, places, push_requests, skill_scans
from .connections import give_back
from .models import PushRequest, Repository

log = logging.getLogger(__name__)

BATCH = 200
RING_AGAIN = timedelta(seconds=5)
State = PushRequest.State
Ids = list[tuple[UUID, UUID]]


def sweep() -> None:
    """Every approved push is forwarded, every decision heard, every fetch and removal goes on."""
    _each(_unforwarded(), lambda workspace, key: _ring(push_requests.FORWARD, workspace, key))
    _each(_unheard(), _hear)
    _each(_unfetched(), lambda workspace, key: _ring(adding.FETCH, workspace, key))
    _each(_unremoved(), lambda workspace, key: _ring(adding.REMOVE, workspace, key))
    _each(_unscanned(), lambda workspace, key: _ring(skill_scans.SCAN, workspace, key))


def tidy() -> None:
    """Quarantined objects go an hour after their push ended, what was shown of it after the days
    that the operator keeps it. Runs where the files are."""
    for folder in (settings.DATA_DIR / "workspaces").glob("*/pushes/*"):
        try:
            _tidy(folder)
        except (ValueError, OSError):
            log.exception("%s cannot be tidied", folder.name)
    give_back()


def _each(ids: Ids, act: Callable[[UUID, UUID], None]) -> None:
    for workspace_id, key in ids:
        try:
            with bind(workspace_id):
                act(workspace_id, key)
        except Exception:
            log.exception("%s could not be recovered", key)


def _ring(task: str, workspace_id: UUID, key: UUID) -> None:
    enqueue(task, workspace_id, key, queue="files")


def _unforwarded() -> Ids:
    approved = Q(state=State.APPROVED, decided_at__lt=Now() - RING_AGAIN)
    lapsed = Q(state=State.FORWARDING, forward_until__lt=Now())
    with across_workspaces():
        return _ids(PushRequest.objects.filter(approved | lapsed))


def _unheard() -> Ids:
    with across_workspaces():
        decided = Approval.objects.exclude(state=Approval.State.PENDING)
        return _ids(PushRequest.objects.held().filter(approval__in=decided.values("id")))


def _hear(workspace_id: UUID, key: UUID) -> None:
    request = PushRequest.objects.select_related("approval").get(pk=key)
    if request.approval is not None:
        push_requests.answered(request.approval)


def _unfetched() -> Ids:
    waiting = Q(state=Repository.State.QUEUED, fetch_beat_at__lt=Now() - timedelta(seconds=30))
    dead = Q(
        state=Repository.State.FETCHING,
        fetch_beat_at__lt=Now() - timedelta(seconds=adding.BEAT_SECONDS),
    )
    with across_workspaces():
        return _ids(Repository.objects.filter(waiting | dead))


def _unremoved() -> Ids:
    with across_workspaces():
        return _ids(Repository.objects.filter(state=Repository.State.REMOVING))


def _unscanned() -> Ids:
    """Skills that a lost task, or new rules, left without a verdict."""
    waited = Now() - timedelta(seconds=60)
    with across_workspaces():
        return _ids(skill_scans.unscanned().filter(last_fetched_at__lt=waited))


def _ids(rows: object) -> Ids:
    return list(rows.values_list("workspace_id", "id")[:BATCH])  # type: ignore[attr-defined]


def _tidy(folder: Path) -> None:
    workspace_id = UUID(folder.parent.parent.name)
    with bind(workspace_id):
        now = clock.now()
        rows = PushRequest.objects.filter(quarantine=folder.name)
        is_open = rows.open().exists()
        last = rows.order_by("-created_at").first()
    ended = (last.ended_at or last.created_at) if last else None
    if is_open:
        return
    if ended is None:
        age = now.timestamp() - folder.stat().st_mtime
        if age > 86400:  # an upload that never became a request
            shutil.rmtree(folder)
    elif now - ended > timedelta(days=settings.PUSH_KEEP_DAYS):
        shutil.rmtree(folder)
    elif now - ended > timedelta(hours=1):
        shutil.rmtree(folder / places.OBJECTS, ignore_errors=True)
