"""Settings → Members: who is here, inviting, roles, leaving."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from .. import audit, invitations, members
from ..access import MemberRequest, get_or_404, workspace_view
from ..forms import InvitationForm
from ..models import Invitation, Membership, Role, Workspace


@require_GET
@workspace_view()
def member_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    return _page(request, InvitationForm())


@require_POST
@workspace_view(Role.ADMIN)
def invitation_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    data = form.cleaned_data
    try:
        _invitation, token = invitations.invite(
            email=data["email"], role=data["role"], by=request.principal
        )
    except invitations.AlreadyHere as here:
        form.add_error("email", str(here))
        return _page(request, form, status=422)
    link = request.build_absolute_uri(reverse("workspaces:invitation-show", args=[token]))
    return _page(request, InvitationForm(), link=link, invited=data["email"])


@require_POST
@workspace_view(Role.ADMIN)
def invitation_revoke(
    request: MemberRequest, workspace: Workspace, invitation: UUID
) -> HttpResponse:
    row = get_or_404(Invitation, invitation)
    open_ones = Invitation.objects.filter(pk=row.pk, accepted_at=None, revoked_at=None)
    if row.is_open and open_ones.update(revoked_at=timezone.now()):
        audit.record("member.uninvite", actor=request.principal, subject=row.email)
    return redirect("workspaces:member-list", workspace.slug)


@require_POST
@workspace_view(Role.ADMIN)
def member_role(request: MemberRequest, workspace: Workspace, member: UUID) -> HttpResponse:
    membership = get_or_404(Membership.objects.select_related("user"), member)
    role = request.POST.get("role", "")
    if role not in Role.values:
        return HttpResponse(_("There is no such role."), status=422)
    members.change_role(membership, role, by=request.membership)
    messages.success(
        request,
        _("%(name)s is now %(role)s.")
        % {"name": membership.user, "role": Role(role).label.lower()},
    )
    return redirect("workspaces:member-list", workspace.slug)


@require_POST
@workspace_view(Role.OWNER)
def member_transfer(request: MemberRequest, workspace: Workspace, member: UUID) -> HttpResponse:
    membership = get_or_404(Membership.objects.select_related("user"), member)
    members.transfer_ownership(membership, by=request.membership)
    messages.success(request, _("%(name)s owns the workspace now.") % {"name": membership.user})
    return redirect("workspaces:member-list", workspace.slug)


@require_POST
@workspace_view(Role.GUEST)
def member_remove(request: MemberRequest, workspace: Workspace, member: UUID) -> HttpResponse:
    membership = get_or_404(Membership.objects.select_related("user"), member)
    members.remove(membership, by=request.membership)
    if membership.pk == request.membership.pk:
        return redirect("instance-home")
    messages.success(request, _("%(name)s was removed.") % {"name": membership.user})
    return redirect("workspaces:member-list", workspace.slug)


def _page(
    request: MemberRequest,
    form: InvitationForm,
    *,
    link: str = "",
    invited: str = "",
    status: int = 200,
) -> HttpResponse:
    everyone = Membership.objects.select_related("user", "principal").filter(is_active=True)
    return render(
        request,
        "workspaces/members.html",
        {
            "members": sorted(everyone, key=lambda each: (each.role != Role.OWNER, str(each.user))),
            "invitations": [
                each for each in Invitation.objects.order_by("-created_at") if each.is_open
            ],
            "form": form,
            "link": link,
            "invited": invited,
            "roles": [choice for choice in Role.choices if choice[0] != Role.OWNER],
            "may_manage": request.membership.may(Role.ADMIN),
            "tab": "members",
        },
        status=status,
    )
