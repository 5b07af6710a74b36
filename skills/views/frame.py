"""What stands around every page of the room: where one can go, and how many are there."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Q

from agents.models import AgentSkill
from workspaces.access import MemberRequest
from workspaces.models import Role

from .. import holds, topics
from ..lockfile import State
from ..models import Skill, SkillRequest, SkillSource
from ..scanning import version
from ..standing import Standing, look


def frame(
    request: MemberRequest, place: str, *, source: SkillSource | None = None
) -> dict[str, Any]:
    """What the list pane is drawn from. `place`: installed, held, sources, rules or source."""
    rows = Skill.objects.aggregate(
        all=Count("pk"),
        updates=Count("pk", filter=~Q(available_commit="")),
        unlinked=Count("pk", filter=~Q(decision=Skill.Decision.ACCEPTED)),
        old=Count("pk", filter=~Q(ruleset=version()) & ~Q(origin=Skill.Origin.SEEDED)),
    )
    return {
        "place": place,
        "current_source": source,
        "numbers": rows | {"held": SkillRequest.objects.waiting().count() + rows["unlinked"]},
        "sources": sources(),
        "ruleset": version(),
        "topic": topics.skills(request.workspace.pk),
        "may_manage": request.membership.may(Role.ADMIN),
        "may_write": request.membership.may(Role.MEMBER),
        "room": "skills",
    }


def sources() -> Iterable[SkillSource]:
    """The sources with the number of skills that each offers."""
    shown = SkillSource.objects.exclude(state=SkillSource.State.REMOVING)
    return shown.annotate(offers=Count("listings", filter=Q(listings__skipped=""))).order_by("name")


def holders() -> dict[str, list[str]]:
    """The agents that hold each skill, by the skill's name."""
    found: dict[str, list[str]] = {}
    rows = AgentSkill.objects.exclude(agent__name="").order_by("agent__name")
    for key, name in rows.values_list("key", "agent__name"):
        found.setdefault(key, []).append(name)
    return found


def drift(standing: Standing) -> dict[str, State]:
    """The skills whose files are not those of the lock, by name."""
    return {name: state for name, state in standing.states.items() if state is not State.MATCHED}


def reason_of(request: MemberRequest) -> str:
    """The reason that was typed beside a decision, in a form that can be stored."""
    return request.POST.get("note", "").replace("\0", "").strip()[: holds.MOST_NOTE]


def look_at(request: MemberRequest) -> Standing:
    """How disk, lock and rows relate, read at most once a request."""
    known: Standing | None = getattr(request, "skills_standing", None)
    if known is None:
        known = look(request.workspace.pk)
        request.skills_standing = known  # type: ignore[attr-defined]
    return known
