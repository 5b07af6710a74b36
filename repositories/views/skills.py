"""Skills that a repository carries: an admin's yes to one that is withheld, and its end."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from workspaces import saying
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from ..models import Repository
from ..skill_accepting import CannotAccept, accept, withdraw
from ..skill_standing import carrying


@require_POST
@workspace_view(Role.ADMIN)
def skill_accept(request: MemberRequest, workspace: Workspace, repository: UUID) -> HttpResponse:
    """Agents may read exactly these bytes; each open page hears of it by its socket."""
    rows = Repository.objects.exclude(state=Repository.State.REMOVING)
    row = get_or_404(rows, repository)
    known = carrying(row, request.POST.get("commit", ""))
    try:
        accept(row, known, request.POST.get("digest", ""), by=request.principal)
    except CannotAccept as error:
        return saying.refusal(str(error), status=409)
    return HttpResponse(status=204)


@require_POST
@workspace_view(Role.ADMIN)
def skill_withdraw(request: MemberRequest, workspace: Workspace, repository: UUID) -> HttpResponse:
    """The yes holds no more. Twice is harmless."""
    rows = Repository.objects.exclude(state=Repository.State.REMOVING)
    row = get_or_404(rows, repository)
    if withdraw(row, request.POST.get("digest", "")[:80], by=request.principal):
        messages.success(request, _("The acceptance is withdrawn, from the agents' next turn on."))
    else:
        messages.info(request, _("It was withdrawn already."))
    return redirect("repositories:repository-show", workspace.slug, row.pk)
