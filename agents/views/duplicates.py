"""Definitions that are one and the same, or nearly, with what can be done about it."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from ..library import duplicates
from ..library.duplicates import Pair
from . import shelf
from .shelf import Line
from .writing import unified

ON_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class Twin:
    """A pair as its row shows it."""

    pair: Pair
    lines: tuple[Line, Line]

    @property
    def number(self) -> str:
        return f"{self.lines[0].key}.{self.lines[1].key}"

    @property
    def whole_percent(self) -> int:
        """Cut off, so that only what is the same is called so."""
        return int(self.pair.percent)


@require_GET
@workspace_view()
def library_duplicates(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Pairs of one name or nearly one body: why, and by how much."""
    case = shelf.bookcase(request)
    by_found = {id(line.entry): line for line in case.lines}
    twins = [
        Twin(pair, (by_found[id(pair.first)], by_found[id(pair.second)]))
        for pair in duplicates.find(case.library.entries)
    ]
    page = Paginator(twins, ON_A_PAGE).get_page(request.GET.get("page"))
    shown = next((twin for twin in twins if twin.number == request.GET.get("pair")), None)
    context: dict[str, Any] = {
        "sources": shelf.sources_of(request),
        "source": case.source,
        "page": page,
        "here": urlencode({"from": case.source.key}),
        "shown": shown,
        "diff": unified(shown.pair.first.definition.raw, shown.pair.second.definition.raw)
        if shown
        else "",
        "may_write": request.membership.may(Role.MEMBER),
    }
    return render(request, "agents/duplicates.html", context)
