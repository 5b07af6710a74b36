"""Taking back what was changed in the library."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from .. import shelves
from ..definitions import DefinitionChange


@dataclass(frozen=True, slots=True)
class Undoable:
    """An act of this member that can still be taken back."""

    batch: UUID
    count: int
    path: str


def undoable(request: MemberRequest) -> Undoable | None:
    """The act that the address names after it was done, while it can be taken back."""
    try:
        batch = UUID(request.GET.get("undo", ""))
    except ValueError:
        return None
    rows = DefinitionChange.objects.filter(batch=batch, undone_at=None, by=request.principal)
    paths = list(rows.values_list("path", flat=True)[:1000])
    return Undoable(batch, len(paths), paths[0]) if paths else None


def after(workspace: Workspace, batch: UUID) -> HttpResponse:
    """Back to the library, which then offers the way back."""
    url = reverse("agents:library-show", args=[workspace.slug])
    return redirect(f"{url}?undo={batch}")


@require_POST
@workspace_view(Role.MEMBER)
def library_undo(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The files of an act are as they were, but for those that were changed since."""
    try:
        batch = UUID(request.POST.get("batch", ""))
    except ValueError as error:
        raise Http404 from error
    try:
        done = shelves.undo(
            batch, by=request.principal, may_manage=request.membership.may(Role.ADMIN)
        )
    except (OSError, shelves.CannotKeep) as error:
        messages.error(request, _("Nothing was taken back: %(why)s") % {"why": error})
        return redirect("agents:library-show", workspace.slug)
    if done.restored:
        count = len(done.restored)
        text = ngettext("%(n)s file is as it was.", "%(n)s files are as they were.", count)
        messages.success(request, text % {"n": count})
    if done.left:
        text = _("Left alone, since somebody changed it meanwhile: %(paths)s")
        messages.warning(request, text % {"paths": ", ".join(done.left[:5])})
    if not done.restored and not done.left:
        messages.info(request, _("There was nothing to take back."))
    return redirect("agents:library-show", workspace.slug)
