"""The prompt of a run that nobody started: assembled by the harness itself, from the same facts."""

from dataclasses import dataclass
from pathlib import Path

from harness import prompt
from harness.seam import (
    Colleague,
    GitIdentity,
    PromptInputs,
    RunSpec,
    SkillLine,
    Wake,
)
from harness.skill_index import Index, index
from harness.tools.surface import surface
from repositories.models import Repository
from repositories.skill_standing import carrying
from repositories.skill_texts import head_of
from skills import standing
from skills.models import Skill
from workspaces.models import Principal, Workspace

from ..models import Agent

CHARACTERS_A_TOKEN = 4  # English prose and code, near enough to weigh sections against each other


@dataclass(frozen=True, slots=True)
class Part:
    """A section with its size. `is_stable`: the same bytes in each run, so it is cached."""

    name: str
    text: str
    tokens: int
    is_stable: bool
    share: int  # per cent of the whole


@dataclass(frozen=True, slots=True)
class Preview:
    """`skills` is the index of skills by itself, with what had to be cut of it."""

    parts: list[Part]
    tokens: int
    skills: Index


def preview(
    agent: Agent, *, mode: str, workspace: Workspace, repository: Repository | None = None
) -> Preview:
    """The sections that a run in this mode would begin with, without a place and a message; with
    a repository, as if the agent worked in its default branch."""
    spec = _spec(agent, mode=mode, workspace=workspace)
    skills = [*_index(agent), *(_carried(repository) if repository else ())]
    made = prompt.assemble(
        spec, tools=[tool.schema for tool in surface(spec).values()], skills=skills
    )
    sizes = [tokens_of(section.rendered) for section in made.sections]
    whole = sum(sizes) or 1
    parts = [
        Part(each.name, each.text, size, each.name in prompt.STABLE_SECTIONS, size * 100 // whole)
        for each, size in zip(made.sections, sizes, strict=True)
    ]
    return Preview(parts, sum(sizes), index(skills))


def tokens_of(text: str) -> int:
    """About how many tokens a text has; providers count each in their own way."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _spec(agent: Agent, *, mode: str, workspace: Workspace) -> RunSpec:
    return RunSpec(
        run_id="",
        workspace_id=str(workspace.pk),
        agent_id=str(agent.pk),
        agent_name=agent.name,
        agent_title=agent.title,
        model=agent.model_id or "",
        providers={},
        mode=mode,  # type: ignore[arg-type]
        may_delegate=True,
        working_directory=Path("/"),
        artefact_directory=Path("/"),
        roots=(),
        git_identity=GitIdentity(name=agent.name, email=""),
        wake=Wake(reason="user_message", text="", author=""),
        prompt=PromptInputs(
            workspace_name=workspace.name,
            system_prompt=agent.system_prompt,
            persona=agent.persona,
            skill_names=tuple(name.display for name in agent.skill_names.all()),
            team=_team(agent),
            reports_to=agent.reports_to.handle if agent.reports_to else "",
        ),
    )


def _team(agent: Agent) -> tuple[Colleague, ...]:
    people = Principal.objects.filter(removed_at=None).exclude(agent__pk=agent.pk)
    titles = dict(Agent.objects.exclude(name="").values_list("principal_id", "title"))
    return tuple(
        Colleague(
            handle=each.handle,
            title=titles.get(each.pk, each.name),
            kind="agent" if each.is_agent else "person",
        )
        for each in people
    )


def _carried(repository: Repository) -> list[SkillLine]:
    """What the repository carries and agents may read; those that only people call for are told
    apart when they are read, and stand here too."""
    found = carrying(repository, repository.skills_commit)
    return [
        SkillLine(name=one.name, description=one.description, repository=one.repository)
        for one in found.accepted
    ]


def _index(agent: Agent) -> list[SkillLine]:
    """The lines of the skills that a run would read: scanned, in the lock, and as they were."""
    keys = [name.key for name in agent.skill_names.all()]
    known = {row.slug: row for row in Skill.objects.filter(slug__in=keys).order_by("slug")}
    files = standing.readable(agent.workspace_id, list(known)).files
    return [
        SkillLine(
            name=slug,
            description=row.description,
            location=f".agents/skills/{slug}/SKILL.md",
        )
        for slug, row in known.items()
        if slug in files and not head_of(files[slug]).is_hidden
    ]
