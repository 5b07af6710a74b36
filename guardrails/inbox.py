"""What needs a member: the open approvals that he or she may see."""

from django.db.models import Q, QuerySet

from guardrails.models import Approval
from skills.models import SkillRequest
from spaces.visibility import visible_spaces
from workspaces.models import Membership, Role


def visible_approvals(member: Membership) -> QuerySet[Approval]:
    """Approvals of the spaces that the member may see, newest first."""
    in_sight = Q(space__in=visible_spaces(member))
    if member.may(Role.VIEWER):
        in_sight |= Q(space__isnull=True)
    return Approval.objects.filter(in_sight).select_related(
        "asked_by", "on_behalf_of", "decided_by", "space", "conversation"
    )


def waiting(member: Membership) -> QuerySet[Approval]:
    """The open ones, the newest first."""
    return visible_approvals(member).filter(state=Approval.State.PENDING).order_by("-created_at")


def answered(member: Membership) -> QuerySet[Approval]:
    """The closed ones, the last answered first."""
    return visible_approvals(member).exclude(state=Approval.State.PENDING).order_by("-decided_at")


def held_skills(member: Membership) -> QuerySet[SkillRequest]:
    """The skills that wait for this member's yes or no, the newest first; only admins decide."""
    held = SkillRequest.objects.waiting().select_related("requested_by").order_by("-created_at")
    return held if member.may(Role.ADMIN) else held.none()


def waiting_count(member: Membership) -> int:
    """The number in the rail: what this member could answer."""
    if not member.may(Role.MEMBER):
        return 0
    return waiting(member).count() + held_skills(member).count()
