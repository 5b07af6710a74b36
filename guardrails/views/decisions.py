"""The answer of a person: approve once, approve for eight hours, deny with a note."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from guardrails import approvals, cards, inbox
from guardrails.approvals import AlreadyDecided, Answer, MayNotDecide
from guardrails.models import Approval
from guardrails.views.inbox import card_context, detail_context
from runs import hearing
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

MOST_NOTE = 4000


@require_POST
@workspace_view(Role.MEMBER)
def approval_decide(request: MemberRequest, workspace: Workspace, approval: UUID) -> HttpResponse:
    """The first answer stands and its run hears of it; whoever comes second is told who was
    first (409). An answer for something that is not what was shown is refused."""
    row = get_or_404(inbox.visible_approvals(request.membership), approval)
    answer = request.POST.get("decision", "")
    if answer not in set(Answer):
        return _show(request, row, _("Choose an answer."), status=422)
    if request.POST.get("digest") != row.digest:
        return _show(request, row, _("This is not what you were shown. Look again."), status=409)
    try:
        closed = approvals.decide(
            row,
            by=request.principal,
            answer=Answer(answer),
            note=request.POST.get("note", "")[:MOST_NOTE],
        )
    except AlreadyDecided as known:
        return _show(request, known.approval, cards.said(known.approval), status=409)
    except MayNotDecide as refusal:
        return _show(request, row, str(refusal), status=422)
    hearing.hear(closed)
    return _show(request, closed, "", status=200)


def _show(request: MemberRequest, row: Approval, said: str, *, status: int) -> HttpResponse:
    """The question as it is now, where it was answered from: the inbox, a conversation, a page
    without script."""
    if not request.headers.get("HX-Request"):
        if said:
            messages.warning(request, said)
        return redirect("guardrails:inbox-show", request.workspace.slug, row.pk)
    fresh = inbox.visible_approvals(request.membership).get(pk=row.pk)
    if request.headers.get("HX-Target") == "approval-detail":
        context = detail_context(request, fresh) | {"fragment": "guardrails/_detail.html"}
    else:
        context = card_context(request, fresh) | {"fragment": "guardrails/_approval_card.html"}
    context |= {"said": said, "said_tone": "blocked"}
    response = render(request, "guardrails/_decided.html", context, status=status)
    response["HX-Trigger-After-Swap"] = "live-inbox, approval-changed"
    return response
