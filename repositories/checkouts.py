"""The checkouts of a conversation: all repositories of its space, side by side in `repos/<name>/`.

Each conversation has git directories of its own, whose objects borrow from the workspace's mirrors.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from outside import git
from outside.git.locks import exclusive
from outside.sentences import phrase as _
from spaces.models import Conversation
from workspaces.credentials import CannotUnseal
from workspaces.tenancy import bind

from . import adding, places
from .connections import give_back
from .models import Checkout, Repository, SpaceRepository

log = logging.getLogger(__name__)


class CheckoutFailed(RuntimeError):
    """A checkout cannot be had; the text is a sentence for people, `code` what kind of trouble."""

    def __init__(self, sentence: str, *, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checkout that stands. `base` is the commit it started from; "" in an empty repository."""

    name: str
    path: Path
    git_dir: Path
    branch: str
    base: str
    checkout: git.Checkout
    repository_id: UUID
    address: str


def prepare(conversation: Conversation) -> tuple[Prepared, ...]:
    """Afterwards `repos/<name>/` of the conversation stands for every repository of its space.

    Doing it again changes nothing; what was lost or damaged is mended, and no work is overwritten.
    Runs git, so never inside a transaction. Raises CheckoutFailed.
    """
    with bind(conversation.workspace_id):
        links = SpaceRepository.objects.filter(space_id=conversation.space_id)
        repositories = list(
            Repository.objects.filter(pk__in=links.values("repository_id"))
            .exclude(state=Repository.State.REMOVING)
            .select_related("credential")
        )
    give_back()
    return tuple(_prepare(conversation, repository) for repository in repositories)


def place_of(conversation: Conversation, name: str) -> git.Checkout:
    """Where the conversation's checkout of that repository lies, whether it stands or not."""
    return places.checkout(
        conversation.workspace_id,
        space_id=conversation.space_id,
        conversation_id=conversation.pk,
        name=name,
    )


def _prepare(conversation: Conversation, repository: Repository) -> Prepared:
    place = place_of(conversation, repository.name)
    try:
        _bring_mirror(repository)
        with exclusive(place.view.with_name(f"{repository.name}.making")):
            row = _stand_up(conversation, repository, place)
            branch, _commit = git.head(place)
    except git.GitError as error:
        log.warning("checkout of %s: %s %s", repository.name, error, error.detail)
        words = _("The checkout of %(name)s cannot be had. %(why)s")
        raise CheckoutFailed(
            words % {"name": repository.name, "why": error.sentence}, code=error.code
        ) from error
    except OSError as error:
        raise CheckoutFailed(_disk(repository.name, error), code="disk") from error
    return Prepared(
        name=repository.name,
        path=place.work_tree,
        git_dir=place.git_dir,
        branch=branch,
        base=row.base,
        checkout=place,
        repository_id=repository.pk,
        address=repository.address,
    )


def _bring_mirror(repository: Repository) -> None:
    """A first fetch must succeed; a later one that fails leaves a mirror that can be used."""
    try:
        adding.refresh(repository, max_age_seconds=settings.MIRROR_FRESH_SECONDS)
    except (git.GitError, CannotUnseal) as error:
        if not repository.is_ready:
            if isinstance(error, CannotUnseal):
                raise git.WrongCredential(str(error)) from error
            raise
        log.warning("%s is used as it was last fetched: %s", repository.name, error)


def _stand_up(conversation: Conversation, repository: Repository, place: git.Checkout) -> Checkout:
    with bind(conversation.workspace_id):
        row: Checkout | None = Checkout.objects.filter(
            conversation=conversation, repository=repository
        ).first()
    give_back()
    if row is None:
        return _make(conversation, repository, place)
    why = git.condition(place)
    if why and place.git_dir.is_dir() and _is_readable(place):
        git.mend(place)
        why = git.condition(place)
    elif not why:
        git.mend(place)
    if why:
        return _make_again(row, place, why, repository)
    return row


def _is_readable(place: git.Checkout) -> bool:
    try:
        git.head(place)
    except git.GitError:
        return False
    return True


def _make(conversation: Conversation, repository: Repository, place: git.Checkout) -> Checkout:
    branch = repository.default_branch
    base = git.mirrored(place.mirror).get(f"refs/heads/{branch}")
    _lay_out(place, repository, branch, base)
    row: Checkout
    with bind(conversation.workspace_id):
        row, _made = Checkout.objects.update_or_create(
            conversation=conversation,
            repository=repository,
            defaults={"branch": branch, "base": base or ""},
        )
    give_back()
    return row


def _make_again(row: Checkout, place: git.Checkout, why: str, repository: Repository) -> Checkout:
    """What cannot be used is set aside; the files stay and show as changes to the first commit."""
    if place.git_dir.exists() or place.git_dir.is_symlink():
        aside = place.git_dir.with_name(
            f"{repository.name}.damaged-{timezone.now():%Y%m%d%H%M%S%f}"
        )
        place.git_dir.rename(aside)
    _lay_out(place, repository, row.branch, row.base or None)
    with bind(row.workspace_id):
        Checkout.objects.filter(pk=row.pk).update(mended_at=timezone.now(), mended_why=why[:300])
    give_back()
    return row


def _lay_out(place: git.Checkout, repository: Repository, branch: str, commit: str | None) -> None:
    git.make_checkout(
        place,
        branch=branch,
        commit=commit,
        address=repository.address,
        max_bytes=settings.REPOSITORY_MAX_BYTES,
    )


def _disk(name: str, error: OSError) -> str:
    words = _("The checkout of %(name)s cannot be written: %(why)s.")
    return words % {"name": name, "why": error.strerror or str(error)}
