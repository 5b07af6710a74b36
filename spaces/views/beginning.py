"""Beginning a conversation: who leads it, by which definition."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from agents.library.choosing import ChoiceError
from agents.library.definition import Dialect
from agents.library.scopes import Entry
from agents.models import Agent
from runs import beginning
from runs.beginning import File, Wanted
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from ..models import Space
from ..visibility import visible_spaces
from .overview import rail_of_spaces

DIALECTS = [each for each in Dialect if each is not Dialect.NONE]


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def conversation_create(request: MemberRequest, workspace: Workspace, space: str) -> HttpResponse:
    """A POST without a choice begins an ordinary conversation; the page offers the choices."""
    row = get_object_or_404(visible_spaces(request.membership), slug=space)
    if request.method == "GET":
        return _page(request, row)
    try:
        conversation = beginning.begin(row, by=request.principal, wanted=_wanted(request))
    except ChoiceError as error:
        return _page(request, row, error=error, status=422)
    return redirect("spaces:conversation-show", workspace.slug, row.slug, conversation.pk)


def leads() -> Iterable[Agent]:
    """The agents that may lead a conversation, by name."""
    named = Agent.objects.exclude(name="").exclude(lifecycle=Agent.Lifecycle.ARCHIVED)
    return named.order_by("name")


def _wanted(request: MemberRequest) -> Wanted:
    """What was chosen. Raises ChoiceError for a lead that is not here."""
    name = request.POST.get("lead", "")
    lead = Agent.objects.filter(name=name).first() if name else None
    if name and lead is None:
        raise ChoiceError(_("This agent is not here any more."), available=tuple(map(str, leads())))
    return Wanted(
        lead=lead,
        agent=request.POST.get("agent", ""),
        file=_file(request),
        agents=request.POST.get("agents", ""),
        joins=request.POST.get("how") == "joins",
    )


def _file(request: MemberRequest) -> File | None:
    """The file that was uploaded, else the text that was pasted."""
    asked = request.POST.get("dialect", "")
    dialect = Dialect(asked) if asked in {each.value for each in DIALECTS} else None
    upload = request.FILES.get("file")
    if upload is not None:
        data = upload.read(beginning.MOST_CHARACTERS + 1)
        return File(str(upload.name), data.decode("utf-8", "replace"), dialect)
    text = request.POST.get("text", "")
    return File("pasted.md", text, dialect) if text.strip() else None


def _page(
    request: MemberRequest, space: Space, *, error: ChoiceError | None = None, status: int = 200
) -> HttpResponse:
    library = beginning.choices(space, by=request.principal)
    context: dict[str, Any] = {
        "space": space,
        "spaces": rail_of_spaces(request.membership),
        "leads": leads(),
        "definitions": _by_name(library.by_name.values()),
        "dialects": DIALECTS,
        "sent": request.POST,
        "error": error,
    }
    return render(request, "spaces/begin.html", context, status=status)


def _by_name(entries: Iterable[Entry]) -> list[Entry]:
    once = {entry.name: entry for entry in entries}
    return sorted(once.values(), key=lambda entry: (entry.found.place.scope, entry.name))
