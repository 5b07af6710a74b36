"""The one door from a request to a workspace or a row of it.

A foreign id answers exactly as a missing id: a workspace that the user is not in is a 404, and so
is a row that row-level security hides.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from . import audit, pace, tokens
from .models import ApiToken, Membership, Principal, Role, Workspace
from .problem import Problem
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


SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def api_view(role: str = Role.VIEWER) -> Callable[[View], View]:
    """Marks a view of `endpoint` with the least role that it is for."""

    def decorate(view: View) -> View:
        vars(view)["role"] = role
        return view

    return decorate


def endpoint(**views: View) -> View:
    """One address for programs, with a view for each method.

    Opened by a member's session or personal access token; a view is called with the workspace of
    the URL, bound. Every refusal is a problem in JSON, and nothing of what a refused view wrote
    stays.
    """

    @csrf_exempt  # a session is checked below, a token needs no such check
    def answer(
        request: MemberRequest, workspace: str, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        try:
            view = views.get("GET" if request.method == "HEAD" else str(request.method))
            if view is None:
                raise _wrong_method(request, views)
            _require_size(request)
            membership, token = _who_calls(request, workspace)
            with bind(membership.workspace_id), audit.through(token):
                request.workspace = membership.workspace
                request.membership = membership
                request.principal = membership.principal
                require(membership, vars(view)["role"])
                return view(request, membership.workspace, *args, **kwargs)
        except Problem as problem:
            return problem.response()
        except Http404:
            return Problem(404, "not-found", _("There is nothing at this address.")).response()
        except PermissionDenied as denied:
            return Problem(403, "not-allowed", str(denied)).response()
        except ValidationError as error:
            return Problem(
                422, "invalid", " ".join(error.messages), errors=_by_field(error)
            ).response()

    vars(answer)["roles"] = {name: vars(view)["role"] for name, view in views.items()}
    return answer


def _who_calls(request: MemberRequest, slug: str) -> tuple[Membership, ApiToken | None]:
    """The member behind the request's token, with it, or else behind its session.

    Raises Problem: no valid credential, too many calls, a token that may only read.
    """
    scheme, _space, text = request.headers.get("Authorization", "").partition(" ")
    if scheme:
        holder = tokens.find(text.strip()) if scheme.lower() == "bearer" else None
        if holder is None:
            raise _not_signed_in(_("The token is unknown, has ended or was revoked."))
        _require_pace(f"token:{holder.token.pk}")
        if holder.membership.workspace.slug != slug:
            raise Http404
        if request.method not in SAFE and not holder.may_write:
            raise PermissionDenied(_("This token may only read. Make one that may also write."))
        return holder.membership, holder.token
    if not request.user.is_authenticated:
        raise _not_signed_in(_("Send a personal access token: Authorization: Bearer cct_…"))
    _require_pace(f"user:{request.user.pk}")
    refused = CsrfViewMiddleware(lambda _request: HttpResponse()).process_view(
        request, _nothing, (), {}
    )
    if refused is not None:
        raise PermissionDenied(_("A session must send its CSRF token; programs send a token."))
    membership = membership_of(request.user.pk, slug)
    if membership is None:
        raise Http404
    return membership, None


def _nothing(request: HttpRequest) -> HttpResponse:
    """What the CSRF check takes for the view: one that is not exempt."""
    return HttpResponse()


def _not_signed_in(sentence: str) -> Problem:
    headers = {"WWW-Authenticate": 'Bearer realm="Control Center"'}
    return Problem(401, "not-signed-in", sentence, headers=headers)


def _wrong_method(request: HttpRequest, views: dict[str, View]) -> Problem:
    allowed = ", ".join(views)
    sentence = _("%(method)s is not possible here, but %(allowed)s.")
    words = {"method": request.method, "allowed": allowed}
    return Problem(405, "wrong-method", sentence % words, headers={"Allow": allowed})


def _require_size(request: HttpRequest) -> None:
    limit = settings.API_BODY_BYTES
    length = request.META.get("CONTENT_LENGTH") or "0"
    if (length.isdigit() and int(length) > limit) or len(request.body) > limit:
        sentence = _("The body is larger than %(kib)s KiB, which is the most; nothing was changed.")
        raise Problem(413, "too-large", sentence % {"kib": limit // 1024})


def _require_pace(who: str) -> None:
    seconds = pace.seconds_to_wait(who, calls_a_minute=settings.API_CALLS_A_MINUTE)
    if seconds:
        sentence = _("More than %(calls)s calls in a minute. Try again in %(seconds)s seconds.")
        words = {"calls": settings.API_CALLS_A_MINUTE, "seconds": seconds}
        headers = {"Retry-After": str(seconds)}
        raise Problem(429, "too-many-requests", sentence % words, headers=headers)


def _by_field(error: ValidationError) -> dict[str, list[str]]:
    return dict(error.message_dict) if hasattr(error, "error_dict") else {"": error.messages}


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
    """The sign-in page, which then leads to the page that was open: an act has none of its own."""
    if request.headers.get("HX-Request"):
        answer = redirect_to_login(_page_of(request, request.headers.get("HX-Current-URL", "")))
        return HttpResponse(status=401, headers={"HX-Redirect": answer.url})
    if request.method in SAFE:
        return redirect_to_login(request.get_full_path())
    return redirect_to_login(_page_of(request, request.headers.get("Referer", "")))


def _page_of(request: HttpRequest, address: str) -> str:
    """The path of our own page at this address; the first page for any other."""
    parts = urlsplit(address)
    is_ours = parts.netloc == request.get_host() and parts.path.startswith("/")
    return f"{parts.path}?{parts.query}".rstrip("?") if is_ours else "/"
