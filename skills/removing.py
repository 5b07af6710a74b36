"""Uninstalling a skill."""

from collections.abc import Iterable, Mapping, Sequence

from django.conf import settings
from django.utils.module_loading import import_string

from live.publish import publish
from workspaces import audit
from workspaces.models import Principal
from workspaces.tenancy import bind, writable_workspace

from . import install, requests, topics
from .models import Skill, SkillRequest


def losers(skill: Skill) -> Sequence[str]:
    """The names of the agents that hold the skill and would lose it."""
    names: Sequence[str] = import_string(settings.CC_SKILL_HOLDERS)(skill.slug)
    return names


def losses(skills: Iterable[Skill]) -> Mapping[str, Sequence[str]]:
    """Each agent that would lose something, with the names of the skills that it would lose."""
    lost: dict[str, list[str]] = {}
    for skill in skills:
        for agent in losers(skill):
            lost.setdefault(agent, []).append(skill.slug)
    return dict(sorted(lost.items()))


def uninstall_all(skills: Iterable[Skill], *, by: Principal) -> Mapping[str, Sequence[str]]:
    """All of them are gone, or none. Returns which agents lost which.

    Raises lockfile.LockUnreadable, and then nothing has changed.
    """
    with bind(writable_workspace()):
        install.turn()
        chosen = list(skills)
        lost = losses(chosen)
        for skill in chosen:
            uninstall(skill, by=by)
    return lost


def uninstall(skill: Skill, *, by: Principal) -> Sequence[str]:
    """Directory, lock entry, links and row are gone together. Agents keep the name in their set, so
    that it is linked again when it comes back. Returns the names of those that lost it.

    Twice is harmless. Raises lockfile.LockUnreadable, and then nothing has changed.
    """
    install.turn()
    now = Skill.objects.filter(pk=skill.pk).first()
    if now is None:
        return ()
    lost = losers(now)
    for request in SkillRequest.objects.filter(skill=now, state__in=SkillRequest.OPEN):
        requests.cancel(request, by=by)
    said = {"digest": now.digest, "commit": now.commit, "source": now.source_name}
    audit.record(
        "skill.uninstall", actor=by, subject=now.slug, detail={**said, "agents": list(lost)}
    )
    install.take_away(now)
    publish(topics.skills(skill.workspace_id), "skill", data={"skill": str(skill.pk)})
    return lost
