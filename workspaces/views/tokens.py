"""Settings → API tokens: making one, seeing it once, revoking it."""

from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from .. import tokens
from ..access import MemberRequest, get_or_404, workspace_view
from ..forms import TokenForm
from ..models import ApiToken, Role, Workspace


@require_GET
@workspace_view()
def token_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    return _page(request, TokenForm())


@require_POST
@workspace_view()
def token_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Makes a token; this answer is the only one that ever shows its text."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    data = form.cleaned_data
    try:
        _token, text = tokens.issue(
            request.membership,
            name=data["name"],
            may_write=data["scope"] == tokens.WRITE,
            days=data["days"],
        )
    except tokens.TooMany:
        form.add_error(None, _("You have 50 tokens here. Revoke one that nothing uses any more."))
        return _page(request, form, status=422)
    answer = _page(request, TokenForm(), text=text, made=data["name"])
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
@workspace_view()
def token_revoke(request: MemberRequest, workspace: Workspace, token: UUID) -> HttpResponse:
    """Ends one's own token, or as an admin anybody's. Twice is harmless."""
    row = get_or_404(_visible(request), token)
    tokens.revoke(row, by=request.membership)
    messages.success(
        request, _("%(name)s works no more, from the next call on.") % {"name": row.name}
    )
    return redirect("workspaces:token-list", workspace.slug)


def _visible(request: MemberRequest) -> QuerySet[ApiToken]:
    """One's own tokens; an admin sees that others have some, never what they are."""
    rows = ApiToken.objects.select_related("user")
    if not request.membership.may(Role.ADMIN):
        rows = rows.filter(user=request.membership.user)
    return rows


def _page(
    request: MemberRequest, form: TokenForm, *, text: str = "", made: str = "", status: int = 200
) -> HttpResponse:
    rows = list(_visible(request).filter(revoked_at=None).order_by("-created_at"))
    own = [row for row in rows if row.user_id == request.membership.user_id]
    context = {
        "form": form,
        "text": text,
        "made": made,
        "own": own,
        "others": [row for row in rows if row.user_id != request.membership.user_id],
        "address": request.build_absolute_uri(f"/w/{request.workspace.slug}/api/"),
        "tab": "tokens",
    }
    return render(request, "workspaces/tokens.html", context, status=status)
