"""What an accepted skill says about itself, and its text. Never read before there is a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass

from skills.scanning import LIMITS, File, frontmatter
from skills.scanning.report import Report
from skills.scanning.text import decode

LONGEST_DESCRIPTION = 1024
LONGEST_BODY = 200_000


@dataclass(frozen=True, slots=True)
class Head:
    """The front matter as the index takes it. `is_hidden`: only people may call for the skill.
    `runs_in`: the agent in which it runs as a subagent, "" for the default one, None for none."""

    description: str = ""
    is_hidden: bool = False
    runs_in: str | None = None


def head_of(files: Mapping[str, File]) -> Head:
    """The head of a skill's SKILL.md; an empty one when there is none to be read."""
    decoded = decode(files[name].data) if (name := skill_file(files)) else None
    if decoded is None:
        return Head()
    front = frontmatter.read(decoded.text, name, Report(LIMITS), LIMITS)
    hidden = front.fields.get("disable-model-invocation")
    return Head(
        " ".join(front.description.split())[:LONGEST_DESCRIPTION],
        is_hidden=hidden is True or str(hidden).strip().lower() == "true",
        runs_in=_runs_in(front.fields),
    )


def _runs_in(fields: Mapping[str, object]) -> str | None:
    if str(fields.get("context") or "").strip().lower() != "fork":
        return None
    agent = fields.get("agent")
    return agent.strip() if isinstance(agent, str) else ""


def body_of(files: Mapping[str, File]) -> str:
    """The text of a skill's SKILL.md, front matter and all."""
    name = skill_file(files)
    return files[name].data[:LONGEST_BODY].decode("utf-8", "replace") if name else ""


def text_of(files: Mapping[str, File], *, place: str) -> str:
    """The body as an agent gets it; it hears where the skill's other files lie, if it has some."""
    more = len(files) > 1 and f"(The other files of this skill lie in {place}/.)\n\n"
    return f"{more or ''}{body_of(files)}"


def skill_file(files: Mapping[str, File]) -> str:
    """The path of the SKILL.md, however it is spelled; "" when there is none."""
    if "SKILL.md" in files:
        return "SKILL.md"
    return next((path for path in sorted(files) if path.lower() == "skill.md"), "")
