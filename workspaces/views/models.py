"""Setup and Settings → Models: the three ways to a model."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from agents.models import BUILT_IN
from runs.adapters import registry

from .. import connections
from ..access import MemberRequest, get_or_404, workspace_view
from ..forms import ConnectionForm
from ..models import ModelConnection, Role, Workspace


@require_GET
@workspace_view()
def setup_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    return _page(request, "workspaces/setup.html", ConnectionForm(user=request.membership.user))


@require_GET
@workspace_view()
def model_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    return _page(request, "workspaces/models.html", ConnectionForm(user=request.membership.user))


@require_POST
@workspace_view(Role.ADMIN)
def model_add(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    form = ConnectionForm(request.POST, user=request.membership.user)
    is_setup = request.POST.get("from") == "setup"
    if not form.is_valid():
        template = "workspaces/setup.html" if is_setup else "workspaces/models.html"
        return _page(request, template, form, status=422)
    data = form.cleaned_data
    if data["provider"] == ModelConnection.Provider.DEMO:
        connections.use_demo(by=request.principal)
    else:
        connections.add(
            data["provider"],
            by=request.principal,
            base_url=data["base_url"],
            key=data["key"].strip(),
            model=data["model"].strip(),
            is_house_address=request.membership.user.is_instance_admin,
        )
    return redirect(
        "workspaces:setup-show" if is_setup else "workspaces:model-list", workspace.slug
    )


@require_GET
@workspace_view()
def model_show(request: MemberRequest, workspace: Workspace, connection: UUID) -> HttpResponse:
    """The connection's row as a fragment; the page asks again while its test runs."""
    row = get_or_404(ModelConnection.objects.select_related("credential"), connection)
    context = {"connection": row, "may_manage": request.membership.may(Role.ADMIN)}
    return render(request, "workspaces/_connection.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def model_check(request: MemberRequest, workspace: Workspace, connection: UUID) -> HttpResponse:
    connections.check_soon(get_or_404(ModelConnection, connection))
    row = ModelConnection.objects.select_related("credential").get(pk=connection)
    return render(request, "workspaces/_connection.html", {"connection": row, "may_manage": True})


@require_POST
@workspace_view(Role.ADMIN)
def model_default(request: MemberRequest, workspace: Workspace, connection: UUID) -> HttpResponse:
    connections.make_default(get_or_404(ModelConnection, connection), by=request.principal)
    return redirect("workspaces:model-list", workspace.slug)


@require_POST
@workspace_view(Role.ADMIN)
def model_remove(request: MemberRequest, workspace: Workspace, connection: UUID) -> HttpResponse:
    row = ModelConnection.objects.select_related("credential").filter(pk=connection).first()
    if row is not None:
        connections.remove(row, by=request.principal)
        messages.success(
            request, _("%(name)s is disconnected; its key is gone.") % {"name": row.name}
        )
    return redirect("workspaces:model-list", workspace.slug)


def _page(
    request: MemberRequest, template: str, form: ConnectionForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "connections": ModelConnection.objects.select_related("credential"),
        "form": form,
        "may_manage": request.membership.may(Role.ADMIN),
        "tab": "models",
        "adapters": [
            ("" if key == BUILT_IN else key, adapter.title) for key, adapter in registry().items()
        ],
    }
    return render(request, template, context, status=status)
