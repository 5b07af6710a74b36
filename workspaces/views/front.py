"""Before a workspace: the first visit, invitations, choosing a workspace, oneself."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.seeding import found_workspace

from .. import invitations
from ..access import memberships_of
from ..accounts import INVITATION_KEY
from ..forms import ProfileForm, WorkspaceForm
from ..members import instance_is_empty
from ..models import User


@require_GET
def instance_home(request: HttpRequest) -> HttpResponse:
    """Leads to where one can go on: sign-up on a fresh instance, the workspace, or the choice."""
    if not request.user.is_authenticated:
        if instance_is_empty():
            return redirect("account_signup")
        return redirect("account_login")
    memberships = memberships_of(request.user.pk)
    if len(memberships) == 1 and "all" not in request.GET:
        return redirect("workspaces:home", memberships[0].workspace.slug)
    return render(
        request,
        "workspaces/choose.html",
        {"memberships": memberships, "form": WorkspaceForm()},
    )


@login_required
@require_POST
def workspace_create(request: HttpRequest) -> HttpResponse:
    form = WorkspaceForm(request.POST)
    if not form.is_valid():
        context = {"memberships": memberships_of(request.user.pk), "form": form}
        return render(request, "workspaces/choose.html", context, status=422)
    assert isinstance(request.user, User), "login_required"
    workspace = found_workspace(request.user, form.cleaned_data["name"])
    return redirect("workspaces:setup-show", workspace.slug)


@never_cache
@require_http_methods(["GET", "POST"])
def invitation_show(request: HttpRequest, token: str) -> HttpResponse:
    """Shows what the invitation is to; a POST accepts it. A dead link says so and no more."""
    found = invitations.find(token)
    if found is None:
        return render(request, "workspaces/invitation_gone.html", status=404)
    workspace, invitation = found
    if request.method == "GET":
        if not request.user.is_authenticated:
            request.session[INVITATION_KEY] = token
        context: dict[str, Any] = {"invited_to": workspace, "invitation": invitation}
        return render(request, "workspaces/invitation.html", context)
    if not request.user.is_authenticated:
        request.session[INVITATION_KEY] = token
        return redirect("account_signup")
    if invitations.accept(token, request.user) is None:
        return render(request, "workspaces/invitation_gone.html", status=404)
    request.session.pop(INVITATION_KEY, None)
    return redirect("workspaces:home", workspace.slug)


@login_required
@require_http_methods(["GET", "POST"])
def you_show(request: HttpRequest) -> HttpResponse:
    """One's name, language and theme."""
    form = ProfileForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved."))
        return redirect("workspaces:you-show")
    status = 422 if form.errors else 200
    return render(request, "workspaces/you.html", {"form": form}, status=status)
