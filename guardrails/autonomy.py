"""How freely an agent acts in a space, and who may turn that dial."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.models import Agent
from guardrails.decisions import AutonomyLevel
from guardrails.models import Autonomy
from outside.sentences import phrase
from spaces.models import Space
from workspaces import audit
from workspaces.models import Membership, Role


class MayNotSetAutonomy(PermissionDenied):
    """The member's role does not reach to that level."""


def level_for(agent_id: UUID | str | None, space_id: UUID | str | None) -> AutonomyLevel:
    """The level of one agent in one space: with approval unless somebody chose otherwise."""
    if agent_id is None or space_id is None:
        return AutonomyLevel.ACT_WITH_APPROVAL
    found = (
        Autonomy.objects.filter(agent_id=agent_id, space_id=space_id)
        .values_list("level", flat=True)
        .first()
    )
    if found is None or found not in AutonomyLevel.values:
        return AutonomyLevel.ACT_WITH_APPROVAL
    return AutonomyLevel(found)


def set_level(agent: Agent, space: Space, level: AutonomyLevel, *, by: Membership) -> Autonomy:
    """The agent acts at this level from its next call on; twice the same changes nothing.

    A member holds an agent back or lets it ask; letting it act without asking needs an admin,
    as writing a rule would. Raises MayNotSetAutonomy.
    """
    needed = Role.ADMIN if level is AutonomyLevel.ACT_FREELY else Role.MEMBER
    if not by.may(needed):
        raise MayNotSetAutonomy(
            _("Only an admin can let an agent act without asking.")
            if needed is Role.ADMIN
            else _("Your role reads only.")
        )
    before = level_for(agent.id, space.id)
    row: Autonomy
    row, _created = Autonomy.objects.update_or_create(
        agent=agent,
        space=space,
        defaults={"level": level, "set_by": by.principal, "set_at": timezone.now()},
    )
    if before is not level:
        audit.record(
            "autonomy.set",
            actor=by.principal,
            subject=phrase("%(agent)s in %(space)s") % {"agent": str(agent), "space": str(space)},
            detail={"from": before.value, "to": level.value},
        )
    return row
