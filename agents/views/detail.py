"""The other tabs of an agent's page: runs, files, prompt."""

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from repositories.models import Repository
from spaces.models import Space
from spaces.visibility import visible_spaces
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Workspace

from .. import mirror
from .agent import find, page
from .preview import preview


@require_GET
@workspace_view()
def agent_runs(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    row = find(agent)
    spaces = visible_spaces(request.membership)
    runs = row.runs.filter(space__in=spaces, parent=None).select_related(
        "space", "conversation", "requested_by", "agent__principal"
    )
    shown = Paginator(runs, 50).get_page(request.GET.get("page"))
    table = {"page": shown, "rows": list(shown), "table_url": request.path}
    if request.headers.get("HX-Request"):
        return render(request, "runs/_table.html", table)
    return render(request, "agents/runs.html", page(request, row, "runs") | table)


@require_GET
@workspace_view()
def agent_files(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The agent's directory as the row says it is, and what differs on disk."""
    row = find(agent)
    context = page(request, row, "files")
    if not row.is_draft:
        context |= {
            "definition": mirror.definition(row),
            "on_disk": mirror.hand_edit(row),
            "drift": mirror.drift(row),
            "without_link": mirror.without_link(row),
        }
    return render(request, "agents/files.html", context)


@require_GET
@workspace_view()
def agent_prompt(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The prompt that a run of the agent would begin with, section by section."""
    row, mode = find(agent), request.GET.get("mode", "")
    mode = mode if mode in Space.Mode.values else Space.Mode.CHAT
    repositories = Repository.objects.exclude(state=Repository.State.REMOVING).order_by("name")
    chosen = repositories.filter(name=request.GET.get("repository", "")).first()
    context = page(request, row, "prompt") | {
        "modes": Space.Mode.choices,
        "mode": mode,
        "repositories": repositories,
        "chosen": chosen,
    }
    if not row.is_draft:
        context["preview"] = preview(row, mode=mode, workspace=workspace, repository=chosen)
    return render(request, "agents/prompt.html", context)
