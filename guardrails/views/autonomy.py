"""The autonomy dial of an agent in a space."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.models import Agent
from guardrails import approvals, autonomy
from guardrails.autonomy import MayNotSetAutonomy
from guardrails.decisions import AutonomyLevel
from runs import hearing
from spaces.visibility import visible_spaces
from workspaces import saying
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace


@require_POST
@workspace_view(Role.MEMBER)
def autonomy_set(
    request: MemberRequest, workspace: Workspace, space: UUID, agent: UUID
) -> HttpResponse:
    """The agent acts at this level from its next call on; what it may not do any more and was
    waiting for is denied. Twice the same changes nothing."""
    room = get_or_404(visible_spaces(request.membership), space)
    who = get_or_404(Agent, agent)
    wanted = request.POST.get("level", "")
    if wanted not in AutonomyLevel.values:
        return saying.refusal(_("No such level."), status=422)
    try:
        row = autonomy.set_level(who, room, AutonomyLevel(wanted), by=request.membership)
    except MayNotSetAutonomy as refusal:
        # The fragment comes back as well, so that the dial shows what still holds.
        level = autonomy.level_for(who.pk, room.pk)
        context = {"agent": who, "level": level, "space": room, "said": str(refusal)}
        return render(request, "guardrails/_autonomy.html", context, status=422)
    if row.level == AutonomyLevel.PROPOSE_ONLY:
        for approval in approvals.deny_what_rules_deny(by=request.principal):
            hearing.hear(approval)
    context = {"agent": who, "level": row.level, "space": room}
    return render(request, "guardrails/_autonomy.html", context)
