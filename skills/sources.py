"""Registering a skill source, reading what it offers, removing it.

What talks to the network runs on the queue `files` and says how far it is; a page only asks for it.
"""

import logging
import time
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from live.publish import publish
from outside import git
from outside.git.memory import Session
from outside.sentences import Sentence, pack, phrase, phrase_many
from skills.scanning import LIMITS
from workspaces import audit
from workspaces.background import enqueue
from workspaces.credentials import CannotUnseal, forget, keep
from workspaces.models import Credential, Principal
from workspaces.sentences import translated
from workspaces.tenancy import bind
from workspaces.turns import take_turn

from . import discovery, fetching, previews, reach, requests, sealing, topics
from .claiming import give_back, is_stuck
from .lockfile import LOCAL, Pin
from .models import Skill, SkillListing, SkillRequest, SkillSource
from .scanning import File
from .telling import Telling

log = logging.getLogger(__name__)

SYNC = "skills.tasks.sync_source"
REMOVE = "skills.tasks.remove_source"
MOST_CARDS = 2_000
CARDS_SECONDS = 20.0
UNWRITABLE = phrase("its name has characters that no directory here may have")
State = SkillSource.State


class CannotRegister(ValueError):
    """The source cannot be registered; the text is a sentence for people."""


def register(
    address: str, *, by: Principal, ref: str = "", secret: str = "", username: str = ""
) -> SkillSource:
    """The source, in state `checking`: on commit it is looked for and read in the background. Until
    that has worked once (`is_added`) it offers nothing, and its error says why.

    `address` is `owner/name`, a GitHub address, or what the operator allows: another git host or an
    absolute path. Raises CannotRegister when it is none, or the workspace has it already.
    """
    address, ref = _read(address, ref.strip())
    take_turn("skill sources")
    if SkillSource.objects.filter(address__iexact=address, ref=ref).exists():
        raise CannotRegister(_("This source is registered already."))
    source: SkillSource = SkillSource.objects.create(
        name=reach.display_name(address), address=address, kind=reach.kind_of(address), ref=ref,
        credential=_credential(address, by, secret, username), added_by=by,
    )  # fmt: skip
    audit.record("skill_source.add", actor=by, subject=address, detail={"ref": ref})
    _ring(SYNC, source)
    return source


def known(address: str, ref: str = "") -> SkillSource | None:
    """The registered source of an address as people write it. Raises CannotRegister."""
    address, ref = _read(address, ref.strip())
    row: SkillSource | None = SkillSource.objects.filter(address__iexact=address, ref=ref).first()
    return row


def register_of_pin(pin: Pin, *, by: Principal) -> SkillSource | None:
    """The source that a lock entry names, registered; None when it is, or there is none to be.

    Raises CannotRegister.
    """
    if pin.source_type == LOCAL:
        return None
    address = pin.source_url or pin.source
    return None if known(address, pin.ref) else register(address, by=by, ref=pin.ref)


def ask_sync(source: SkillSource) -> None:
    """On commit the source is read again in the background; asking twice is asking once."""
    asked = SkillSource.objects.filter(pk=source.pk).exclude(state=State.REMOVING)
    asked = asked.filter(~Q(state=State.SYNCING) | is_stuck())
    checking = asked.filter(synced_at=None)
    checking.update(state=State.CHECKING, stage="", percent=None, beat_at=Now())
    asked.exclude(synced_at=None).update(state=State.QUEUED, stage="", percent=None, beat_at=Now())
    _ring(SYNC, source)


def change_credential(source: SkillSource, *, by: Principal, secret: str, username: str) -> None:
    """The source is reached with the new credential from now on, and read again; the old one is
    gone."""
    old = source.credential
    source.credential = _credential(source.address, by, secret, username)
    source.save(update_fields=["credential"])
    forget(old)
    audit.record("skill_source.credential", actor=by, subject=source.address)
    ask_sync(source)


def ask_remove(source: SkillSource, *, by: Principal) -> None:
    """The source offers nothing any more and its row goes in the background, with its open
    requests. Installed skills stay as they are, pinned, and find no updates."""
    SkillSource.objects.filter(pk=source.pk).update(state=State.REMOVING)
    for request in SkillRequest.objects.filter(source=source, state__in=SkillRequest.OPEN):
        requests.cancel(request, by=by)
    Skill.objects.filter(source=source).update(available_commit="", available_at=None)
    audit.record("skill_source.remove", actor=by, subject=source.address)
    _ring(REMOVE, source)


def sync(workspace_id: UUID, source_id: UUID) -> None:
    """The job: reads the listing of the source's newest commit and writes down what it offers,
    which installed skills have an update, or the error. Does nothing when somebody else is at it.
    """
    source = _claim(workspace_id, source_id)
    if source is None:
        return
    try:
        _sync(source, _telling(source))
    except git.GitError as error:
        log.warning("the skill source %s cannot be read: %s", source.name, error.code)
        _settle(source, state=State.FAILED, error=error.sentence, error_code=error.code)
    except CannotUnseal as error:
        _settle(source, state=State.FAILED, error=str(error), error_code="sealed")
    except Exception:
        sentence = phrase("Something went wrong on the server. What was listed before is kept.")
        _settle(source, state=State.FAILED, error=sentence, error_code="error")
        raise
    finally:
        give_back()


def remove(workspace_id: UUID, source_id: UUID) -> None:
    """The job: deletes the row of a source that is to go, with its credential."""
    with bind(workspace_id):
        removing = SkillSource.objects.filter(pk=source_id, state=State.REMOVING)
        for source in removing.select_related("credential"):
            source.delete()
            forget(source.credential)
        announce(workspace_id, source_id)


def announce(workspace_id: UUID, source_id: UUID) -> None:
    """Every open page that shows the source asks for it anew."""
    publish(topics.skills(workspace_id), "source", data={"source": str(source_id)})


# -- reading -------------------------------------------------------------------------------------


def _telling(source: SkillSource) -> Telling:
    """Raises TimedOut when the source was given to somebody else, or is to go."""

    def write(stage: str, percent: int | None) -> None:
        with bind(source.workspace_id):
            if not _mine(source).update(stage=stage, percent=percent, beat_at=Now()):
                raise _stopped()
            announce(source.workspace_id, source.pk)
        give_back()

    return Telling(write)


def _sync(source: SkillSource, telling: Telling) -> None:
    telling.stage(phrase("Looking for the repository"))
    there = fetching.tip(source)
    with fetching.opened(source, there.address, telling=telling) as session:
        telling.stage(phrase("Reading its list of files"))
        commit, found = fetching.catalogue(source, session, there.commit)
        cards = _cards(session, found.offers, telling)
    with bind(source.workspace_id):
        if not _mine(source).update(beat_at=Now()):
            raise _stopped()
        _list(source, found, cards)
        _note_updates(source, found, commit)
        address = there.address if _is_free(source, there.address) else source.address
        _settle(
            source, state=State.READY, error="", error_code="", commit=commit, address=address,
            name=reach.display_name(address), synced_at=timezone.now(),
        )  # fmt: skip


def _cards(
    session: Session, offers: tuple[discovery.Offer, ...], telling: Telling
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Path → (description, remarks). A text that is too large, gone, or that comes after its time
    is left out: the listing stands."""
    until = time.monotonic() + CARDS_SECONDS
    ids = {offer.path: _skill_oid(offer) for offer in offers[:MOST_CARDS]}
    named = phrase_many(
        "Fetching what %(n)d skill says", "Fetching what %(n)d skills say", len(ids)
    )
    telling.stage(named % {"n": len(ids)})
    try:
        texts = session.blobs(set(ids.values()))
    except git.TooLarge:
        texts = {}
    cards = {}
    telling.stage(phrase("Reading what its skills say of themselves"), most=len(offers))
    for count, offer in enumerate(offers, 1):
        telling.done(count)
        data = texts.get(ids.get(offer.path, ""), b"") if time.monotonic() < until else b""
        data = data[: 2 * LIMITS.front_matter]
        file = {offer.skill_file: File(0o100644, data)}
        description, _body = previews.front(file, offer.skill_file)
        remarks = tuple(_kept(remark) for remark in offer.remarks)
        cards[offer.path] = (previews.spelled(description)[:1024], remarks)
    return cards


def _skill_oid(offer: discovery.Offer) -> str:
    return next(entry.oid for entry in offer.files if entry.path == offer.skill_file)


def _list(
    source: SkillSource,
    found: discovery.Catalogue,
    cards: dict[str, tuple[str, tuple[str, ...]]],
) -> None:
    """The listings are those of this commit; what is still there keeps its key."""
    offered = [
        SkillListing(
            workspace_id=source.workspace_id, source=source, path=offer.path,
            name=previews.spelled(offer.name)[:255], place=offer.place.value,
            tree_sha=fetching.tree_sha(offer), files=len(offer.files),
            sealed=sealing.close(list(cards[offer.path])),
        )
        for offer in found.offers
        if _can_be_kept(offer.path)
    ]  # fmt: skip
    passed = {one.path: one.reason for one in found.passed_over if not one.is_inside}
    passed |= {one.path: UNWRITABLE for one in found.offers if not _can_be_kept(one.path)}
    skipped = {
        shown: SkillListing(
            workspace_id=source.workspace_id, source=source, path=shown,
            name=shown.rpartition("/")[2][:255], skipped=_shown(reason),
        )
        for path, reason in passed.items()
        if (shown := previews.spelled(path)[:1000])
    }  # fmt: skip
    rows = list({**skipped, **{row.path: row for row in offered}}.values())
    SkillListing.objects.filter(source=source).exclude(path__in=[row.path for row in rows]).delete()
    SkillListing.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["source", "path"],
        update_fields=["name", "place", "tree_sha", "files", "skipped", "sealed"], batch_size=500,
    )  # fmt: skip


def _shown(said: str) -> str:
    """The sentence with what the repository says in it spelled out and cut."""
    return said.mapped(_tidy) if isinstance(said, Sentence) else _tidy(said)


def _kept(said: str) -> str:
    """The same as it stands in a sealed card; `catalogue.card_of` makes it a Sentence again."""
    return pack(_shown(said))


def _tidy(text: str) -> str:
    return previews.spelled(text)[:300]


def _can_be_kept(path: str) -> bool:
    """A path that cannot be stored or written exactly as it is leads to no skill."""
    return previews.spelled(path) == path and len(path) <= 1000 and path.isprintable()


def _note_updates(source: SkillSource, found: discovery.Catalogue, commit: str) -> None:
    """Which skills that came from here are another tree there by now, or gone."""
    for skill in Skill.objects.filter(source=source):
        offer = found.offer(skill.path)
        is_new = offer is not None and fetching.tree_sha(offer) != skill.tree_sha
        skill.gone_from_source = offer is None
        if not is_new:
            skill.available_commit, skill.available_at = "", None
        elif skill.available_commit != commit:
            skill.available_commit, skill.available_at = commit, timezone.now()
        skill.save(update_fields=["available_commit", "available_at", "gone_from_source"])


def _is_free(source: SkillSource, address: str) -> bool:
    twins = SkillSource.objects.filter(address=address, ref=source.ref).exclude(pk=source.pk)
    return not twins.exists()


def _settle(source: SkillSource, **fields: object) -> None:
    with bind(source.workspace_id):
        if _mine(source).update(stage="", percent=None, beat_at=Now(), **fields):
            announce(source.workspace_id, source.pk)


def _claim(workspace_id: UUID, source_id: UUID) -> SkillSource | None:
    with bind(workspace_id):
        rows = SkillSource.objects.filter(pk=source_id).exclude(state=State.REMOVING)
        free = rows.filter(~Q(state=State.SYNCING) | is_stuck())
        if not free.update(state=State.SYNCING, beat_at=Now(), percent=None, fence=F("fence") + 1):
            return None
        announce(workspace_id, source_id)
        row: SkillSource = SkillSource.objects.select_related("credential").get(pk=source_id)
    give_back()
    return row


def _mine(source: SkillSource) -> QuerySet[SkillSource]:
    """The row, as long as it is being read under the claim that `source` was given with."""
    rows: QuerySet[SkillSource] = SkillSource.objects.filter(
        pk=source.pk, fence=source.fence, state=State.SYNCING
    )
    return rows


def _stopped() -> git.TimedOut:
    return git.TimedOut(phrase("The reading was stopped."))


def _read(address: str, ref: str) -> tuple[str, str]:
    try:
        found, on_page = reach.read_address(address)
        if ref:
            git.check_ref(f"refs/heads/{ref}")
    except git.GitError as error:
        raise CannotRegister(translated(error.sentence)) from error
    if len(found) > 500:
        raise CannotRegister(_("This address is too long."))
    return found, ref or on_page


def _credential(address: str, by: Principal, secret: str, username: str) -> Credential | None:
    if not secret.strip():
        return None
    label = _("For %(address)s") % {"address": address}
    return keep(
        Credential.Kind.GIT_TOKEN, secret.strip(), label=label[:120], by=by,
        username=username.strip(),
    )  # fmt: skip


def _ring(task: str, source: SkillSource) -> None:
    enqueue(task, source.workspace_id, source.pk, queue="files")
    announce(source.workspace_id, source.pk)
