"""What `/skill:<name>` and `/skill:<repository>:<name>` mean in a conversation.

The composer is not scoped: whoever names a skill means it, so every repository of the space is
reached, whatever its agents work in. A bare name means the workspace's own skill when there is one,
else the skill of the only repository that has it; a name that several have means none of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from harness.directives import MOST, named
from skills.models import Skill
from spaces.models import Conversation

from . import active
from .models import Checkout, Repository
from .skill_standing import Carrying, Standing, carrying

MOST_NAMED = 6


class NoSuchSkill(LookupError):
    """The name means no skill that may be read; the text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a name means: a skill of the workspace, or one of a repository."""

    skill: Skill | None = None
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """Everything that can be named in a conversation, and what cannot, with its reasons."""

    skills: tuple[Skill, ...]
    repositories: tuple[Carrying, ...]

    def of(self, name: str) -> Carrying | None:
        return next((one for one in self.repositories if one.repository == name), None)

    def with_fresh(self, fresh: Carrying) -> "Offered":
        """The same with a repository as it was looked at just now."""
        others = [one for one in self.repositories if one.repository != fresh.repository]
        return Offered(self.skills, (*others, fresh))


def offered(conversation: Conversation) -> Offered:
    """Read from rows alone: what was scanned last in each repository of the space."""
    repositories = active.linked(conversation)
    seen = dict(
        Checkout.objects.filter(conversation=conversation).values_list(
            "repository_id", "skills_commit"
        )
    )
    skills = Skill.objects.usable().order_by("slug")
    return Offered(
        tuple(skills),
        tuple(carrying(one, seen.get(one.pk) or one.skills_commit) for one in repositories),
    )


def require(conversation: Conversation, text: str) -> None:
    """Raises NoSuchSkill when the text asks for a skill that cannot be had."""
    names = named(text)
    if not names:
        return
    if len(names) > MOST:
        raise NoSuchSkill(_("At most %(most)d skills are named in one message.") % {"most": MOST})
    known = offered(conversation)
    for name in names:
        meaning(known, name)


def meaning(known: Offered, name: str) -> Meant:
    """What the name means. Raises NoSuchSkill with what to write instead."""
    repository, colon, short = name.rpartition(":")
    if colon:
        return Meant(standing=_in_repository(known, repository, short))
    own = next((one for one in known.skills if one.slug == name.lower()), None)
    if own is not None:
        return Meant(skill=own)
    found = [(one, one.find(name)) for one in known.repositories]
    standings = [standing for _carrying, standing in found if standing is not None]
    accepted = [one for one in standings if one.is_accepted]
    if len(accepted) > 1:
        raise NoSuchSkill(
            _("%(name)s is in several repositories. Write which one you mean: %(choices)s.")
            % {"name": name, "choices": _listed(f"/skill:{one.full_name}" for one in accepted)}
        )
    if accepted:
        return Meant(standing=accepted[0])
    if standings:
        raise NoSuchSkill(withheld(standings[0]))
    raise NoSuchSkill(_unknown(known, name))


def _in_repository(known: Offered, repository: str, name: str) -> Standing:
    place = known.of(repository.lower())
    if place is None:
        there = [one.repository for one in known.repositories]
        raise NoSuchSkill(
            _("This space has no repository %(name)s. Its repositories: %(there)s.")
            % {"name": repository, "there": _listed(there) or _("none")}
        )
    if not place.is_scanned:
        raise NoSuchSkill(
            _("The skills of %(name)s have not been scanned yet. Try again in a moment.")
            % {"name": repository}
        )
    standing = place.find(name)
    if standing is None:
        there = [one.name for one in place.accepted]
        raise NoSuchSkill(
            _("%(repository)s has no skill %(name)s. Its skills: %(there)s.")
            % {"repository": repository, "name": name, "there": _listed(there) or _("none")}
        )
    if not standing.is_accepted:
        raise NoSuchSkill(withheld(standing))
    return standing


def withheld(standing: Standing) -> str:
    """Why a skill that is there is not to be had, in a sentence."""
    return _("The skill %(name)s is withheld: %(why)s") % {
        "name": standing.full_name,
        "why": reason(standing),
    }


def reason(standing: Standing) -> str:
    """The reason alone, in words that end with a full stop."""
    if "quarantine" in standing.reasons:
        return _("the scan found what no agent should read.")
    if "warn" in standing.reasons:
        return _("the scan has a warning, and an admin decides.")
    if "first-prose" in standing.reasons:
        return _("it was written here and is not at the remote yet, and an admin decides.")
    if any(one.startswith("capability:") for one in standing.reasons):
        return _("it asks for something that this workspace does not allow.")
    return _("it has no verdict yet.")


def _unknown(known: Offered, name: str) -> str:
    near = [one.slug for one in known.skills]
    near += [one.full_name for place in known.repositories for one in place.accepted]
    if not near:
        return _("There is no skill %(name)s here; this space has none.") % {"name": name}
    alike = [one for one in near if name.lower()[:3] in one.lower()] or near
    return _("There is no skill %(name)s here. There are: %(there)s.") % {
        "name": name,
        "there": _listed(alike),
    }


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    shown = ", ".join(found[:MOST_NAMED])
    return f"{shown} …" if len(found) > MOST_NAMED else shown


def repository_of(conversation: Conversation, name: str) -> Repository | None:
    """The repository of this name in the conversation's space."""
    return next((one for one in active.linked(conversation) if one.name == name), None)
