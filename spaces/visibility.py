"""Which spaces a member may see. A run, a file, a diff follows its space."""

from django.db.models import Q, QuerySet

from workspaces.models import Membership, Role

from .models import Conversation, Space


def visible_spaces(membership: Membership) -> QuerySet[Space]:
    """Spaces open to the workspace, and the private ones the member takes part in.

    A guest sees only spaces that he or she was invited to; nobody sees a private one unasked.
    """
    takes_part = Q(participants__principal=membership.principal_id)
    if membership.may(Role.VIEWER):
        open_to_all = Q(visibility=Space.Visibility.WORKSPACE)
        return Space.objects.filter(open_to_all | takes_part).distinct()
    return Space.objects.filter(takes_part).distinct()


def visible_conversations(membership: Membership) -> QuerySet[Conversation]:
    """The conversations of the spaces that the member may see."""
    return Conversation.objects.filter(space__in=visible_spaces(membership))
