"""The org chart: everybody by whom they report to, and moving somebody below another."""

import hashlib
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core import signing
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

import live
from controlcenter.templatetags.chart_layout import layout
from controlcenter.templatetags.orgchart import looks
from runs import topics
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Membership, Principal, Role, Workspace

from .. import chart, chart_svg, reporting
from ..models import Agent
from .standing import with_states

UNDO = "agents.move"
UNDO_SECONDS = 3600
OUTLINE_APART = 60  # from so many on, a phone fetches the outline by itself
Closed = frozenset[UUID]
Roots = list[dict[str, Any]]


@require_GET
@workspace_view()
def orgchart_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The whole page, its drawing alone for htmx, its outline alone, or, for a page that has the
    same boxes already, only how each of them stands."""
    cursor = live.cursor(topics.roster(workspace.pk))
    roots = _roots(workspace, _closed(request))
    if "outline" not in request.GET and request.GET.get("shape") == _shape(roots):
        return _stands(roots)
    context = _context(request, workspace, roots) | {"cursor": cursor}
    if "outline" in request.GET:
        return render(request, "ui/outline.html", {"nodes": context["roots"]})
    template = "agents/_chart.html" if request.headers.get("HX-Request") else "agents/chart.html"
    return render(request, template, context)


def _stands(roots: Roots) -> HttpResponse:
    states: dict[str, list[str]] = {}
    for card in _cards(roots):
        states.setdefault(card["state"], []).append(str(card["id"]))
    answer = JsonResponse({"states": states, "looks": looks(states)})
    answer["HX-Reswap"] = "none"
    return answer


def _shape(roots: Roots) -> str:
    """Whatever of a drawing is not a state, as a short text that changes with it."""
    said = hashlib.sha256(get_language().encode())
    for card in _cards(roots):
        below = [child["id"] for child in card["children"]]
        words = (card[key] for key in ("id", "name", "kind", "title", "url", "fold", "is_closed"))
        said.update(repr((*words, below)).encode())
    return said.hexdigest()[:20]


def _cards(roots: Roots) -> Iterator[dict[str, Any]]:
    waiting = list(roots)
    while waiting:
        card = waiting.pop()
        yield card
        waiting += card["children"]


@require_GET
@workspace_view()
def orgchart_svg(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The drawing as a file that stands alone."""
    drawn = layout(_roots(workspace, frozenset()))
    answer = HttpResponse(chart_svg.render(drawn), content_type="image/svg+xml")
    answer["Content-Disposition"] = f'attachment; filename="org-chart-{workspace.slug}.svg"'
    return answer


@require_POST
@workspace_view(Role.ADMIN)
def orgchart_move(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Somebody reports to somebody else, or to nobody; the drawing then offers the way back."""
    who = _principal(request.POST.get("who", ""))
    if who is None:
        raise Http404
    under = _principal(request.POST.get("under", ""))
    if request.POST.get("under") and under is None:
        raise Http404
    try:
        before = reporting.move(who, under=under, by=request.principal)
    except ValidationError as error:
        problem = " ".join(error.messages)
        context = _context(request, workspace) | {"problem": problem}
        return render(request, "agents/_chart.html", context, status=409)
    keys = [str(each.pk) if each else "" for each in (who, before, under)]
    undo = signing.dumps(keys, salt=UNDO)
    moved = {"who": who, "under": under, "undo": undo}
    return render(request, "agents/_chart.html", _context(request, workspace) | {"moved": moved})


@require_POST
@workspace_view(Role.ADMIN)
def orgchart_undo(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A move taken back, unless somebody has moved the same one since. Twice is once."""
    problem = ""
    try:
        token = signing.loads(request.POST.get("undo", ""), salt=UNDO, max_age=UNDO_SECONDS)
        who, above, was_under = (_principal(key) for key in token)
        if who is not None:
            problem = _take_back(who, above, was_under, by=request.principal)
    except signing.BadSignature:
        problem = _("That was too long ago to be taken back.")
    except ValidationError as error:
        problem = " ".join(error.messages)
    context = _context(request, workspace) | {"problem": problem}
    return render(request, "agents/_chart.html", context, status=409 if problem else 200)


def _take_back(
    who: Principal, above: Principal | None, was_under: Principal | None, *, by: Principal
) -> str:
    """Why it cannot be taken back; empty when it was."""
    now = reporting.superior_of(who)
    if now != (was_under.pk if was_under else None):
        is_back = now == (above.pk if above else None)
        return "" if is_back else _("Somebody moved %(who)s since.") % {"who": who}
    reporting.move(who, under=above, by=by)
    return ""


def _principal(text: str) -> Principal | None:
    try:
        return Principal.objects.filter(pk=UUID(text), removed_at=None).first()
    except ValueError:
        return None


def _context(
    request: MemberRequest, workspace: Workspace, roots: Roots | None = None
) -> dict[str, Any]:
    closed = _closed(request)
    if roots is None:
        roots = _roots(workspace, closed)
    people = list(Principal.objects.filter(removed_at=None).order_by("handle"))
    address = reverse("agents:orgchart-show", args=[workspace.slug])
    query = urlencode({"closed": ",".join(map(str, sorted(closed)))}) if closed else ""
    return {
        "roots": roots,
        "shape": _shape(roots),
        "people": people,
        "count": len(people),
        "closed": ",".join(map(str, sorted(closed))),
        "chart_url": f"{address}?{query}" if query else address,
        "outline_url": f"{address}?outline=1" if len(people) > OUTLINE_APART else "",
        "topic": topics.roster(workspace.pk),
        "is_seeding": workspace.seeded_at is None,
        "may_manage": request.membership.may(Role.ADMIN),
    }


def _closed(request: MemberRequest) -> Closed:
    found = set()
    for text in (request.GET.get("closed") or request.POST.get("closed") or "").split(","):
        try:
            found.add(UUID(text))
        except ValueError:
            continue
    return frozenset(found)


def _roots(workspace: Workspace, closed: Closed) -> Roots:
    named = Agent.objects.exclude(name="").exclude(lifecycle=Agent.Lifecycle.ARCHIVED)
    agents = with_states(named.defer("persona", "system_prompt", "unknown_keys").order_by("name"))
    members = Membership.objects.select_related("principal", "user").filter(is_active=True)
    people = [
        *(chart.Person(row.principal_id, row.reports_to_id, row) for row in members),
        *(
            chart.Person(row.principal_id, row.reports_to_id, row)
            for row in agents
            if row.principal_id is not None
        ),
    ]
    # One address is reversed, not a thousand.
    agent_url = reverse("agents:agent-show", args=[workspace.slug, UUID(int=0)])
    member_url = reverse("workspaces:member-list", args=[workspace.slug])

    def card(person: chart.Person) -> dict[str, Any]:
        row = person.row
        if isinstance(row, Agent):
            url = agent_url.replace(str(UUID(int=0)), str(row.pk))
            what = {"name": row.name, "kind": "agent", "title": row.title, "url": url}
            return what | {"id": person.id, "state": str(vars(row)["shown_state"])}
        title = row.title or row.get_role_display()
        what = {"name": str(row.user), "kind": "member", "title": title, "url": member_url}
        return what | {"id": person.id, "state": "active"}

    return chart.folded(chart.drawn(chart.tree(people), card), closed)
