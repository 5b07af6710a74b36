"""The inbox: what waits, one question whole, what was answered."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

import live
from guardrails import approvals, cards, inbox, topics
from guardrails.asking import Kind
from guardrails.decisions import Provenance
from guardrails.models import Approval, Rule
from repositories import showing
from repositories.models import PushRequest
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Membership, Role, Workspace

RECENT = 12
PAGE = 50


@require_GET
@workspace_view(Role.VIEWER)
def inbox_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The list, and beside it the newest question that waits."""
    first = list(_chosen(request, inbox.waiting(request.membership))[:1])
    context = list_context(request, current=first[0] if first else None)
    if first:
        context |= detail_context(request, first[0])
    context["rules_url"] = reverse("guardrails:rule-list", args=[workspace.slug])
    return render(request, "guardrails/inbox.html", context)


@require_GET
@workspace_view(Role.VIEWER)
def inbox_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The list alone, for an open page whose inbox has changed."""
    current = _row(request, request.GET.get("current", ""))
    return render(request, "guardrails/_inbox_list.html", list_context(request, current=current))


@require_GET
@workspace_view(Role.VIEWER)
def inbox_count(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The number in the rail, for this member."""
    context = {
        "after": live.cursor(topics.inbox(workspace.pk)),
        "count": inbox.waiting_count(request.membership),
        "suffix": "-bar" if request.GET.get("suffix") == "-bar" else "",
    }
    return render(request, "guardrails/_inbox_count.html", context)


@require_GET
@workspace_view(Role.VIEWER)
def approval_show(request: MemberRequest, workspace: Workspace, approval: UUID) -> HttpResponse:
    """The list with this question beside it."""
    row = get_or_404(inbox.visible_approvals(request.membership), approval)
    context = list_context(request, current=row) | detail_context(request, row)
    return render(request, "guardrails/inbox.html", context | {"is_chosen": True})


@require_GET
@workspace_view(Role.VIEWER)
def approval_detail(request: MemberRequest, workspace: Workspace, approval: UUID) -> HttpResponse:
    """The question alone; 204 where the page shows it as it is already."""
    row = get_or_404(inbox.visible_approvals(request.membership), approval)
    if request.GET.get("shown") == cards.fingerprint(row):
        return HttpResponse(status=204)
    return render(request, "guardrails/_detail.html", detail_context(request, row))


@require_GET
@workspace_view(Role.GUEST)
def approval_card(request: MemberRequest, workspace: Workspace, approval: UUID) -> HttpResponse:
    """The question as it stands in a conversation; 204 where it is shown so already."""
    row = get_or_404(inbox.visible_approvals(request.membership), approval)
    if request.GET.get("shown") == cards.fingerprint(row):
        return HttpResponse(status=204)
    return render(request, "guardrails/_approval_card.html", card_context(request, row))


# ---------------------------------------------------------------- what the templates read


def card_context(request: MemberRequest, row: Approval) -> dict[str, Any]:
    """What the card in a conversation is drawn from."""
    return cards.context(row, slug=request.workspace.slug) | _push(row)


def detail_context(request: MemberRequest, row: Approval) -> dict[str, Any]:
    """What the question is drawn from, whole."""
    member, slug = request.membership, request.workspace.slug
    agents = _agents_of(row)
    context = card_context(request, row)
    push = context.get("push_request")
    return context | {
        "push_url": _address("repositories:push-show", slug, push.pk) if push else "",
        "detail_url": reverse("guardrails:approval-detail", args=[slug, row.pk]),
        "inbox_url": reverse("guardrails:inbox", args=[slug]),
        "cannot": approvals.why_not(row, member) if row.is_open else None,
        "limits": cards.limits_words(row),
        "standing": [_standing(rule, member, slug, agents) for rule in _rules_of(row)],
        "place": _place(request, row),
        "run_url": _address("runs:run-show", slug, row.run_id),
        "conversation_url": _conversation_url(slug, row),
    }


def list_context(request: MemberRequest, *, current: Approval | None) -> dict[str, Any]:
    """What the list pane is drawn from."""
    member, slug = request.membership, request.workspace.slug
    cursor = live.cursor(topics.inbox(request.workspace.pk))
    only_answered = request.GET.get("show") == "answered"
    waiting = list(inbox.waiting(member))
    held = list(inbox.held_skills(member))
    shown = [] if only_answered else list(_chosen(request, inbox.waiting(member)))
    page = Paginator(inbox.answered(member), PAGE).get_page(request.GET.get("page"))
    closed: list[Approval] | Page[Approval] = page
    if not only_answered:
        closed = list(inbox.answered(member)[: RECENT + 1])
    query = {key: request.GET[key] for key in ("kind", "show", "page") if key in request.GET}
    if current is not None:
        query["current"] = str(current.pk)
    return {
        # Who cannot decide does not hear of the inbox, so there is nothing to join.
        "cursor": cursor,
        "topic": topics.inbox(request.workspace.pk) if member.may(Role.MEMBER) else "",
        "rows": [_list_row(row, slug, current) for row in shown],
        "answered": [_list_row(row, slug, current) for row in closed[:RECENT]]
        if not only_answered
        else [_list_row(row, slug, current) for row in page],
        "page": page if only_answered else None,
        "has_more": not only_answered and len(closed) > RECENT,
        "answered_url": reverse("guardrails:inbox", args=[slug]) + "?show=answered",
        "waiting_count": len(waiting) + len(held),
        "held_skills": [] if only_answered or "kind" in query else held,
        "chips": _chips(request, waiting),
        "list_url": reverse("guardrails:inbox-list", args=[slug]) + "?" + urlencode(query),
    }


def _chosen(request: HttpRequest, rows: QuerySet[Approval]) -> QuerySet[Approval]:
    kind = request.GET.get("kind", "")
    return rows.filter(kind=kind) if kind in set(Kind) else rows


def _list_row(row: Approval, slug: str, current: Approval | None) -> dict[str, Any]:
    return {
        "card": cards.card(row, with_standing=False),
        "id": f"row-{row.pk}",
        "url": reverse("guardrails:inbox-show", args=[slug, row.pk]),
        "sub": " · ".join(str(part) for part in (row.asked_by, row.conversation) if part),
        "current": current is not None and row.pk == current.pk,
    }


def _chips(request: MemberRequest, waiting: list[Approval]) -> list[dict[str, Any]]:
    here = reverse("guardrails:inbox", args=[request.workspace.slug])
    chosen = request.GET.get("kind", "")
    words = {
        Kind.PUSH: _("Pushes"),
        Kind.COMMAND: _("Commands"),
        Kind.FILE: _("Files"),
        Kind.PULL_REQUEST: _("Pull requests"),
        Kind.TRACKER: _("Tracker"),
        Kind.TOOL: _("Tools"),
        Kind.PLAN: _("Plans"),
    }
    counted = Counter(row.kind for row in waiting)
    chips = [{"word": _("All"), "url": here, "count": len(waiting), "current": not chosen}]
    return chips + [
        {
            "word": word,
            "url": f"{here}?kind={kind.value}",
            "count": counted[kind],
            "current": chosen == kind,
        }
        for kind, word in words.items()
        if counted[kind] or chosen == kind
    ]


def _place(request: MemberRequest, row: Approval) -> dict[str, Any] | None:
    """Which of how many waiting ones this is, and its neighbours."""
    keys = list(inbox.waiting(request.membership).values_list("pk", flat=True))
    if row.pk not in keys:
        return None
    at, slug = keys.index(row.pk), request.workspace.slug
    urls = [reverse("guardrails:inbox-show", args=[slug, key]) for key in keys]
    return {
        "n": at + 1,
        "of": len(keys),
        "previous": urls[at - 1] if at > 0 else "",
        "next": urls[at + 1] if at + 1 < len(urls) else "",
    }


def _push(row: Approval) -> dict[str, Any]:
    """What the repositories room knows about a push that waits for this answer."""
    push = PushRequest.objects.filter(approval=row).order_by("created_at").first()
    if push is None:
        return {"push_parts": ""}
    parts = showing.parts(push)
    return {
        "push_request": push,
        "push_parts": "repositories/_push_request.html",
        "refs": parts["refs"],
        "commits": parts["commits"],
        "hidden_commits": parts["hidden_commits"],
        "diff": showing.diff_page(push, 1).text,
    }


def _rules_of(row: Approval) -> list[Rule]:
    if not row.hours:
        return []
    return list(Rule.objects.filter(approval_id=row.pk, provenance=Provenance.REMEMBERED))


def _standing(rule: Rule, member: Membership, slug: str, agents: dict[str, str]) -> dict[str, Any]:
    is_own = rule.created_by_id == member.principal_id
    return {
        "is_in_force": rule.is_in_force,
        "expires_at": rule.expires_at,
        "words": cards.constraint_words(rule.facts().constraint, agents=agents),
        "may_revoke": member.may(Role.ADMIN) or (is_own and member.may(Role.MEMBER)),
        "revoke_url": reverse("guardrails:rule-revoke", args=[slug, rule.pk]),
    }


def _agents_of(row: Approval) -> dict[str, str]:
    agent = getattr(row.asked_by, "agent", None) if row.asked_by else None
    return {str(agent.pk): agent.name} if agent else {}


def _row(request: MemberRequest, key: str) -> Approval | None:
    try:
        wanted = UUID(key)
    except ValueError:
        return None
    return inbox.visible_approvals(request.membership).filter(pk=wanted).first()


def _conversation_url(slug: str, row: Approval) -> str:
    if row.conversation_id is None or row.space is None:
        return ""
    return _address("spaces:conversation-show", slug, row.space.slug, row.conversation_id)


def _address(name: str, *args: object) -> str:
    if None in args:
        return ""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
