"""`@agent-<name>` in what a person says: that subagent is to be started for this task.

The message still goes to the agent, which writes the task; the mention says only who does it.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from harness import events
from harness.conversation import seq_of
from harness.directives import is_said, without_code
from harness.events import Event, Kind
from outside.sentences import phrase

CALLED, UNKNOWN = "agent_called", "no_agent"  # codes of the events that answer a mention
MOST = 8  # of one message
_MENTION = re.compile(
    r"(?<![\w@/.\-])@(?:agent-([A-Za-z0-9][\w.-]*(?::[\w.-]+)*)|\"([^\"\n]{1,200}) \(agent\)\")"
)
START = (
    "The subagent {name} was asked for by name. Start it with the agent tool, subagent_type"
    " {name!r}; write its task from what was said."
)
NOT_STARTED = (
    "You were asked for {names} by name and have not started it. Start it with the agent tool now,"
    " or say why that is not possible."
)


def named(text: str) -> list[str]:
    """The subagents that a text calls for, each once, in order; what stands in code is text."""
    if "@agent-" not in text and ' (agent)"' not in text:
        return []
    found = (
        (plain or quoted).rstrip(".-:") for plain, quoted in _MENTION.findall(without_code(text))
    )
    return list(dict.fromkeys(filter(None, found)))


def wanted(journal: Sequence[Event]) -> list[str]:
    """Names that people called for since the last ones were answered."""
    answered = max(
        (seq_of(e) for e in journal if e.data.get("code") in (CALLED, UNKNOWN)), default=0
    )
    texts = [e.data["text"] for e in journal if seq_of(e) > answered and _is_persons(e)]
    return list(dict.fromkeys(name for text in texts for name in named(text)))[:MOST]


def answers(names: Iterable[str], known: Collection[str]) -> list[Event]:
    """What the agent hears of each; people hear it of one that cannot be started here."""
    return [_answer(name, known) for name in names]


def not_started(journal: Sequence[Event]) -> list[str]:
    """Those that the agent was told to start and has not."""
    waiting: list[str] = []
    for event in journal:
        if event.data.get("code") == CALLED:
            waiting.append(event.data["agent"])
        elif event.kind is Kind.CHILD and event.data["agent"] in waiting:
            waiting.remove(event.data["agent"])
    return waiting


def _answer(name: str, known: Collection[str]) -> Event:
    meant = _meant(name, known)
    if meant is None:
        words = phrase(
            "There is no subagent %(name)s to start here. The message was taken as it is."
        )
        return events.notice(words % {"name": name}, level="warning", code=UNKNOWN)
    told = events.steer(START.format(name=meant), code=CALLED)
    return Event(told.kind, {**told.data, "agent": meant})


def _meant(name: str, known: Collection[str]) -> str | None:
    """The exact name, or the only one that a package has it under."""
    if name in known:
        return name
    scoped = [each for each in known if each.endswith(f":{name}")]
    return scoped[0] if len(scoped) == 1 else None


def _is_persons(event: Event) -> bool:
    return is_said(event) and bool(event.data.get("author"))
