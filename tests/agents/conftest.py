"""An agent's folder, and the acts as a page calls them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents import editing, mirror
from agents.models import Agent
from skills.models import Skill
from tests.cast import Cast

FolderOf = Callable[[Agent], Path]


def save(cast: Cast, agent: Agent, *, busy: bool = False, **changes: Any) -> Agent:
    """One save by Ada, from the version that is stored."""
    over_file = changes.pop("over_file", False)
    with cast.bound():
        version = Agent.objects.get(pk=agent.pk).version
        return editing.save(
            agent,
            changes,
            version=version,
            by=cast.ada.principal,
            is_busy=lambda _agent: busy,
            over_file=over_file,
        )


def make_skill(cast: Cast, slug: str, *, verdict: str = "pass") -> Path:
    """A skill of the workspace with its directory."""
    from agents.paths import skill_directory

    with cast.bound():
        Skill.objects.create(slug=slug, origin="local", verdict=verdict, digest="sha256:0")
    folder = skill_directory(cast.workspace.pk, slug)
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        f"---\nname: {slug}\ndescription: What it is.\n---\n\nDo it.\n"
    )
    return folder


def links(agent: Agent) -> dict[str, str]:
    """Name and target of each skill link of the agent."""
    folder = mirror.directory(agent) / ".agents" / "skills"
    return {entry.name: str(entry.readlink()) for entry in folder.iterdir()}


def text(agent: Agent) -> str:
    return (mirror.directory(agent) / "AGENTS.md").read_text()


@pytest.fixture
def engineer_folder(cast: Cast) -> Path:
    return mirror.directory(cast.engineer)
