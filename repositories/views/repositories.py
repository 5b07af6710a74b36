"""Repositories: the list, adding one, its page, fetching it again, removing it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

import live
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace
from workspaces.sentences import translated

from .. import adding, topics
from ..adding import CannotAdd, CannotRemove
from ..forms import AddForm, CredentialForm
from ..models import Checkout, PushRequest, Repository, SpaceRepository
from ..skill_accepting import acceptances
from ..visibility import visible_pushes


@require_GET
@workspace_view(Role.VIEWER)
def repository_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    return _list(request, AddForm())


@require_POST
@workspace_view(Role.ADMIN)
def repository_add(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Whether the address can be reached turns out in the background; the page shows it."""
    form = AddForm(request.POST)
    if not form.is_valid():
        return _list(request, form)
    data = form.cleaned_data
    try:
        row = adding.add(
            data["address"], by=request.principal, secret=data["secret"], username=data["username"]
        )
    except CannotAdd as error:
        form.add_error("address", translated(str(error)))
        return _list(request, form)
    return redirect("repositories:repository-show", workspace.slug, row.pk)


@require_GET
@workspace_view(Role.VIEWER)
def repository_show(request: MemberRequest, workspace: Workspace, repository: UUID) -> HttpResponse:
    row = get_or_404(_rows(), repository)
    context = _context(request, row)
    is_part = bool(request.headers.get("HX-Request"))
    return render(
        request, "repositories/_facts.html" if is_part else "repositories/show.html", context
    )


@require_POST
@workspace_view(Role.MEMBER)
def repository_fetch(
    request: MemberRequest, workspace: Workspace, repository: UUID
) -> HttpResponse:
    row = get_or_404(_rows(), repository)
    adding.ask_fetch(row)
    return redirect("repositories:repository-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def repository_credential(
    request: MemberRequest, workspace: Workspace, repository: UUID
) -> HttpResponse:
    row = get_or_404(_rows(), repository)
    form = CredentialForm(request.POST)
    if not form.is_valid():
        context = _context(request, row) | {"credential_form": form}
        return render(request, "repositories/show.html", context, status=422)
    data = form.cleaned_data
    adding.change_credential(
        row, by=request.principal, secret=data["secret"].strip(), username=data["username"].strip()
    )
    messages.success(request, _("The credential is stored; the repository is fetched with it."))
    return redirect("repositories:repository-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def repository_remove(
    request: MemberRequest, workspace: Workspace, repository: UUID
) -> HttpResponse:
    row = get_or_404(_rows(), repository)
    if request.POST.get("confirm", "") != row.name:
        messages.error(request, _("The name was not typed; nothing was removed."))
        return redirect("repositories:repository-show", workspace.slug, row.pk)
    try:
        adding.ask_remove(row, by=request.principal)
    except CannotRemove as error:
        messages.error(request, str(error))
        return redirect("repositories:repository-show", workspace.slug, row.pk)
    messages.success(request, _("%(name)s is being removed.") % {"name": row.name})
    return redirect("repositories:repository-list", workspace.slug)


def _rows() -> Any:
    return Repository.objects.exclude(state=Repository.State.REMOVING)


def _list(request: MemberRequest, form: AddForm) -> HttpResponse:
    context = {
        "cursor": live.cursor(topics.repositories(request.workspace.pk)),
        "repositories": _rows().order_by("name"),
        "form": form,
        "may_manage": request.membership.may(Role.ADMIN),
        "held": visible_pushes(request.membership).filter(state=PushRequest.State.HELD).count(),
        "topic": topics.repositories(request.workspace.pk),
    }
    is_part = request.method == "GET" and request.headers.get("HX-Request")
    template = "repositories/_table.html" if is_part else "repositories/list.html"
    return render(request, template, context, status=422 if form.errors else 200)


def _context(request: MemberRequest, row: Repository) -> dict[str, Any]:
    cursor = live.cursor(topics.repositories(request.workspace.pk))
    links = SpaceRepository.objects.filter(repository=row).select_related("space")
    checkouts = Checkout.objects.filter(repository=row).count()
    return {
        "cursor": cursor,
        "repository": row,
        "spaces": [link.space for link in links],
        "pushes": visible_pushes(request.membership).filter(repository=row)[:20],
        "acceptances": acceptances(row),
        "credential_form": CredentialForm(),
        "may_manage": request.membership.may(Role.ADMIN),
        "may_write": request.membership.may(Role.MEMBER),
        "lost": _lost(checkouts, len(links)),
        "kept": [_("The repository at its address; nothing is changed there.")],
        "topic": topics.repositories(request.workspace.pk),
    }


def _lost(checkouts: int, spaces: int) -> list[str]:
    lines = [_("The copy of the repository on this server.")]
    if checkouts:
        lines.append(
            _("Its checkouts in %(count)d conversations, with every change that was not pushed.")
            % {"count": checkouts}
        )
    if spaces:
        lines.append(_("Its place in %(count)d spaces.") % {"count": spaces})
    return lines
