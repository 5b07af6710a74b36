"""The index of skills in the prompt: one line a skill, within a budget whatever there is. Pure.

Linked skills come first, then the active repository's. When the lines are too many, descriptions
are shortened alike, step by step; only when bare names do not fit are the last ones left out. The
same skills always give the same lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.seam import SkillLine

BUDGET = 16_000  # characters, about 4,000 tokens
STEPS = (1_024, 500, 240, 120, 60, 0)  # characters of a description


@dataclass(frozen=True, slots=True)
class Index:
    """The lines, to which length descriptions were cut (None: they are whole), and how many
    skills are not listed at all."""

    lines: tuple[str, ...] = ()
    cut_to: int | None = None
    left_out: int = 0

    @property
    def text(self) -> str:
        """The lines with a word about what was cut."""
        found = list(self.lines)
        if self.left_out:
            found.append(f"({self.left_out} more are not listed; people can name them.)")
        return "\n".join(found)


def index(skills: Sequence[SkillLine], *, budget: int = BUDGET) -> Index:
    """The index of these skills, at most `budget` characters long."""
    for step in STEPS:
        lines = tuple(_line(skill, step) for skill in skills)
        if sum(len(line) + 1 for line in lines) <= budget:
            is_whole = all(len(_flat(skill)) <= step for skill in skills)
            return Index(lines, None if is_whole else step)
    kept, room = [], budget
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return Index(tuple(kept), 0, left_out=len(lines) - len(kept))


def _line(skill: SkillLine, most: int) -> str:
    text = _flat(skill)
    if len(text) > most:
        text = f"{text[: most - 1]}…" if most else ""
    return f"- {skill.full_name}: {text}" if text else f"- {skill.full_name}"


def _flat(skill: SkillLine) -> str:
    return " ".join(skill.description.split())
