"""Which agents hold a skill."""

from collections.abc import Sequence

from .models import Agent


def names_of(slug: str) -> Sequence[str]:
    """The agents of the bound workspace that hold the skill, by name; drafts by their title."""
    held = Agent.objects.filter(skill_names__key=slug).distinct().order_by("name", "created_at")
    return [str(agent) for agent in held]
