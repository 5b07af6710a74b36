"""Uninstalling a skill."""

from collections.abc import Sequence

from workspaces.models import Principal

from .models import Skill


def losers(skill: Skill) -> Sequence[str]:
    """The names of the agents that hold the skill and would lose it."""
    raise NotImplementedError


def uninstall(skill: Skill, *, by: Principal) -> Sequence[str]:
    """Directory, lock entry, links and row are gone together. Agents keep the name in their set, so
    that it is linked again when it comes back. Returns the names of those that lost it."""
    raise NotImplementedError
