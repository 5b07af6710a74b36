"""Spaces: the list, a new one, its settings."""

from collections.abc import Iterable

from django.contrib import messages
from django.db.models.functions import Now
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from repositories.models import SpaceRepository
from workspaces import audit
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from ..creating import create_space, start_conversation
from ..forms import SpaceForm
from ..models import Participant, Space
from ..visibility import visible_spaces
from .overview import rail_of_spaces


@require_GET
@workspace_view(Role.GUEST)
def space_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    context = {
        "spaces": rail_of_spaces(request.membership),
        "may_create": request.membership.may(Role.MEMBER),
        "archived": _archived(request) if request.membership.may(Role.ADMIN) else (),
    }
    return render(request, "spaces/list.html", context)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def space_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A new space opens on its first conversation."""
    form = SpaceForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        space = create_space(
            data["name"],
            by=request.principal,
            topic=data["topic"],
            visibility=data["visibility"],
            participants=data["participants"],
        )
        for repository in data["repositories"]:
            SpaceRepository.objects.create(space=space, repository=repository)
        conversation = start_conversation(space, by=request.principal)
        return redirect("spaces:conversation-show", workspace.slug, space.slug, conversation.pk)
    context = {"form": form, "spaces": rail_of_spaces(request.membership)}
    return render(request, "spaces/new.html", context, status=422 if form.errors else 200)


@require_GET
@workspace_view(Role.GUEST)
def space_show(request: MemberRequest, workspace: Workspace, space: str) -> HttpResponse:
    """Leads to the newest conversation of the space, or begins the first one."""
    row = get_object_or_404(visible_spaces(request.membership), slug=space)
    newest = row.conversations.filter(archived_at=None).first()
    if newest is None:
        if not request.membership.may(Role.MEMBER):
            return render(
                request,
                "spaces/quiet.html",
                {"space": row, "spaces": rail_of_spaces(request.membership)},
            )
        newest = start_conversation(row, by=request.principal)
    return redirect("spaces:conversation-show", workspace.slug, row.slug, newest.pk)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def space_edit(request: MemberRequest, workspace: Workspace, space: str) -> HttpResponse:
    row = get_object_or_404(visible_spaces(request.membership), slug=space)
    form = SpaceForm(request.POST or None, initial=_initial(row))
    if request.method == "POST" and form.is_valid():
        _save(row, form, request)
        messages.success(request, _("Saved."))
        return redirect("spaces:space-show", workspace.slug, row.slug)
    context = {"form": form, "space": row, "spaces": rail_of_spaces(request.membership)}
    return render(request, "spaces/edit.html", context, status=422 if form.errors else 200)


@require_POST
@workspace_view(Role.ADMIN)
def space_archive(request: MemberRequest, workspace: Workspace, space: str) -> HttpResponse:
    """The space leaves the list, or comes back, as `wanted` says; nothing in it is lost."""
    row = get_object_or_404(visible_spaces(request.membership), slug=space)
    is_back = request.POST.get("wanted") == "back"
    found = Space.objects.filter(pk=row.pk, archived_at__isnull=not is_back)
    if found.update(archived_at=None if is_back else Now()):
        act = "space.restore" if is_back else "space.archive"
        audit.record(act, actor=request.principal, subject=row.name)
    messages.success(
        request,
        _("%(name)s is back.") % {"name": row.name}
        if is_back
        else _("%(name)s is archived; its conversations are kept.") % {"name": row.name},
    )
    return redirect("spaces:space-list", workspace.slug)


def _archived(request: MemberRequest) -> Iterable[Space]:
    return visible_spaces(request.membership).exclude(archived_at=None).order_by("-archived_at")


def _initial(space: Space) -> dict[str, object]:
    return {
        "name": space.name,
        "topic": space.topic,
        "visibility": space.visibility,
        "repositories": [row.repository_id for row in SpaceRepository.objects.filter(space=space)],
        "participants": [row.principal_id for row in space.participants.all()],
    }


def _save(space: Space, form: SpaceForm, request: MemberRequest) -> None:
    data = form.cleaned_data
    space.name, space.topic = data["name"], data["topic"]
    space.visibility = data["visibility"]
    space.save(update_fields=["name", "topic", "visibility"])
    stays = {each.pk for each in data["participants"]} | {request.principal.pk}
    space.participants.exclude(principal__in=stays).delete()
    for principal_id in stays - set(space.participants.values_list("principal", flat=True)):
        Participant.objects.create(space=space, principal_id=principal_id)
    linked = SpaceRepository.objects.filter(space=space)
    linked.exclude(repository__in=data["repositories"]).delete()
    present = set(linked.values_list("repository", flat=True))
    for repository in data["repositories"]:
        if repository.pk not in present:
            SpaceRepository.objects.create(space=space, repository=repository)
    audit.record("space.edit", actor=request.principal, subject=space.name)
