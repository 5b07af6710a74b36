"""The definition library: what agent files there are, what counts, and bringing one in or out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from repositories.models import Repository
from spaces.visibility import visible_conversations
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from .. import editing, mirror
from ..creating import Profile, create
from ..forms import efforts_of, models_of
from ..library import adopting, exporting, reading, scopes, surface, toolnames
from ..library.definition import AgentDefinition, Dialect
from ..library.loading import Loader
from ..library.places import Surroundings, places
from ..models import Agent
from ..paths import conversation_directory, segment
from .agent import find, page
from .roster import roster_context

LOADER = Loader(remembers=20_000)
MOST_BYTES = 2 * 1024 * 1024
RECENT_CONVERSATIONS = 50
DIALECTS = [dialect for dialect in Dialect if dialect is not Dialect.NONE]
SCOPES = {
    0: _("organisation"),
    1: _("conversation"),
    2: _("repository"),
    3: _("extra folder"),
    4: _("member"),
    5: _("package"),
    6: _("built-in"),
}


@dataclass(frozen=True, slots=True)
class Source:
    """A place whose definitions make one library. `checkout` is None for the workspace itself."""

    key: str
    word: str
    checkout: Path | None


@require_GET
@workspace_view()
def library_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The definitions of one source by scope, each effective or not, with the reason."""
    sources = _sources(request, workspace)
    chosen = next((each for each in sources if each.key == request.GET.get("from")), sources[0])
    where = Surroundings(cwd=chosen.checkout, ceiling=chosen.checkout)
    library = scopes.resolve(LOADER.load(places(where)))
    dialect, wanted = request.GET.get("dialect", ""), request.GET.get("q", "").strip().lower()
    entries = [
        _line(number, entry)
        for number, entry in enumerate(library.entries)
        if (not dialect or entry.definition.dialect == dialect)
        and wanted in f"{entry.name} {entry.definition.description}".lower()
    ]
    shown = next((each for each in entries if str(each["n"]) == request.GET.get("show")), None)
    context = {
        "sources": sources,
        "source": chosen,
        "entries": entries,
        "dialects": DIALECTS,
        "dialect": dialect,
        "wanted": wanted,
        "said": library.warnings,
        "shown": shown | _detail(shown["entry"]) if shown else None,
        "may_manage": request.membership.may(Role.ADMIN),
    }
    return render(request, "agents/library.html", context)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.ADMIN)
def library_import(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A file by upload or paste: first what it would become. Nothing is created here."""
    context: dict[str, Any] = roster_context(request) | {"dialects": DIALECTS}
    if request.method == "POST":
        text, path, problem = _sent(request)
        context |= {"text": text, "path": path, "problem": problem}
        if not problem:
            context["preview"] = _preview(text, path, request.POST.get("dialect", ""))
    return render(request, "agents/import.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def library_adopt(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The previewed file becomes an agent of the workspace. It is paused until somebody says go."""
    text, path, problem = _sent(request)
    preview = _preview(text, path, request.POST.get("dialect", ""))
    name = request.POST.get("name", "").strip() or preview["adopted"].name
    if not problem and not preview["definition"].is_usable:
        problem = gettext("This file holds no usable definition.")
    if not problem and Agent.objects.filter(name__iexact=name).exists():
        problem = gettext("There is an agent @%(name)s already; choose another name.") % {
            "name": name
        }
    if not problem:
        try:
            agent, _is_new = create(_profile(name, preview), by=request.principal)
        except ValidationError as error:
            problem = " ".join(error.messages)
        else:
            editing.set_lifecycle([agent], Agent.Lifecycle.PAUSED, by=request.principal)
            messages.success(
                request,
                gettext("@%(name)s is here, paused. Look it through, then set it active.")
                % {"name": agent.name},
            )
            return redirect("agents:agent-show", workspace.slug, agent.pk)
    context = roster_context(request) | {"dialects": DIALECTS, "text": text, "path": path}
    context |= {"preview": preview, "problem": problem, "name": name}
    return render(request, "agents/import.html", context, status=409)


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


def _sources(request: MemberRequest, workspace: Workspace) -> list[Source]:
    """The built-in definitions, and each repository by its newest checkout that can be seen."""
    found: dict[str, Source] = {}
    recent = visible_conversations(request.membership).order_by("-last_message_at")
    names = list(Repository.objects.values_list("name", flat=True))
    for conversation in recent[:RECENT_CONVERSATIONS]:
        home = conversation_directory(workspace.pk, conversation.space_id, conversation.pk)
        for name in names:
            place = home / "repos" / segment(name)
            if name not in found and place.is_dir():
                found[name] = Source(name, name, place)
    return [*found.values(), Source("", gettext("Built in"), None)]


def _line(number: int, entry: scopes.Entry) -> dict[str, Any]:
    return {
        "n": number,
        "entry": entry,
        "definition": entry.definition,
        "scope": SCOPES[int(entry.found.place.scope)],
        "warnings": len(entry.definition.loud_warnings),
    }


def _detail(entry: scopes.Entry) -> dict[str, Any]:
    seen = surface.resolve(entry.definition, sorted(toolnames.CANONICAL), as_main=False)
    return {
        "verdicts": seen.verdicts,
        "allowed": sum(verdict.allowed for verdict in seen.verdicts),
        "warnings": [*entry.definition.warnings, *seen.warnings],
    }


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


def _profile(name: str, preview: dict[str, Any]) -> Profile:
    adopted: adopting.Adopted = preview["adopted"]
    return Profile(
        name=name,
        title=adopted.title,
        persona=adopted.persona,
        skills=adopted.skills,
        model_id=preview["model_id"],
        effort=preview["effort"],
        unknown_keys=dict(adopted.extra),
    )
