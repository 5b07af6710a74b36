"""Bringing a skill in: a look first, then the install of exactly what was looked at.

A `SkillRequest` goes queued → fetching → scanning → previewed (or refused, failed); `install` takes
it on to installing → installed, or to held, where `holds` goes on. Each step is a job on the queue
`files` (see `bringing`); a page asks for it and watches the topic.
"""

import re
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from live.publish import publish
from skills.scanning import version
from skills.scanning.frontmatter import DEVICES
from workspaces import audit
from workspaces.background import enqueue
from workspaces.handles import slug as slug_of
from workspaces.models import Principal
from workspaces.sentences import translated
from workspaces.turns import take_turn

from . import previews, topics
from .models import Skill, SkillListing, SkillRequest, SkillSource
from .previews import Preview, Shown

EXAMINE = "skills.tasks.examine"
INSTALL = "skills.tasks.install"
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
State = SkillRequest.State
__all__ = ["CannotRequest", "Preview", "Shown", "cancel", "install", "preview", "preview_of",
           "preview_update"]  # fmt: skip


class CannotRequest(ValueError):
    """The skill cannot be asked for or installed as it is; the text is a sentence for people."""


def preview(listing: SkillListing, *, by: Principal, slug: str = "") -> SkillRequest:
    """On commit the skill is fetched into memory and scanned, and then can be looked at.

    `slug` is the name it gets here (default: its own). A listing that is installed already becomes
    an update. An open request of the same listing and name is given back instead of a second one.
    Raises CannotRequest for a bad or taken name and for what is passed over.
    """
    if listing.skipped:
        raise CannotRequest(
            _("This folder is passed over: %(reason)s.") % {"reason": translated(listing.skipped)}
        )
    _require_source(listing.source)
    take_turn("skill requests")
    installed = Skill.objects.filter(source=listing.source, path=listing.path).first()
    if installed is not None:
        return _update(installed, listing.source, by=by)
    name = check_slug(slug or slug_of(listing.name, limit=63))
    require_free(name)
    return _ask(
        kind=SkillRequest.Kind.INSTALL, source=listing.source, path=listing.path, slug=name, by=by
    )


def preview_update(skill: Skill, *, by: Principal, at_once: bool = False) -> SkillRequest:
    """The same for the newest version of an installed skill, from its own source and path.

    `at_once`: it is also installed when its decision is `accepted`; when that is `held` it waits in
    the queue (bulk updates of an admin). Raises CannotRequest when the skill has no source any
    more; that the source has no such folder any more turns out when it is fetched.
    """
    if skill.source is None:
        raise CannotRequest(
            _("%(name)s has no source any more, so there is nothing to update it from.")
            % {"name": skill.slug}
        )
    _require_source(skill.source)
    take_turn("skill requests")
    return _update(skill, skill.source, by=by, at_once=at_once)


def install(request: SkillRequest, *, by: Principal) -> SkillRequest:
    """What was looked at is being installed, or waits for an admin (`held`) when its decision says
    so. The caller has checked that `by` may. Twice is harmless. Raises CannotRequest for what is
    refused, not looked at yet, ended, or older than its rule set.
    """
    now = fresh(request)
    if now.state in {State.INSTALLING, State.INSTALLED, State.HELD}:
        return now
    if now.state != State.PREVIEWED:
        raise CannotRequest(_not_ready(now))
    require_current(now)
    if now.decision == Skill.Decision.ACCEPTED:
        move(now, State.PREVIEWED, State.INSTALLING)
        ring(INSTALL, now)
    else:
        move(now, State.PREVIEWED, State.HELD)
    audit.record(
        "skill.ask", actor=by, subject=now.slug, detail=facts(now), rule=", ".join(now.reasons)
    )
    return fresh(now)


def cancel(request: SkillRequest, *, by: Principal) -> None:
    """An open request ends; nothing was written. Ended ones stay as they are."""
    ended = SkillRequest.objects.filter(pk=request.pk, state__in=SkillRequest.OPEN)
    # What is being written is past the point: its transaction has the row.
    if ended.exclude(state=State.INSTALLING).update(
        state=State.CANCELLED, ended_at=timezone.now(), sealed=b"", sealed_files=b""
    ):
        audit.record("skill.cancel", actor=by, subject=request.slug)
        announce(request.workspace_id, request.pk)


def preview_of(request: SkillRequest) -> Preview | None:
    """What there is to look at; None before the scan, and after the request has ended."""
    return previews.open_(request.sealed)


# -- for the room's other acts -------------------------------------------------------------------


def check_slug(text: str) -> str:
    """A name that a skill's directory may have everywhere. Raises CannotRequest."""
    if not SLUG.fullmatch(text) or len(text) > 63 or DEVICES.match(text):
        raise CannotRequest(
            _(
                "%(name)s is no name for a skill. Use lower-case letters, digits and single "
                "hyphens, at most 63."
            )
            % {"name": previews.spelled(repr(text[:80]))}
        )
    return text


def require_free(slug: str, *, origin: str = "") -> None:
    """Raises CannotRequest when a skill of the workspace bears the name."""
    taken = Skill.objects.filter(slug=slug).exclude(origin=origin).first()
    if taken is not None:
        raise CannotRequest(
            _(
                "There is a skill %(name)s here already (%(origin)s). Give this one another name, "
                "or uninstall that one first."
            )
            % {"name": slug, "origin": taken.source_name or taken.get_origin_display()}
        )


def require_current(request: SkillRequest) -> None:
    """Raises CannotRequest when what was looked at was judged by other rules, or long ago."""
    if request.ruleset != version() or request.is_stale:
        raise CannotRequest(
            _("The rules have changed since this skill was scanned. Look at it again.")
        )


def fresh(request: SkillRequest) -> SkillRequest:
    """The row as it is now, locked until the transaction ends."""
    row: SkillRequest = (
        SkillRequest.objects.select_for_update(of=("self",))
        .select_related("source__credential", "skill", "decided_by")
        .get(pk=request.pk)
    )
    return row


def move(request: SkillRequest, before: str, now: str, **fields: object) -> bool:
    """Changes the state if it still is what it was; tells the open pages. False when it was not."""
    rows: QuerySet[SkillRequest] = SkillRequest.objects.filter(pk=request.pk, state=before)
    if now not in SkillRequest.OPEN and now != State.REFUSED:
        fields = {"sealed": b"", "ended_at": timezone.now(), **fields}
        # Only here is the text of somebody whose skill did not pass; it goes when it is no loss.
        if request.kind != SkillRequest.Kind.LOCAL or now == State.INSTALLED:
            fields["sealed_files"] = b""
    if now == State.INSTALLING:
        fields = {"percent": None, "attempts": 0, **fields}  # no worker is at it yet
    moved = rows.update(state=now, stage="", beat_at=Now(), **fields)
    announce(request.workspace_id, request.pk)
    if State.HELD in {before, now}:
        publish(topics.inbox(request.workspace_id), "skill", data={"request": str(request.pk)})
    return bool(moved)


def ring(task: str, request: SkillRequest) -> None:
    enqueue(task, request.workspace_id, request.pk, queue="files")


def announce(workspace_id: UUID, request_id: UUID) -> None:
    """Every open page that shows the request asks for it anew."""
    publish(topics.skills(workspace_id), "request", data={"request": str(request_id)})


def facts(request: SkillRequest) -> dict[str, object]:
    """What the audit log keeps: which bytes, never what they say."""
    return {
        "request": str(request.pk),
        "kind": request.kind,
        "source": request.source_name,
        "path": request.path,
        "commit": request.commit,
        "digest": request.digest,
        "ruleset": request.ruleset,
        "verdict": request.verdict,
        "decision": request.decision,
    }


def create(**fields: object) -> SkillRequest:
    """A new request; on commit it is examined."""
    request: SkillRequest = SkillRequest.objects.create(**fields)
    ring(EXAMINE, request)
    announce(request.workspace_id, request.pk)
    return request


def _update(
    skill: Skill, source: SkillSource, *, by: Principal, at_once: bool = False
) -> SkillRequest:
    return _ask(
        kind=SkillRequest.Kind.UPDATE, source=source, path=skill.path, slug=skill.slug, by=by,
        skill=skill, installed_digest=skill.digest, install_at_once=at_once,
    )  # fmt: skip


def _ask(
    *, kind: str, source: SkillSource, path: str, slug: str, by: Principal, **fields: object
) -> SkillRequest:
    same = SkillRequest.objects.filter(
        source=source, path=path, slug=slug, state__in=SkillRequest.OPEN
    )
    for one in same:
        # What was looked at is still what the source offered when it was last read.
        if one.state != State.PREVIEWED or (
            one.commit == source.commit and one.ruleset == version() and not one.is_stale
        ):
            return one
        move(one, State.PREVIEWED, State.CANCELLED)
    return create(
        kind=kind, source=source, source_name=source.name, path=path, slug=slug, ref=source.ref,
        requested_by=by, **fields,
    )  # fmt: skip


def _require_source(source: SkillSource) -> None:
    if not source.is_added or source.state == SkillSource.State.REMOVING:
        raise CannotRequest(
            _("The source %(name)s offers nothing now: it is not read yet, or being removed.")
            % {"name": source.name}
        )


def _not_ready(request: SkillRequest) -> str:
    if request.is_working:
        return _("This skill is still being looked at. Wait until its verdict is there.")
    if request.state == State.REFUSED:
        return _("This skill is refused. Nothing of it was written.")
    return _("This request has ended. Look at the skill again.")
