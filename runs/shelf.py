"""The skills that an agent carries into a run: lines for the index, bodies on demand."""

from collections.abc import Sequence

from django.db import connection

from agents.paths import skill_directory
from harness.seam import SkillLine
from skills.models import Skill
from workspaces.tenancy import bind

from .models import Run

MOST_BYTES = 200_000


class Shelf:
    """The linked skills of the run's agent whose verdict lets them be read."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._held = {row.key: row.display for row in run.agent.skill_names.all()}

    def index(self) -> Sequence[SkillLine]:
        """Name and description of each; never a body."""
        return [
            SkillLine(
                name=skill.slug,
                description=skill.description,
                location=f".agents/skills/{skill.slug}/SKILL.md",
            )
            for skill in self._usable()
        ]

    def body(self, name: str) -> str | None:
        """The text of a linked skill's SKILL.md; None when there is none to be had."""
        known = {skill.slug: skill for skill in self._usable()}
        skill = known.get(name.strip().casefold())
        if skill is None:
            return None
        file = skill_directory(self._run.workspace_id, skill.slug) / "SKILL.md"
        if not file.is_file() or file.is_symlink():
            return None
        return file.read_bytes()[:MOST_BYTES].decode("utf-8", "replace")

    def _usable(self) -> list[Skill]:
        with bind(self._run.workspace_id):
            rows = list(Skill.objects.filter(slug__in=self._held, verdict__in=["pass", "warn"]))
        connection.close()
        return rows
