"""Skills of repositories as a conversation shows them: who works where, what is there or not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from harness.directives import named
from skills import wording
from skills.models import Skill
from spaces.models import Conversation

from . import skill_names
from .models import ActiveRepository, Repository
from .skill_names import Offered
from .skill_standing import Carrying, Standing

MOST_LISTED = 40
FINDINGS = 6


@dataclass(frozen=True, slots=True)
class WorkingPlace:
    """An agent of the conversation and the repository it works in; None while it has written in
    none of several."""

    agent: Agent
    repository: Repository | None


@dataclass(frozen=True, slots=True)
class Withheld:
    """A skill that no agent reads, with the reason and where it stands."""

    standing: Standing
    why: str
    places: tuple[str, ...]
    repository: Repository


@dataclass(frozen=True, slots=True)
class ShownCarrying:
    """A repository with its skills, as a panel lists them."""

    repository: Repository
    carrying: Carrying
    accepted: tuple[Standing, ...]
    more: int
    withheld: tuple[Withheld, ...]

    @property
    def has_some(self) -> bool:
        return bool(self.carrying.skills or self.carrying.passed_over)


def working_places(
    conversation: Conversation, repositories: list[Repository]
) -> list[WorkingPlace]:
    """Where each agent that has run here works, by its name."""
    rows = ActiveRepository.objects.filter(conversation=conversation)
    by_key = {one.pk: one for one in repositories}
    active = {row.agent_id: by_key.get(row.repository_id) for row in rows}
    agents = Agent.objects.filter(runs__conversation=conversation).distinct().order_by("name")
    only = repositories[0] if len(repositories) == 1 else None
    return (
        [WorkingPlace(agent, only or active.get(agent.pk)) for agent in agents]
        if repositories
        else []
    )


def panels(known: Offered, repositories: Iterable[Repository]) -> list[ShownCarrying]:
    """The repositories that carry something, with what they carry."""
    shown = [_panel(one, known.of(one.name)) for one in repositories]
    return [one for one in shown if one is not None and one.has_some]


def choices(known: Offered) -> list[dict[str, Any]]:
    """What the composer completes behind `/`: the shortest name that means each skill."""
    rows = [_installed(skill) for skill in known.skills]
    for place in known.repositories:
        for standing in place.accepted:
            rows.append(_carried(known, standing))
    return rows


def _panel(repository: Repository, carrying: Carrying | None) -> ShownCarrying | None:
    if carrying is None or not carrying.is_scanned:
        return None
    accepted = carrying.accepted
    return ShownCarrying(
        repository,
        carrying,
        accepted[:MOST_LISTED],
        max(0, len(accepted) - MOST_LISTED),
        tuple(
            Withheld(one, skill_names.reason(one), _places(one), repository)
            for one in carrying.withheld[:MOST_LISTED]
        ),
    )


def _places(standing: Standing) -> tuple[str, ...]:
    """What was found and where, never what the skill says."""
    heavy = [one for one in standing.findings if one["severity"] != "info"]
    return tuple(_place(one) for one in heavy[:FINDINGS])


def _place(finding: Mapping[str, Any]) -> str:
    where = f"{finding['file']}:{finding['line']}" if finding["line"] else str(finding["file"])
    title = wording.title(str(finding["rule"]))
    return f"{title} ({where})" if where else title


def _installed(skill: Skill) -> dict[str, Any]:
    return _row(skill.slug, skill.description, place="")


def _carried(known: Offered, standing: Standing) -> dict[str, Any]:
    return _row(standing.full_name, standing.description, place=standing.repository)


def _row(name: str, about: str, *, place: str) -> dict[str, Any]:
    """A row of the menu. A name that the directive could not be written with is not offered."""
    return {
        "handle": name.rpartition(":")[2],
        "insert": f"skill:{name}",
        "name": name,
        "kind": "skill",
        "title": about,
        "word": place,
        "can": named(f"/skill:{name}") == [name],
    }
