"""The skills of the workspace that a run's agent is linked to, read as they were let in."""

import time
from collections.abc import Mapping, Sequence

from django.db import connection

from harness.seam import NoSkill, SkillLine
from repositories.skill_texts import head_of, text_of
from skills import standing
from skills.models import Skill
from skills.scanning import File
from workspaces.tenancy import bind

from .models import Run

FRESH_SECONDS = 5.0


class Installed:
    """The linked skills of one run; what may no longer be read is gone within seconds."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._held = {row.key: row.display for row in run.agent.skill_names.all()}
        self._lines: tuple[SkillLine, ...] = ()
        self._read_at = float("-inf")
        self.files: Mapping[str, Mapping[str, File]] = {}
        self.withheld: Mapping[str, str] = {}

    def lines(self) -> Sequence[SkillLine]:
        """Name and description of each that is exactly what was accepted."""
        if self._held and time.monotonic() - self._read_at > FRESH_SECONDS:
            self._read()
        return self._lines

    def knows(self, name: str) -> bool:
        """Whether the agent carries a linked skill of this name."""
        self.lines()
        return name.casefold() in self.files

    def body(self, name: str, *, asked: bool = False) -> str | None:
        """The text of its SKILL.md; None when there is no such skill. A person who asks reaches
        every skill of the workspace. Raises NoSkill when what stands on disk is not what was
        accepted."""
        key = name.casefold()
        if not asked and key not in {line.name for line in self.lines()} | self._withheld_names:
            return None
        with bind(self._run.workspace_id):
            is_there = Skill.objects.filter(slug=key).exists()
            found = standing.readable(self._run.workspace_id, [key]) if is_there else None
        connection.close()
        if found is None:
            return None
        if key not in found.files:
            raise NoSkill(found.withheld[key])
        return text_of(found.files[key], place=f".agents/skills/{key}")

    @property
    def _withheld_names(self) -> set[str]:
        return set(self.withheld)

    def _read(self) -> None:
        with bind(self._run.workspace_id):
            rows = Skill.objects.filter(slug__in=self._held).order_by("slug")
            known = {row.slug: row.description for row in rows}
            found = standing.readable(self._run.workspace_id, list(known))
        connection.close()
        self.files, self.withheld = found.files, found.withheld
        heads = {slug: head_of(files) for slug, files in found.files.items()}
        self._lines = tuple(
            SkillLine(
                name=slug,
                description=known[slug],
                location=f".agents/skills/{slug}/SKILL.md",
                runs_in=heads[slug].runs_in,
            )
            for slug in known
            if slug in heads and not heads[slug].is_hidden
        )
        self._read_at = time.monotonic()
