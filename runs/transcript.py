"""A run's journal as a page: from scratch or event by event, the same HTML.

Each event becomes an entry on the run's spine, but for those that belong to a tool call: its
start, its approval, the subagent that it started and its result fill the outcome of the call's own
entry. A subagent's transcript is that of its own run, fetched where it is opened.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from harness.events import Event, Kind
from outside.sentences import remade
from workspaces.sentences import translated
from workspaces.tenancy import bind

from .models import Run, RunEvent

SHOWN_CHARACTERS = 6000
LONGEST_TEXT = 100_000
MOST_ARGUMENTS = 50
OF_A_CALL = frozenset({Kind.TOOL_START, Kind.TOOL_RESULT, Kind.APPROVAL, Kind.CHILD})
UNSHOWN = frozenset({Kind.PROMPT, Kind.USAGE})


@dataclass(slots=True)
class Child:
    """A subagent that a call started, as the events of its parent tell of it."""

    run_id: str
    agent: str
    model: str = ""
    state: str = "running"
    tokens: int = 0
    seconds: float | None = None
    branches: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.state == "running"


@dataclass(slots=True)
class Outcome:
    """How a tool call stands: `state` is waiting, running, asked, denied, done, failed, held."""

    state: str = "waiting"
    content: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    duration_ms: int = 0
    approval_id: str = ""
    decided_by: str = ""
    note: str = ""
    child: Child | None = None


@dataclass(slots=True)
class Entry:
    """An event on the spine; a tool call with its outcome."""

    event: Event
    outcome: Outcome | None = None

    @property
    def kind(self) -> str:
        return self.event.kind.value

    @property
    def seq(self) -> int | None:
        return self.event.seq

    @property
    def data(self) -> Any:
        return self.event.data

    @property
    def text(self) -> str:
        """The words of a text or thinking block, in whichever dialect the provider sent it."""
        block = self.event.data.get("block", {})
        return fitting(str(block.get("text") or block.get("thinking") or self.said), LONGEST_TEXT)

    @property
    def said(self) -> str:
        """What an event that is no block says: a notice, a steer, an error, the end."""
        data = self.event.data
        return fitting(_in_words(data, "text") or _in_words(data, "summary"), LONGEST_TEXT)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a call as they fit a page."""
        shown = list(self.event.data.get("input", {}).items())[:MOST_ARGUMENTS]
        return {key: _fitting(value) for key, value in shown}

    @property
    def shown_content(self) -> str:
        """The result as it fits a page; the journal holds all that the model read."""
        content = self.outcome.content if self.outcome else ""
        if self.outcome and self.outcome.detail.get("diff"):
            return ""
        return content[:SHOWN_CHARACTERS]

    @property
    def hidden(self) -> str:
        """What of the result is not shown, in words."""
        total = len(self.outcome.content) if self.outcome else 0
        if total <= SHOWN_CHARACTERS or (self.outcome and self.outcome.detail.get("diff")):
            return ""
        return _("Not all shown: %(shown)d of %(total)d characters.") % {
            "shown": SHOWN_CHARACTERS,
            "total": total,
        }

    @property
    def seconds(self) -> float | None:
        known = self.outcome and self.outcome.duration_ms
        return self.outcome.duration_ms / 1000 if known and self.outcome else None

    @property
    def added(self) -> int:
        return self._changed[0]

    @property
    def removed(self) -> int:
        return self._changed[1]

    @property
    def out(self) -> str:
        """The outcome in a few words."""
        detail = self.outcome.detail if self.outcome else {}
        if detail.get("commit"):
            return str(detail["commit"])[:7]
        if detail.get("exit_code"):
            return _("exit %(code)s") % {"code": detail["exit_code"]}
        return ""

    @property
    def is_open(self) -> bool:
        """What changed something is open; what only looked is one line."""
        return bool(self.outcome and self.outcome.detail.get("diff"))

    @property
    def _changed(self) -> tuple[int, int]:
        diff = self.outcome.detail.get("diff") if self.outcome else ""
        return count_lines(diff) if diff else (0, 0)


def _in_words(data: Mapping[str, Any], key: str) -> str:
    """A text of an event for this reader: a sentence of ours in the own language."""
    if data.get(key) and "words" in data:
        return translated(remade(data["words"]))
    return str(data.get(key) or "")


def fitting(text: str, most: int) -> str:
    """The text, or as much of it as a page can bear and how much more there is."""
    if len(text) <= most:
        return text
    return _("%(text)s … and %(count)d characters more") % {
        "text": text[:most],
        "count": len(text) - most,
    }


def _fitting(value: Any) -> Any:
    if isinstance(value, str):
        return fitting(value, SHOWN_CHARACTERS)
    if isinstance(value, dict | list):
        return fitting(json.dumps(value, ensure_ascii=False, indent=1), SHOWN_CHARACTERS)
    return value


def count_lines(diff: str) -> tuple[int, int]:
    """How many lines a unified diff adds and removes."""
    lines = diff.splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return added, removed


class Calls:
    """The tool calls of a run, as far as its events are known.

    Who has taken all events up to one can show that one without looking into the journal.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        for event in events:
            self.take(event)

    def take(self, event: Event) -> Entry | None:
        """The entry in which the event shows itself; None when it shows nowhere."""
        if event.kind in UNSHOWN:
            return None
        if event.kind not in OF_A_CALL:
            entry = Entry(event, Outcome() if event.kind is Kind.TOOL_CALL else None)
            if event.kind is Kind.TOOL_CALL:
                self._entries[event.data["call_id"]] = entry
            return entry
        owner = self._entries.get(event.data.get("call_id", ""))
        if owner is None and event.kind is Kind.CHILD:
            return Entry(event)  # its call is not on this page
        if owner is not None and owner.outcome is not None:
            fold(owner.outcome, event)
        return owner


def entries(events: Iterable[Event]) -> list[Entry]:
    """The whole spine."""
    calls = Calls()
    spine = []
    for event in events:
        entry = calls.take(event)
        if entry is not None and entry.event is event:
            spine.append(entry)
    return spine


def fold(outcome: Outcome, event: Event) -> None:
    """Takes one start, approval or result into the outcome."""
    data = event.data
    if event.kind is Kind.TOOL_START:
        outcome.state = "running"
    elif event.kind is Kind.CHILD:
        outcome.child = _child(outcome.child, data)
        if data["phase"] == "ended" and outcome.state == "running":
            outcome.state = "done" if outcome.child.state == "succeeded" else "failed"
    elif event.kind is Kind.TOOL_RESULT:
        denied = outcome.state == "denied" or data["detail"].get("denied")
        outcome.state = "denied" if denied else ("failed" if data["is_error"] else "done")
        outcome.content, outcome.detail = data["content"], dict(data["detail"])
        outcome.duration_ms = data["duration_ms"]
    elif data["phase"] == "asked":
        outcome.state, outcome.approval_id = "asked", data["approval_id"]
    else:
        outcome.state = "denied" if data.get("decision") == "deny" else "waiting"
        outcome.decided_by = data.get("decided_by", "")
        outcome.note = (
            translated(remade(data["words"])) if "words" in data else data.get("note", "")
        )
        outcome.approval_id = data["approval_id"]


def _child(known: Child | None, data: Mapping[str, Any]) -> Child:
    """What is known of the child after this event; a quick one may end before it has begun here."""
    child = known or Child(data["run_id"], data["agent"])
    child.model = data.get("model") or child.model
    if data["phase"] == "ended":
        child.state = data.get("state", "succeeded")
        child.tokens = data.get("tokens", 0)
        child.seconds = data.get("duration_ms", 0) / 1000
        child.branches = tuple(data.get("branches", ()))
    return child


def fragment(run: Run, event: Event, entry: Entry | None = None) -> str:
    """The out-of-band fragment by which an open page takes this event in.

    `entry` is what `Calls.take` gave for it; without it the call is looked up. Binds by itself.
    """
    if event.kind in UNSHOWN:
        return ""
    if entry is not None:
        return _render(run, event, entry)
    with bind(run.workspace_id):
        found = _look_up(run, event)
        return _render(run, event, found) if found else ""


def _look_up(run: Run, event: Event) -> Entry | None:
    if event.kind not in OF_A_CALL:
        return Calls().take(event)
    rows = RunEvent.objects.filter(run=run, data__call_id=event.data.get("call_id", ""))
    calls, found = Calls(), None
    for row in rows.order_by("seq"):
        entry = calls.take(row.event)
        found = entry if entry is not None and entry.outcome is not None else found
    return found


def _render(run: Run, event: Event, entry: Entry) -> str:
    template = "runs/_event.html" if entry.event is event else "runs/_outcome.html"
    return render_to_string(template, {"run": run, "entry": entry, "oob": True})
