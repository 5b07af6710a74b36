"""A single agent file by upload or paste, adopting it into the roster, and exporting an agent."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from workspaces.access import MemberRequest, require, workspace_view
from workspaces.models import Role, Workspace

from .. import importing, mirror
from ..forms import efforts_of, models_of
from ..library import adopting, exporting, reading
from ..library.definition import AgentDefinition, Dialect
from ..models import Agent
from .agent import find, page
from .imports import form_context
from .roster import roster_context
from .shelf import DIALECTS

MOST_BYTES = 2 * 1024 * 1024


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def library_import(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Where to import from. A single file's text that is posted is shown as the agent that an
    admin could make of it; nothing is created here."""
    if request.method != "POST":
        return render(request, "agents/import.html", form_context(request))
    require(request.membership, Role.ADMIN)
    text, path, problem = _sent(request)
    context = roster_context(request) | {"dialects": DIALECTS, "text": text, "path": path}
    if problem:
        return render(
            request, "agents/import.html", context | form_context(request) | {"problem": problem}
        )
    context["preview"] = _preview(text, path, request.POST.get("dialect", ""))
    return render(request, "agents/adopt.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def library_adopt(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The previewed file becomes an agent of the workspace. It is paused until somebody says go."""
    text, path, problem = _sent(request)
    preview = _preview(text, path, request.POST.get("dialect", ""))
    name = request.POST.get("name", "").strip() or preview["adopted"].name
    if not problem:
        try:
            agent = importing.adopt(
                preview["definition"],
                by=request.principal,
                name=name,
                model_id=preview["model_id"],
                effort=preview["effort"],
            )
        except ValidationError as error:
            problem = " ".join(error.messages)
        else:
            messages.success(
                request,
                gettext("@%(name)s is here, paused. Look it through, then set it active.")
                % {"name": agent.name},
            )
            return redirect("agents:agent-show", workspace.slug, agent.pk)
    context = roster_context(request) | {"text": text, "path": path}
    context |= {"preview": preview, "problem": problem, "name": name}
    return render(request, "agents/adopt.html", context, status=409)


@require_GET
@workspace_view()
def agent_export(
    request: MemberRequest, workspace: Workspace, agent: UUID, dialect: str
) -> HttpResponse:
    """The agent as a file of the dialect; `losses` in the page say what it cannot hold."""
    row = find(agent)
    if row.is_draft or dialect not in {each.value for each in DIALECTS}:
        raise Http404
    made = exporting.export(definition_of(row), Dialect(dialect))
    if "show" in request.GET:
        context = page(request, row, "files") | {"made": made, "dialect": dialect}
        return render(request, "agents/export.html", context | {"dialects": DIALECTS})
    answer = HttpResponse(made.text, content_type="text/markdown; charset=utf-8")
    name = made.file_name.rpartition("/")[2]
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def definition_of(agent: Agent) -> AgentDefinition:
    """The agent's own file, read as any other."""
    return reading.read_text(
        mirror.definition(agent), path=f"agents/{agent.name}/AGENTS.md", dialect=Dialect.CC
    )


def _sent(request: MemberRequest) -> tuple[str, str, str]:
    """Text and name of what was uploaded or pasted, and what is wrong with it."""
    upload = request.FILES.get("file")
    if upload is not None:
        if (upload.size or 0) > MOST_BYTES:
            return "", "", gettext("The file is larger than 2 MB.")
        return upload.read().decode("utf-8", "replace"), str(upload.name), ""
    text = request.POST.get("text", "")
    if not text.strip():
        return "", "", gettext("Choose a file or paste its text.")
    if len(text) > MOST_BYTES:
        return "", "", gettext("The text is longer than 2 MB.")
    return text, request.POST.get("path", "").strip() or "pasted.md", ""


def _preview(text: str, path: str, dialect: str) -> dict[str, Any]:
    """What the file would become, and what of it would not act."""
    chosen = Dialect(dialect) if dialect in {each.value for each in DIALECTS} else None
    definition = reading.read_text(text, path=path, dialect=chosen)
    adopted = adopting.adopt(definition)
    known = {key for key, _word in models_of(None)}
    has_model = adopted.model_id in known
    efforts = {key for key, _word in efforts_of(None, adopted.model_id)} if has_model else set()
    return {
        "definition": definition,
        "adopted": adopted,
        "model_id": adopted.model_id if has_model else None,
        "lost_model": adopted.model_id if adopted.model_id and not has_model else "",
        "effort": adopted.effort if adopted.effort in efforts else None,
        "lost_effort": adopted.effort if adopted.effort and adopted.effort not in efforts else "",
        "extra": sorted(adopted.extra),
    }
