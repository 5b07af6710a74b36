"""Finds what was left behind: requests and sources whose worker died, skills that were judged by
older rules, directories of a write that was killed. Called by the scheduler's tick."""

import logging
import shutil
import time
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from skills.scanning import digest, version
from workspaces.background import enqueue
from workspaces.tenancy import across_workspaces, bind

from . import claiming, install, lockfile, requests, rescanning, sources
from .models import Skill, SkillRequest, SkillSource

log = logging.getLogger(__name__)

BATCH = 200
RING_AGAIN = timedelta(seconds=15)
KEEP_SEALED = timedelta(days=30)
OLD_SECONDS = 3600
NOTHING = ""
Ids = list[tuple[UUID, UUID]]
State = SkillRequest.State


def sweep() -> None:
    """Every request and source goes on; sources are read again when they are due; new rules reach
    what is installed."""
    _ring_all(requests.EXAMINE, _requests(State.QUEUED, State.FETCHING, State.SCANNING))
    _ring_all(requests.INSTALL, _requests(State.INSTALLING))
    _ring_all(sources.SYNC, _sources())
    _ring_all(sources.REMOVE, _removing())
    for workspace_id in _outdated():
        enqueue(rescanning.RESCAN, workspace_id, queue="files")
    _let_go_of_old_text()


def tidy() -> None:
    """Writes that were killed are undone or finished. Runs where the files are."""
    for folder in sorted((settings.DATA_DIR / "workspaces").glob(f"*/skills/{install.WORK}*")):
        try:
            mend(folder)
        except (ValueError, OSError, lockfile.LockUnreadable):
            log.exception("%s cannot be mended", folder.name)
    claiming.give_back()


def mend(work: Path) -> None:
    """What a killed write left is gone, and the skill stands as its row says: the row was written
    by the same transaction, so it tells whether that came to its end."""
    if not work.is_dir() or work.is_symlink():
        if time.time() - work.lstat().st_mtime > OLD_SECONDS:  # not one that is being written
            work.unlink(missing_ok=True)
        return
    workspace_id, slug = UUID(work.parent.parent.name), _slug_of(work)
    with bind(workspace_id):
        install.turn()  # a write that is still at work has its turn, and then nothing is here
        if not work.exists():
            return
        row = Skill.objects.filter(slug=slug).first()
        _put_back(work, install.directory(workspace_id, slug), row)
        lock = install.read_lock(workspace_id) if _has_lock(workspace_id) else lockfile.Lock()
        pinned = lock.pins.get(slug)
        if row is None and pinned is not None:
            install.write_lock(workspace_id, lock.without(slug))
        elif row is not None and (pinned is None or pinned.digest != row.digest):
            install.write_lock(workspace_id, lock.with_pin(slug, install.pin_of(row)))
        install.tell_links([slug])
        log.warning("a killed write of the skill %s in %s was mended", slug, workspace_id)
    shutil.rmtree(work)


def _put_back(work: Path, place: Path, row: Skill | None) -> None:
    """Of what lies in place and in the working directory, that which the row names stands; and
    without a row, what stood there before."""
    new = install.wanted(work)
    was_put = new != NOTHING and _digest(place) == new
    if row is not None and _digest(place) == row.digest:
        return
    if row is None and not was_put and place.exists():
        return
    kept = [work / name for name in ("new", "old", "aside", "odd")]
    fits = [one for one in kept if row is not None and _digest(one) == row.digest]
    if row is None and was_put:
        fits = [one for one in kept if one.exists() and _digest(one) != new]
        place.rename(work / "gone")
    if row is None and new == NOTHING:
        return  # it was uninstalled, and is
    if fits:
        if place.exists():
            place.rename(work / "gone")
        fits[0].rename(place)


def _digest(folder: Path) -> str | None:
    files = install.read(folder)
    return None if files is None else digest(files)


def _slug_of(work: Path) -> str:
    return work.name.removeprefix(install.WORK).rpartition("-")[0]


def _has_lock(workspace_id: UUID) -> bool:
    return (install.root(workspace_id) / lockfile.NAME).exists()


def _ring_all(task: str, ids: Ids) -> None:
    for workspace_id, key in ids:
        enqueue(task, workspace_id, key, queue="files")


def _requests(*states: str) -> Ids:
    late = Q(beat_at__lt=Now() - RING_AGAIN, state=State.QUEUED)
    late |= Q(beat_at__lt=Now() - RING_AGAIN, state=State.INSTALLING, percent=None)
    with across_workspaces():
        rows = SkillRequest.objects.filter(late | claiming.is_stuck(), state__in=states)
        return list(rows.values_list("workspace_id", "id")[:BATCH])


def _sources() -> Ids:
    """Those whose reading was lost, and those that are due."""
    source = SkillSource.State
    lost = Q(state__in=[source.CHECKING, source.QUEUED], beat_at__lt=Now() - RING_AGAIN)
    dead = Q(state=source.SYNCING) & claiming.is_stuck()
    every = timedelta(hours=settings.SKILL_SYNC_HOURS)
    due = Q(state__in=[source.READY, source.FAILED], beat_at__lt=Now() - every)
    with across_workspaces():
        rows = SkillSource.objects.filter(lost | dead | due)
        found: Ids = list(rows.values_list("workspace_id", "id")[:BATCH])
        SkillSource.objects.filter(pk__in=[key for _, key in found]).exclude(
            state=source.SYNCING
        ).update(beat_at=Now())
    return found


def _removing() -> Ids:
    with across_workspaces():
        rows = SkillSource.objects.filter(state=SkillSource.State.REMOVING)
        return list(rows.values_list("workspace_id", "id")[:BATCH])


def _outdated() -> list[UUID]:
    with across_workspaces():
        rows = Skill.objects.exclude(ruleset=version()).order_by()
        return list(rows.values_list("workspace_id", flat=True).distinct()[:BATCH])


def _let_go_of_old_text() -> None:
    """What nobody decided about for a month is forgotten; the record of it stays."""
    with across_workspaces():
        old = SkillRequest.objects.filter(
            beat_at__lt=Now() - KEEP_SEALED,
            state__in=[State.PREVIEWED, State.HELD, State.REFUSED],
        ).exclude(sealed=b"", sealed_files=b"")
        old.update(
            sealed=b"", sealed_files=b"", is_acceptable=False,
            ended_at=timezone.now(), state=State.CANCELLED,
        )  # fmt: skip
