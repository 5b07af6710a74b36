"""Where skills come from: registering a repository, what it offers, its removal."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from .. import catalogue
from .. import sources as registering
from ..forms import CredentialForm, SourceForm
from ..models import Skill, SkillListing, SkillRequest, SkillSource
from .frame import frame

ON_A_PAGE = 60


@require_GET
@workspace_view()
def source_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """All sources; with a search, what all of them offer."""
    return _list(request, SourceForm())


@require_POST
@workspace_view(Role.ADMIN)
def source_add(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The address is looked for in the background before anything is offered; the page shows it."""
    form = SourceForm(request.POST)
    if not form.is_valid():
        return _list(request, form)
    data = form.cleaned_data
    try:
        row = registering.register(
            data["address"],
            by=request.principal,
            ref=data["ref"].strip(),
            secret=data["secret"].strip(),
            username=data["username"].strip(),
        )
    except registering.CannotRegister as error:
        form.add_error("address", str(error))
        return _list(request, form)
    return redirect("skills:source-show", workspace.slug, row.pk)


@require_GET
@workspace_view()
def source_show(request: MemberRequest, workspace: Workspace, source: UUID) -> HttpResponse:
    """What one source offers, what it passes over and why, and how the last reading went."""
    row = get_or_404(_rows(), source)
    context = _context(request, row, CredentialForm())
    if not request.headers.get("HX-Request"):
        return render(request, "skills/source.html", context)
    is_head = request.headers.get("HX-Target") == "source-head"
    part = "skills/_source_head.html" if is_head else "skills/_catalogue.html"
    return render(request, part, context | {"is_part": True})


@require_POST
@workspace_view(Role.MEMBER)
def source_sync(request: MemberRequest, workspace: Workspace, source: UUID) -> HttpResponse:
    row = get_or_404(_rows(), source)
    registering.ask_sync(row)
    return redirect("skills:source-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def source_credential(request: MemberRequest, workspace: Workspace, source: UUID) -> HttpResponse:
    row = get_or_404(_rows(), source)
    form = CredentialForm(request.POST)
    if not form.is_valid():
        return render(request, "skills/source.html", _context(request, row, form), status=422)
    data = form.cleaned_data
    registering.change_credential(
        row, by=request.principal, secret=data["secret"].strip(), username=data["username"].strip()
    )
    messages.success(request, _("The credential is stored; the source is read with it."))
    return redirect("skills:source-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def source_remove(request: MemberRequest, workspace: Workspace, source: UUID) -> HttpResponse:
    """Twice is harmless: the second time leads to the list."""
    row = get_or_404(_rows(), source)
    registering.ask_remove(row, by=request.principal)
    messages.success(request, _("%(name)s is being removed.") % {"name": row.name})
    return redirect("skills:source-list", workspace.slug)


@dataclass(frozen=True, slots=True)
class Offer:
    """One row of the catalogue, with the last look at it that still says something."""

    entry: catalogue.Entry
    asked: SkillRequest | None


def _offers(page: Page[catalogue.Entry]) -> list[Offer]:
    """The entries of a page, each with its open or refused request."""
    entries = list(page.object_list)
    rows = SkillRequest.objects.filter(
        source__in={entry.listing.source_id for entry in entries},
        state__in=(*SkillRequest.OPEN, SkillRequest.State.REFUSED),
    )
    last = {(row.source_id, row.path): row for row in rows.order_by("created_at")}
    return [
        Offer(entry, last.get((entry.listing.source_id, entry.listing.path))) for entry in entries
    ]


def _rows() -> Any:
    return SkillSource.objects.exclude(state=SkillSource.State.REMOVING)


def _list(request: MemberRequest, form: SourceForm) -> HttpResponse:
    wanted = request.GET.get("q", "").strip()
    context = frame(request, "sources") | {"form": form, "wanted": wanted}
    if wanted:
        page = Paginator(catalogue.search(wanted), ON_A_PAGE).get_page(request.GET.get("page"))
        context |= {"page": page, "offers": _offers(page)}
        context["here"] = urlencode({"q": wanted})
    is_part = request.method == "GET" and request.headers.get("HX-Request")
    template = "skills/_sources.html" if is_part else "skills/sources.html"
    return render(request, template, context, status=422 if form.errors else 200)


def _context(request: MemberRequest, row: SkillSource, form: CredentialForm) -> dict[str, Any]:
    wanted = request.GET.get("q", "").strip()
    show = "skipped" if request.GET.get("show") == "skipped" else ""
    found = catalogue.search(wanted, source=row, skipped=bool(show))
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    listings = SkillListing.objects.filter(source=row)
    query = {"q": wanted, "show": show}
    skills = Skill.objects.filter(source=row)
    return frame(request, "source", source=row) | {
        "source": row,
        "page": page,
        "offers": _offers(page),
        "wanted": wanted,
        "show": show,
        "here": urlencode({key: value for key, value in query.items() if value}),
        "offered": listings.filter(skipped="").count(),
        "skipped": listings.exclude(skipped="").count(),
        "installed": [skill.slug for skill in skills],
        "form": form,
    }
