"""Skills that a repository carries: an admin's yes to one that is withheld."""

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from workspaces import saying
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from ..models import Repository
from ..skill_accepting import CannotAccept, accept
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
