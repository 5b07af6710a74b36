"""`/skill:<name>` in what is said to an agent: the body of that skill becomes a directive."""

import re
from collections.abc import Sequence

from harness import events
from harness.conversation import seq_of
from harness.events import Event, Kind
from harness.seam import NoSkill, SkillShelf
from outside.sentences import phrase

LOADED, MISSING = "skill", "no_skill"  # codes of the events that answer a directive
PRELOADED, NOT_PRELOADED = "skill_preloaded", "skill_not_preloaded"
MOST = 8  # of one message; each brings a whole text into the conversation
_DIRECTIVE = re.compile(r"(?<!\S)/skill:([\w.-]+(?::[\w.-]+)?)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def named(text: str) -> list[str]:
    """The skills that a text asks for, each once, in order; what stands in code is text. Pure."""
    if "/skill:" not in text:
        return []
    found = (name.rstrip(".-") for name in _DIRECTIVE.findall(without_code(text)))
    return list(dict.fromkeys(filter(None, found)))


def wanted(journal: Sequence[Event]) -> list[str]:
    """Names asked for since the last ones were answered, each once, in order. Pure."""
    answered = max(
        (seq_of(e) for e in journal if e.data.get("code") in (LOADED, MISSING)), default=0
    )
    names: dict[str, None] = {}
    for event in journal:
        if seq_of(event) > answered and is_said(event):
            names.update(dict.fromkeys(named(event.data["text"])))
    return list(names)[:MOST]


def answers(names: Sequence[str], shelf: SkillShelf) -> list[Event]:
    """The events that load each skill, or say to people that there is none of that name."""
    return [_answer(name, shelf) for name in names]


def preloaded(names: Sequence[str], shelf: SkillShelf) -> list[Event]:
    """Skills that an agent has whole from its start. One that cannot be had is left out, and the
    journal says so."""
    return [_preload(name, shelf) for name in names]


def _preload(name: str, shelf: SkillShelf) -> Event:
    try:
        body = shelf.body(name)
    except NoSkill as problem:
        words = phrase("The skill %(name)s was not loaded for the subagent. %(why)s")
        return _left_out(words % {"name": name, "why": str(problem)})
    if body is None:
        words = phrase(
            "The skill %(name)s was not loaded for the subagent: it is not here, or only people"
            " may call for it."
        )
        return _left_out(words % {"name": name})
    return events.steer(f"The skill {name}, for all that you do here:\n\n{body}", code=PRELOADED)


def _left_out(words: str) -> Event:
    return events.notice(words, level="warning", code=NOT_PRELOADED)


def _answer(name: str, shelf: SkillShelf) -> Event:
    try:
        body = shelf.body(name, asked=True)
    except NoSkill as problem:
        words = phrase("%(why)s The message was taken as it stands.") % {"why": str(problem)}
        return events.notice(words, level="warning", code=MISSING)
    if body is None:
        words = phrase("There is no skill %(name)s here. The message was taken as it stands.")
        return events.notice(words % {"name": name}, level="warning", code=MISSING)
    if _forks(name, shelf):
        text = f"The skill {name} was asked for. It runs in a subagent: start it by the skill tool."
        return events.steer(text, code=LOADED)
    text = f"The skill {name} was asked for. Follow it in what you do now:\n\n{body}"
    return events.steer(text, code=LOADED)


def without_code(text: str) -> str:
    """The text with blanks where code stands."""
    return _CODE.sub(lambda match: " " * len(match.group()), text)


def is_said(event: Event) -> bool:
    """Somebody said it to the agent."""
    if event.kind is Kind.STEER:
        return bool(event.data.get("author"))
    return event.kind is Kind.MESSAGE and bool(event.data["role"] == "user")


def _forks(name: str, shelf: SkillShelf) -> bool:
    return any(line.full_name == name and line.runs_in is not None for line in shelf.index())
