"""The roster: people and agents in one list, and acts on several agents at once."""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.core.paginator import Paginator
from django.db.models import Count, prefetch_related_objects
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

import live
from runs import topics
from runs.models import Run
from skills.models import Skill
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Membership, Role, Workspace

from .. import editing
from ..creating import create_draft
from ..models import Agent, AgentSkill
from .standing import with_states

ORDERS = ("attention", "name")
IN_THE_PANE = 200
ON_A_PAGE = 100
SKILLS_SHOWN = 2  # by name; the rest is a number
UNDO = "agents.lifecycle"
UNDO_SECONDS = 3600


@require_GET
@workspace_view()
def agent_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """People and agents in one list; agents by what needs attention first, or by name."""
    context = roster_context(request)
    if request.headers.get("HX-Request") and not _searches_the_table(request):
        return render(request, "agents/_roster.html", context)
    named = Paginator([*context["agents"], *context["archived"]], ON_A_PAGE)
    context["page"] = named.get_page(request.GET.get("page"))
    context |= _skills_of(list(context["page"].object_list))
    if request.headers.get("HX-Request"):
        return render(request, "agents/_found.html", context)
    context["undo"] = _undoable(request.GET.get("undo", ""))
    return render(request, "agents/list.html", context)


def _searches_the_table(request: MemberRequest) -> bool:
    """Somebody types into the search of the page that has the table, and not of an agent's page.
    News leave the table alone: what is ticked there stays ticked."""
    page = urlsplit(request.headers.get("HX-Current-URL", "")).path
    return request.headers.get("HX-Trigger-Name") == "q" and page == request.path


def roster_context(request: MemberRequest) -> dict[str, Any]:
    """What the list pane of the agents' pages is rendered from: a constant number of queries."""
    cursor = live.cursor(topics.roster(request.workspace.pk))
    wanted = request.GET.get("q", "").strip().lower()
    skill = request.GET.get("skill", "").strip().lower()
    order = request.GET.get("sort", "")
    order = order if order in ORDERS else "attention"
    narrow = Agent.objects.defer("persona", "system_prompt", "unknown_keys")
    if wanted:
        narrow = narrow.prefetch_related("skill_names")
    if skill:
        narrow = narrow.filter(skill_names__key=skill)
    agents = with_states(narrow.select_related("reports_to").order_by("name", "created_at"))
    if order == "attention":
        agents.sort(key=lambda agent: agent.live_order)  # which keeps the names in order
    people = list(
        Membership.objects.select_related("principal", "user")
        .filter(is_active=True)
        .order_by("principal__handle")
    )
    if skill:
        people = []
    if wanted:
        agents = [each for each in agents if wanted in _words_of(each)]
        people = [m for m in people if wanted in f"{m.principal.handle} {m.user}".lower()]
    active = [a for a in agents if a.lifecycle != Agent.Lifecycle.ARCHIVED]
    return {
        "agents": active,
        "shown": active[:IN_THE_PANE],
        "more": max(0, len(active) - IN_THE_PANE),
        "archived": [a for a in agents if a.lifecycle == Agent.Lifecycle.ARCHIVED],
        "people": people[:IN_THE_PANE],
        "wanted": wanted,
        "skill": skill,
        "find_query": _query(skill=skill, sort=order),
        "sort": order,
        "here": _query(q=wanted, skill=skill, sort=order),
        "here_unsorted": _query(q=wanted, skill=skill),
        "is_seeding": request.workspace.seeded_at is None,
        "may_manage": request.membership.may(Role.ADMIN),
        "topic": topics.roster(request.workspace.pk),
        "cursor": cursor,
    }


def _query(**given: str) -> str:
    return urlencode({name: value for name, value in given.items() if value})


def _skills_of(rows: list[Agent]) -> dict[str, Any]:
    """What the table says of skills, for these rows and to choose from, in three queries."""
    prefetch_related_objects(rows, "skill_names")
    keys = {name.key for row in rows for name in row.skill_names.all()}
    pages = dict(Skill.objects.filter(slug__in=keys).values_list("slug", "pk"))
    for row in rows:
        names = list(row.skill_names.all())
        shown = [
            {"word": each.display, "page": pages.get(each.key)} for each in names[:SKILLS_SHOWN]
        ]
        vars(row).update(
            skills_shown=shown, skills_more=[name.display for name in names[SKILLS_SHOWN:]]
        )
    held = AgentSkill.objects.values_list("key").annotate(n=Count("agent")).order_by("key")
    return {"held_skills": list(held)}


def _words_of(agent: Agent) -> str:
    skills = " ".join(name.key for name in agent.skill_names.all())
    return f"{agent.name} {agent.title} {skills}".lower()


@require_POST
@workspace_view(Role.ADMIN)
def agent_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A nameless draft that its page then fills in."""
    draft = create_draft(by=request.principal)
    return redirect("agents:agent-show", workspace.slug, draft.pk)


@require_POST
@workspace_view(Role.ADMIN)
def agent_bulk(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Pauses, archives or activates the chosen agents; the page then offers the way back."""
    lifecycle = request.POST.get("lifecycle", "")
    if lifecycle not in Agent.Lifecycle.values:
        return HttpResponseBadRequest(_("Nothing was changed: that is no lifecycle."))
    chosen = list(Agent.objects.filter(pk__in=_ids(request)))
    before = editing.set_lifecycle(chosen, lifecycle, by=request.principal)
    if not before:
        messages.info(request, _("Nothing changed: choose agents that are not so already."))
        return redirect("agents:agent-list", workspace.slug)
    busy = Run.objects.filter(agent__in=list(before), state__in=Run.OPEN)
    if lifecycle != Agent.Lifecycle.ACTIVE and (at_work := busy.values("agent").distinct().count()):
        messages.warning(
            request,
            ngettext(
                "%(n)s of them is at work: its runs go on until they end or are stopped.",
                "%(n)s of them are at work: their runs go on until they end or are stopped.",
                at_work,
            )
            % {"n": at_work},
        )
    query = urlencode({"undo": signing.dumps({"was": before, "is": lifecycle}, salt=UNDO)})
    return redirect(f"{reverse('agents:agent-list', args=[workspace.slug])}?{query}")


@require_POST
@workspace_view(Role.ADMIN)
def agent_bulk_undo(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Puts each agent of a bulk act back where it was, unless somebody has changed it since."""
    found = _undoable(request.POST.get("undo", ""))
    for lifecycle in set(found["was"].values()) if found else ():
        ids = [key for key, was in found["was"].items() if was == lifecycle]
        rows = Agent.objects.filter(pk__in=ids, lifecycle=found["is"])
        editing.set_lifecycle(rows, lifecycle, by=request.principal)
    return redirect("agents:agent-list", workspace.slug)


def _undoable(token: str) -> dict[str, Any]:
    try:
        found = signing.loads(token, salt=UNDO, max_age=UNDO_SECONDS)
    except signing.BadSignature:
        return {}
    word = Agent.Lifecycle(found["is"]).label
    return {**found, "token": token, "count": len(found["was"]), "word": word}


def _ids(request: MemberRequest) -> list[UUID]:
    found = []
    for text in request.POST.getlist("agent"):
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found
