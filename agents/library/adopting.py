"""Make a workspace agent out of a definition (requirements 6.11)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.library.definition import AgentDefinition
from agents.library.yamlread import Value

MAX_TITLE = 120
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_TAKEN = frozenset({"name", "description", "model", "effort", "skills"})


@dataclass(frozen=True, slots=True)
class Adopted:
    """The fields of the new agent. `extra` is the rest of the front matter, kept as it was
    written and acting when the agent runs on the built-in harness.
    """

    name: str
    title: str
    persona: str
    model_id: str | None = None
    effort: str | None = None
    skills: tuple[str, ...] = ()
    extra: Mapping[str, Value] = field(default_factory=dict)


def adopt(definition: AgentDefinition) -> Adopted:
    """The agent that a definition makes: slug, first sentence as title, body as persona."""
    model = definition.model
    return Adopted(
        name=definition.slug,
        title=first_sentence(definition.description),
        persona=definition.body,
        model_id=None if model in (None, "inherit") else model,
        effort=definition.effort,
        skills=definition.skills,
        extra={key: value for key, value in definition.values.items() if key not in _TAKEN},
    )


def first_sentence(description: str) -> str:
    """The first sentence without its full stop, at most 120 characters."""
    sentence = _SENTENCE_END.split(description.strip(), maxsplit=1)[0].rstrip(".")
    if len(sentence) <= MAX_TITLE:
        return sentence
    return sentence[: MAX_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
