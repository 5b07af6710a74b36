"""The definition library: what agent files there are, what counts, and why the rest does not."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from ..library import surface, toolnames
from ..library.unserved import unserved
from . import changes, shelf
from .shelf import DIALECTS, Line

ON_A_PAGE = 200


@require_GET
@workspace_view()
def library_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The definitions of one source by scope, each effective or not, with the reason."""
    case = shelf.bookcase(request)
    dialect, wanted = request.GET.get("dialect", ""), request.GET.get("q", "").strip().lower()
    lines = [line for line in case.lines if _matches(line, dialect, wanted)]
    shown = next((line for line in case.lines if line.key == request.GET.get("show")), None)
    page = Paginator(lines, ON_A_PAGE).get_page(request.GET.get("page"))
    chosen = {"from": case.source.key, "dialect": dialect, "q": wanted}
    context = {
        "sources": shelf.sources_of(request),
        "source": case.source,
        "count": len(lines),
        "entries": [{"entry": line.entry, "n": line.key} for line in lines],
        "page": page,
        "groups": shelf.group(page.object_list),
        "is_whole": page.paginator.num_pages == 1,
        "dialects": DIALECTS,
        "dialect": dialect,
        "wanted": wanted,
        "here": urlencode({key: value for key, value in chosen.items() if value}),
        "said": case.library.warnings,
        "shown": _detail(shown) if shown else None,
        "line": shown,
        "to_review": sum(line.needs_review for line in case.lines),
        "shelves": shelf.own_shelves(request),
        "undo": changes.undoable(request),
        "may_manage": request.membership.may(Role.ADMIN),
        "may_write": request.membership.may(Role.MEMBER),
    }
    return render(request, "agents/library.html", context)


def _matches(line: Line, dialect: str, wanted: str) -> bool:
    if dialect and line.definition.dialect != dialect:
        return False
    return wanted in f"{line.title} {line.definition.description}".lower()


def _detail(line: Line) -> dict[str, Any]:
    seen = surface.resolve(line.definition, sorted(toolnames.CANONICAL), as_main=False)
    return {
        "unserved": unserved(line.definition),
        "verdicts": seen.verdicts,
        "allowed": sum(verdict.allowed for verdict in seen.verdicts),
        "warnings": [*line.definition.warnings, *seen.warnings],
    }
