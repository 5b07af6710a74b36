"""Settings → General and Audit of a workspace."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from .. import audit
from ..access import MemberRequest, require, workspace_view
from ..forms import GeneralForm
from ..models import AuditEntry, Role, Workspace


@require_http_methods(["GET", "POST"])
@workspace_view()
def settings_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The workspace's name. Its address stays as it is, since links and directories hold it."""
    form = GeneralForm(request.POST or None, instance=workspace)
    if request.method == "POST":
        require(request.membership, Role.ADMIN)
        if form.is_valid():
            form.save()
            audit.record("workspace.rename", actor=request.principal, subject=workspace.name)
            messages.success(request, _("Saved."))
            return redirect("workspaces:settings-show", workspace.slug)
    context = {"form": form, "tab": "general", "may_manage": request.membership.may(Role.ADMIN)}
    return render(request, "workspaces/general.html", context, status=422 if form.errors else 200)


@require_GET
@workspace_view(Role.ADMIN)
def audit_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Every allowed and denied act, newest first, and whether the chain over them holds."""
    entries = AuditEntry.objects.select_related("actor", "on_behalf_of")
    wanted = request.GET.get("action", "").strip()
    if wanted:
        entries = entries.filter(action__icontains=wanted)
    page = Paginator(entries, 50).get_page(request.GET.get("page"))
    bad, unsealed = audit.verify(workspace) if request.GET.get("verify") else (None, None)
    context = {
        "page": page,
        "wanted": wanted,
        "bad": bad,
        "unsealed": unsealed,
        "verified": unsealed is not None,
        "tab": "audit",
    }
    return render(request, "workspaces/audit.html", context)
