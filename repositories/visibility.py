"""Which push requests a member may see: a push follows its space."""

from django.db.models import Q, QuerySet

from spaces.visibility import visible_spaces
from workspaces.models import Membership, Role

from .models import PushRequest


def visible_pushes(membership: Membership) -> QuerySet[PushRequest]:
    """Pushes of the spaces that the member may see; those of a deleted space are the admins'."""
    seen = Q(space__in=visible_spaces(membership))
    if membership.may(Role.ADMIN):
        seen |= Q(space__isnull=True)
    rows: QuerySet[PushRequest] = PushRequest.objects.filter(seen)
    return rows.select_related("repository", "agent", "space", "conversation", "approval")
