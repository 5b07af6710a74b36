"""Opening a space and beginning conversations in it."""

from collections.abc import Iterable

from agents.models import Agent
from workspaces import audit
from workspaces.handles import slug
from workspaces.models import Principal
from workspaces.turns import take_turn

from .models import Conversation, Participant, Space


def create_space(
    name: str,
    *,
    by: Principal,
    topic: str = "",
    visibility: str = Space.Visibility.WORKSPACE,
    participants: Iterable[Principal] = (),
) -> Space:
    """A space whose founder takes part; its address is made from its name."""
    take_turn("spaces")
    space = Space.objects.create(
        name=name, slug=_free_slug(name), topic=topic, visibility=visibility, created_by=by
    )
    for principal in {by.pk: by, **{each.pk: each for each in participants}}.values():
        Participant.objects.create(space=space, principal=principal)
    audit.record("space.create", actor=by, subject=name)
    return space


def start_conversation(
    space: Space, *, by: Principal, title: str = "", lead: Agent | None = None
) -> Conversation:
    """A conversation without a title takes it from its first message.

    The lead hears what is said without a mention.
    """
    return Conversation.objects.create(space=space, created_by=by, title=title, agent=lead)


def _free_slug(name: str) -> str:
    base = slug(name, fallback="space", limit=56)
    taken = set(Space.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}-{number}", number + 1
    return candidate
