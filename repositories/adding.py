"""Adding a repository by its address, fetching it, removing it.

What talks to the network or touches the disk runs on the queue `files` and says how far it is; a
page only asks for it.
"""

import logging
import shutil
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from live.publish import publish
from outside import git
from outside.egress import Refused
from outside.sentences import phrase
from workspaces import audit, clock
from workspaces.background import enqueue
from workspaces.credentials import CannotUnseal, forget, keep
from workspaces.handles import slug
from workspaces.models import Credential, Principal
from workspaces.tenancy import bind
from workspaces.turns import take_turn

from . import places, reach, skill_scans, topics
from .connections import give_back
from .models import Checkout, PushRequest, Repository, SpaceRepository

log = logging.getLogger(__name__)

FETCH = "repositories.tasks.fetch_repository"
REMOVE = "repositories.tasks.remove_repository"
BEAT_SECONDS = 60
STEP_SECONDS = 0.5
State = Repository.State


class CannotAdd(ValueError):
    """The repository cannot be added; the text is a sentence for people."""


class CannotRemove(RuntimeError):
    """The repository cannot be removed now; the text is a sentence for people."""


def add(
    address: str, *, by: Principal, name: str = "", secret: str = "", username: str = ""
) -> Repository:
    """The repository, waiting to be fetched. Raises CannotAdd for an address that is none, a folder
    that the operator did not allow, or what the workspace has already. Whether it can be reached
    turns out when it is fetched."""
    address = _normal(address)
    _require_allowed(address)
    take_turn("repositories")
    if Repository.objects.filter(address=address).exists():
        raise CannotAdd(_("This repository is in the workspace already."))
    credential = None
    if secret.strip():
        label = _("For %(address)s") % {"address": address}
        credential = keep(
            Credential.Kind.GIT_TOKEN,
            secret.strip(),
            label=label[:120],
            by=by,
            username=username.strip(),
        )
    repository: Repository = Repository.objects.create(
        name=_free_name(name or address), address=address, credential=credential, added_by=by
    )
    audit.record("repository.add", actor=by, subject=address)
    ask_fetch(repository)
    return repository


def ask_fetch(repository: Repository) -> None:
    """On commit the repository is fetched in the background; asking twice is asking once."""
    asked = Repository.objects.filter(pk=repository.pk).exclude(state=State.REMOVING)
    asked.filter(~Q(state=State.FETCHING) | _is_stuck()).update(
        state=State.QUEUED, stage="", percent=None, fetch_beat_at=Now()
    )
    enqueue(FETCH, repository.workspace_id, repository.pk, queue="files")
    announce(repository.workspace_id, repository.pk)


def change_credential(repository: Repository, *, by: Principal, secret: str, username: str) -> None:
    """The repository is reached with the new credential from now on, and fetched again; the old one
    is gone."""
    old = repository.credential
    label = _("For %(address)s") % {"address": repository.address}
    repository.credential = keep(
        Credential.Kind.GIT_TOKEN, secret, label=label[:120], by=by, username=username
    )
    repository.save(update_fields=["credential"])
    forget(old)
    audit.record("repository.credential", actor=by, subject=repository.address)
    ask_fetch(repository)


def fetch(workspace_id: UUID, repository_id: UUID) -> None:
    """Brings the mirror up to date and writes down how that went. Does nothing when somebody else
    is at it."""
    repository = _claim(workspace_id, repository_id)
    if repository is None:
        return
    try:
        _fetch(repository, _Telling(repository))
    except git.GitError as error:
        log.warning("%s cannot be fetched: %s %s", repository.name, error, error.detail)
        _settle(repository, state=State.FAILED, error=error.sentence, error_code=error.code)
    except CannotUnseal as error:
        _settle(repository, state=State.FAILED, error=str(error), error_code="sealed")
    except Exception:
        sentence = phrase("Something went wrong on the server. What was fetched before is kept.")
        _settle(repository, state=State.FAILED, error=sentence, error_code="error")
        raise
    finally:
        give_back()


def refresh(repository: Repository, *, max_age_seconds: float) -> None:
    """Brings the mirror up to date unless it is younger than that. Never inside a transaction.

    Raises a GitError or CannotUnseal and leaves the row as it was: the mirror can still be used.
    """
    fetched = repository.last_fetched_at
    if fetched and clock.now() - fetched < timedelta(seconds=max_age_seconds):
        return
    _fetch(repository, None)


def ask_remove(repository: Repository, *, by: Principal) -> None:
    """The repository leaves its spaces now; its mirror and checkouts are deleted in the background.

    Raises CannotRemove while a push waits or is on its way.
    """
    if PushRequest.objects.open().filter(repository=repository).exists():
        raise CannotRemove(
            _("A push to this repository is waiting for a decision. Decide it first.")
        )
    SpaceRepository.objects.filter(repository=repository).delete()
    Repository.objects.filter(pk=repository.pk).update(state=State.REMOVING)
    audit.record("repository.remove", actor=by, subject=repository.address)
    enqueue(REMOVE, repository.workspace_id, repository.pk, queue="files")
    announce(repository.workspace_id, repository.pk)


def remove(workspace_id: UUID, repository_id: UUID) -> None:
    """Deletes the mirror, the checkouts and at last the row of a repository that is to go, with its
    credential."""
    with bind(workspace_id):
        removing = Repository.objects.filter(pk=repository_id, state=State.REMOVING)
        repository = removing.select_related("credential").first()
        if repository is None:
            return
        rows = Checkout.objects.filter(repository=repository).select_related("conversation")
        folders = [
            folder
            for row in rows
            for folder in _folders(
                places.checkout(
                    workspace_id,
                    space_id=row.conversation.space_id,
                    conversation_id=row.conversation_id,
                    name=repository.name,
                )
            )
        ]
    mirror = places.mirror(workspace_id, repository.name)
    for folder in (*folders, mirror, mirror.with_suffix(".served")):
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
    with bind(workspace_id):
        Repository.objects.filter(pk=repository_id, state=State.REMOVING).delete()
        forget(repository.credential)
        announce(workspace_id, repository_id)


def announce(workspace_id: UUID, repository_id: UUID) -> None:
    """Every open page that shows repositories asks for the changed one."""
    publish(
        topics.repositories(workspace_id), "repository", data={"repository": str(repository_id)}
    )


class _Telling:
    """Writes down how far a fetch is, so that a page shows it and a sweep knows it lives."""

    def __init__(self, repository: Repository) -> None:
        self._repository, self._told = repository, 0.0
        self._step = git.Progress("", None)

    def progress(self, step: git.Progress) -> None:
        self._step = step

    def tick(self) -> None:
        """Raises TimedOut when the fetch was given to somebody else meanwhile."""
        if time.monotonic() - self._told < STEP_SECONDS:
            return
        self._told = time.monotonic()
        done = self._step.fraction
        percent = None if done is None else min(100, int(done * 100))
        row = self._repository
        with bind(row.workspace_id):
            told = {"stage": self._step.stage[:60], "percent": percent}
            if not _mine(row).update(fetch_beat_at=Now(), **told):
                raise git.TimedOut(phrase("The fetch was stopped."))
            announce(row.workspace_id, row.pk)


def _fetch(repository: Repository, telling: _Telling | None) -> None:
    mirror = places.mirror(repository.workspace_id, repository.name)
    seen = git.fetch_mirror(
        mirror,
        reach.remote_of(repository),
        guard=reach.guard(),
        max_bytes=settings.REPOSITORY_MAX_BYTES,
        on_progress=telling.progress if telling else None,
        tick=telling.tick if telling else None,
    )
    repository.default_branch, repository.is_empty = seen.default_branch, seen.is_empty
    _settle(
        repository,
        is_claimed=telling is not None,
        state=State.READY,
        error="",
        error_code="",
        address=seen.address,
        default_branch=seen.default_branch,
        is_empty=seen.is_empty,
        size_bytes=git.directory_bytes(mirror),
        last_fetched_at=clock.now(),
    )
    skill_scans.ask(repository)


def _settle(repository: Repository, *, is_claimed: bool = True, **fields: object) -> None:
    with bind(repository.workspace_id):
        kept = Repository.objects.filter(pk=repository.pk).exclude(state=State.REMOVING)
        rows = _mine(repository) if is_claimed else kept
        rows.update(stage="", percent=None, **fields)
        announce(repository.workspace_id, repository.pk)
    for name, value in fields.items():
        setattr(repository, name, value)


def _claim(workspace_id: UUID, repository_id: UUID) -> Repository | None:
    with bind(workspace_id):
        rows = Repository.objects.filter(pk=repository_id).exclude(state=State.REMOVING)
        free = rows.filter(~Q(state=State.FETCHING) | _is_stuck())
        claimed = {"state": State.FETCHING, "fetch_fence": F("fetch_fence") + 1}
        if not free.update(fetch_beat_at=Now(), percent=None, **claimed):
            return None
        announce(workspace_id, repository_id)
        row: Repository = Repository.objects.select_related("credential").get(pk=repository_id)
        return row


def _mine(repository: Repository) -> QuerySet[Repository]:
    """The row, as long as it is being fetched under the claim that `repository` was given with."""
    rows: QuerySet[Repository] = Repository.objects.filter(
        pk=repository.pk, fetch_fence=repository.fetch_fence, state=State.FETCHING
    )
    return rows


def _is_stuck() -> Q:
    return Q(fetch_beat_at__lt=Now() - timedelta(seconds=BEAT_SECONDS))


def _normal(address: str) -> str:
    try:
        return git.normal(address)
    except git.BadAddress as error:
        raise CannotAdd(error.sentence) from error


def _require_allowed(address: str) -> None:
    """A folder of this machine is one that the operator listed. Raises CannotAdd."""
    try:
        if address.startswith("/"):
            reach.guard().local_path(address)
    except Refused as refused:
        raise CannotAdd(refused.sentence) from refused


def _free_name(wanted: str) -> str:
    """The last part of an address as a slug that no repository of the workspace has yet."""
    last = wanted.rstrip("/").removesuffix(".git").rpartition("/")[2]
    base = slug(last, fallback="repository", limit=58)
    taken = set(Repository.objects.filter(name__startswith=base).values_list("name", flat=True))
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}-{number}", number + 1
    return candidate


def _folders(checkout: git.Checkout) -> list[Path]:
    return [checkout.work_tree, checkout.git_dir, checkout.view]
