"""The one door from a request to a workspace or a row of it.

A foreign id answers exactly as a missing id: a workspace that the user is not in is a 404, and so
is a row that row-level security hides.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from .models import Membership, Principal, Role, Workspace
from .tenancy import as_user, bind

Row = TypeVar("Row", bound=models.Model)
View = Callable[..., HttpResponseBase]


class MemberRequest(HttpRequest):
    """A request that has passed this door."""

    workspace: Workspace
    membership: Membership
    principal: Principal


def workspace_view(role: str = Role.VIEWER) -> Callable[[View], View]:
    """The view is called with the workspace of the URL, bound, for members of at least this role.

    Strangers get 404, members with too little a 403, visitors the sign-in page.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inside(
            request: MemberRequest, workspace: str, *args: Any, **kwargs: Any
        ) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _to_sign_in(request)
            membership = membership_of(request.user.pk, workspace)
            if membership is None:
                raise Http404
            with bind(membership.workspace_id):
                request.workspace = membership.workspace
                request.membership = membership
                request.principal = membership.principal
                require(membership, role)
                return view(request, membership.workspace, *args, **kwargs)

        vars(inside)["role"] = role  # the access matrix reads it
        return inside

    return decorate


def membership_of(user_id: UUID, slug: str) -> Membership | None:
    """The user's active membership in the workspace of this slug, with the workspace."""
    with as_user(user_id):
        return (
            Membership.objects.select_related("workspace", "user")
            .filter(user_id=user_id, is_active=True, workspace__slug=slug)
            .first()
        )


def memberships_of(user_id: UUID | None) -> list[Membership]:
    """All active memberships of a user, by the workspace's name."""
    if user_id is None:
        return []
    with as_user(user_id):
        return list(
            Membership.objects.select_related("workspace")
            .filter(user_id=user_id, is_active=True)
            .order_by("workspace__name")
        )


def require(membership: Membership, role: str) -> None:
    """Raises PermissionDenied with a sentence when the membership carries less than the role."""
    if not membership.may(role):
        raise PermissionDenied(
            _("This needs the role %(role)s; yours is %(yours)s.")
            % {"role": Role(role).label, "yours": Role(membership.role).label}
        )


def get_or_404(rows: type[Row] | models.QuerySet[Row], key: UUID | str, **filters: Any) -> Row:
    """The row of the bound workspace with this id. Raises Http404 alike for foreign and missing."""
    query = rows if isinstance(rows, models.QuerySet) else rows.objects.all()  # type: ignore[attr-defined]
    row = query.filter(pk=key, **filters).first()
    if row is None:
        raise Http404
    return row


def _to_sign_in(request: HttpRequest) -> HttpResponseBase:
    if request.headers.get("HX-Request"):
        return HttpResponse(status=401, headers={"HX-Redirect": "/accounts/login/"})
    return redirect_to_login(request.get_full_path())
