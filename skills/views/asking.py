"""A look at a skill before it comes in, the install, and the queue of those that are held."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from workspaces.access import MemberRequest, get_or_404, require, workspace_view
from workspaces.models import Role, Workspace

from .. import comparing, holds, removing, requests
from ..models import Skill, SkillListing, SkillRequest
from ..previews import MOST_DIFF
from . import reading
from .frame import frame, reason_of
from .guardrails import said

RECENT = 20
TABS = {
    "decision": "skills:request-show",
    "body": "skills:request-body",
    "files": "skills:request-files",
}
State = SkillRequest.State
SEVERE = {"quarantine", "warn"}


@require_GET
@workspace_view()
def held_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """What waits for an admin, what is being looked at, what was decided lately."""
    rows = SkillRequest.objects.select_related("requested_by", "decided_by", "skill")
    waiting = list(rows.waiting().order_by("created_at"))
    looking = rows.filter(state__in=(*SkillRequest.WORKING, State.PREVIEWED))
    decided = rows.filter(state__in=[State.INSTALLED, State.REFUSED, State.FAILED])
    context = frame(request, "held") | {
        "waiting": waiting,
        "unlinked": Skill.objects.exclude(decision=Skill.Decision.ACCEPTED),
        "looking": looking[:RECENT],
        "decided": decided[:RECENT],
    }
    is_part = bool(request.headers.get("HX-Request"))
    return render(request, "skills/_held.html" if is_part else "skills/held.html", context)


@require_POST
@workspace_view(Role.MEMBER)
def listing_preview(request: MemberRequest, workspace: Workspace, listing: UUID) -> HttpResponse:
    """The skill is fetched and scanned; its own page shows how far that is, and then all of it."""
    row = get_or_404(SkillListing.objects.select_related("source"), listing)
    try:
        asked = requests.preview(
            row, by=request.principal, slug=request.POST.get("slug", "").strip()
        )
    except requests.CannotRequest as error:
        messages.error(request, str(error))
        return redirect("skills:source-show", workspace.slug, row.source_id)
    return redirect("skills:request-show", workspace.slug, asked.pk)


@require_GET
@workspace_view()
def request_show(
    request: MemberRequest, workspace: Workspace, asked: UUID, tab: str = "decision"
) -> HttpResponse:
    """How far it is; then body, files, findings, capabilities, and what would change. 204 where an
    open page shows it so already."""
    row = _find(asked)
    if request.headers.get("HX-Request") and request.GET.get("shown") == _fingerprint(row):
        return HttpResponse(status=204)
    return _page(request, row, tab=tab)


@require_POST
@workspace_view(Role.MEMBER)
def request_install(request: MemberRequest, workspace: Workspace, asked: UUID) -> HttpResponse:
    """What was looked at comes in, or waits for an admin. A member may only ask for what waits."""
    row = _find(asked)
    if row.decision != Skill.Decision.HELD:
        require(request.membership, Role.ADMIN)
    if problem := _not_shown(request, row):
        return _page(request, row, said_=problem, status=409)
    try:
        requests.install(row, by=request.principal)
    except requests.CannotRequest as error:
        return _page(request, _find(asked), said_=str(error), status=409)
    return redirect("skills:request-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def request_accept(request: MemberRequest, workspace: Workspace, asked: UUID) -> HttpResponse:
    """An admin's yes to exactly what was shown, on record. Quarantine asks for the name, typed, and
    a reason; so does every finding that holds. The first decision stands."""
    row = _find(asked)
    note = reason_of(request)
    if problem := _not_shown(request, row) or _not_enough(request, row, note):
        return _page(request, row, said_=problem, status=422, note=note)
    try:
        if row.state == State.PREVIEWED:
            row = requests.install(row, by=request.principal)
        holds.accept(row, by=request.principal, note=note)
    except (requests.CannotRequest, holds.CannotDecide) as error:
        return _page(request, _find(asked), said_=str(error), status=409, note=note)
    messages.success(request, _("Accepted. It is being installed."))
    return redirect("skills:request-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def request_refuse(request: MemberRequest, workspace: Workspace, asked: UUID) -> HttpResponse:
    """An admin's no, on record. Nothing was written, so nothing has to go."""
    row = _find(asked)
    note = reason_of(request)
    try:
        holds.refuse(row, by=request.principal, note=note)
    except holds.CannotDecide as error:
        return _page(request, _find(asked), said_=str(error), status=409, note=note)
    messages.success(request, _("Refused. Nothing was written."))
    return redirect("skills:request-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.MEMBER)
def request_cancel(request: MemberRequest, workspace: Workspace, asked: UUID) -> HttpResponse:
    """Whoever asked, or an admin, lets it be."""
    row = _find(asked)
    if row.requested_by_id != request.principal.pk:
        require(request.membership, Role.ADMIN)
    requests.cancel(row, by=request.principal)
    if row.source_id:
        return redirect("skills:source-show", workspace.slug, row.source_id)
    return redirect("skills:skill-list", workspace.slug)


@require_POST
@workspace_view(Role.MEMBER)
def request_again(request: MemberRequest, workspace: Workspace, asked: UUID) -> HttpResponse:
    """A new look at the same skill, after a failure or when the old look is stale."""
    row = _find(asked)
    try:
        if row.kind == SkillRequest.Kind.UPDATE and row.skill is not None:
            fresh = requests.preview_update(row.skill, by=request.principal)
        else:
            fresh = requests.preview(_listing(row), by=request.principal, slug=row.slug)
    except requests.CannotRequest as error:
        return _page(request, row, said_=str(error), status=409)
    return redirect("skills:request-show", workspace.slug, fresh.pk)


def _find(key: UUID) -> SkillRequest:
    rows = SkillRequest.objects.select_related("source", "skill", "requested_by", "decided_by")
    return get_or_404(rows, key)


def _listing(row: SkillRequest) -> SkillListing:
    found = SkillListing.objects.filter(source=row.source_id, path=row.path).first()
    if found is None:
        raise requests.CannotRequest(_("The source does not offer it any more."))
    return found


def _not_shown(request: MemberRequest, row: SkillRequest) -> str:
    """A sentence when the answer is for something else than what stands there now."""
    if request.POST.get("digest", "") == row.digest:
        return ""
    return _("This is not what you were shown. Look again.")


def _not_enough(request: MemberRequest, row: SkillRequest, note: str) -> str:
    if SEVERE.intersection(row.reasons) and not note:
        return _("Nothing was accepted: say why, in a sentence that others can read later.")
    if "quarantine" in row.reasons and request.POST.get("confirm", "") != row.slug:
        return _("Nothing was accepted: the skill's name was not typed.")
    return ""


def _page(
    request: MemberRequest,
    row: SkillRequest,
    *,
    tab: str = "decision",
    said_: str = "",
    status: int = 200,
    note: str = "",
) -> HttpResponse:
    place = "held" if row.state == State.HELD else ""
    context = frame(request, place, source=row.source) | _facts(request, row) | {
        "tab": tab,
        "said": said_,
        "note": note,
        "has_new_dialogs": _was_at_work(request),
        "here_url": reverse(TABS[tab], args=[request.workspace.slug, row.pk]),
        "view": "sides" if request.GET.get("view") == "sides" else "unified",
    }  # fmt: skip
    preview = requests.preview_of(row)
    if preview is not None:
        context |= _shown(preview, row, request)
    is_part = request.method == "GET" and request.headers.get("HX-Request")
    template = "skills/_request.html" if is_part else "skills/request.html"
    return render(request, template, context, status=status)


def _facts(request: MemberRequest, row: SkillRequest) -> dict[str, Any]:
    is_open = row.state in {State.PREVIEWED, State.HELD}
    is_admin = request.membership.may(Role.ADMIN)
    may_accept = row.is_acceptable or row.decision == Skill.Decision.HELD
    return {
        "asked": row,
        "fingerprint": _fingerprint(row),
        "is_update": row.kind == SkillRequest.Kind.UPDATE,
        "is_severe": bool(SEVERE.intersection(row.reasons)),
        "is_quarantined": "quarantine" in row.reasons,
        "may_install": is_open
        and is_admin
        and row.state == State.PREVIEWED
        and row.decision == Skill.Decision.ACCEPTED,
        "may_accept": is_admin
        and may_accept
        and (row.state == State.REFUSED and not row.decided_by_id or is_open)
        and row.decision != Skill.Decision.ACCEPTED,
        "may_refuse": is_admin and row.state == State.HELD,
        "may_ask": not is_admin
        and row.state == State.PREVIEWED
        and row.decision == Skill.Decision.HELD,
        "may_cancel": row.is_open and (is_admin or row.requested_by_id == request.principal.pk),
        "losers": list(removing.losers(row.skill)) if row.skill else [],
    }


def _shown(preview: requests.Preview, row: SkillRequest, request: MemberRequest) -> dict[str, Any]:
    change = comparing.findings(preview.before_findings, preview.findings)
    path = request.GET.get("path", "")
    opened = reading.opened(preview.files, preview.findings, path)
    if opened is None and path:
        raise Http404
    return {
        "preview": preview,
        "body": reading.unspelled(preview.body),
        "diff_text": reading.unspelled(preview.diff),
        "is_cut": len(preview.diff) >= MOST_DIFF,
        "change": change,
        "capabilities": comparing.capabilities(
            preview.before_capabilities, preview.manifest.capabilities, preview.manifest.places
        ),
        "guardrails": said(),
        "listed": reading.listed(preview.files, preview.findings),
        "opened": opened,
        "final": [one for one in preview.findings if not one.acceptable],
    }


def _was_at_work(request: MemberRequest) -> bool:
    """Whether an open page knows nothing yet of what can be answered. Later its dialogs stay as
    they are, since somebody may be writing in them."""
    shown = request.GET.get("shown", "").partition("-")[0]
    return bool(request.headers.get("HX-Request")) and shown in SkillRequest.WORKING


def _fingerprint(row: SkillRequest) -> str:
    """What an open page shows of it: when this changes, the page asks again."""
    decided = row.decided_at.isoformat() if row.decided_at else ""
    return f"{row.state}-{row.percent}-{decided}-{row.stage}"
