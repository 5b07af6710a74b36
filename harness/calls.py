"""Where each tool call without a result stands. Pure: a reading of the journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.conversation import complete_turns, seq_of
from harness.events import Event, Kind

ANSWERED = "The answer is in the message that follows."
Standing = Literal["new", "waiting", "decided", "answered", "interrupted"]


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call of a complete turn that has no result yet.

    new          never begun: it is put to the gate now
    waiting      asked and not decided (`waits_for`, `waits_on` say for what)
    decided      the last word is a decision, in `decision`
    answered     the question it asked has its answer, in `answer`
    interrupted  begun, and nobody knows how it ended
    """

    call_id: str
    name: str
    input: Mapping[str, Any]
    turn: int
    standing: Standing = "new"
    invalid: str = ""
    decision: Mapping[str, Any] | None = None
    answer: str = ""
    child: Mapping[str, Any] | None = None  # how the subagent that it started has ended
    waits_for: Literal["approval", "person", "child"] = "approval"
    waits_on: str = ""


def open_calls(events: Sequence[Event]) -> tuple[OpenCall, ...]:
    """Calls without a result, in the order the model made them.

    Only the last complete turn with calls can have some: the next one is asked for after all of
    them are settled.
    """
    recent = _since_last_calls(events)
    settled = {e.data["call_id"] for e in recent if e.kind is Kind.TOOL_RESULT}
    complete = complete_turns(recent)
    made = [
        event
        for event in recent
        if event.kind is Kind.TOOL_CALL
        and event.data["turn"] in complete
        and event.data["call_id"] not in settled
    ]
    return tuple(_stand(event, _history(event, recent)) for event in made)


def _since_last_calls(events: Sequence[Event]) -> Sequence[Event]:
    """The end of the journal, from the last complete turn that made calls."""
    ended: set[int] = set()
    turn = 0
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        if event.kind is Kind.USAGE:
            if turn:
                return events[index + 1 :]
            ended.add(event.data["turn"])
        elif event.kind is Kind.TOOL_CALL and event.data["turn"] in ended:
            turn = event.data["turn"]
    return events


def _history(call: Event, events: Sequence[Event]) -> list[Event]:
    """What happened to the call since it was made; whatever people say answers its question."""
    call_id = call.data["call_id"]
    found: list[Event] = []
    for event in events:
        if seq_of(event) <= seq_of(call):
            continue
        if event.data.get("call_id") == call_id or (_asks(found) and _is_said(event)):
            found.append(event)
    return found


def _asks(history: Sequence[Event]) -> bool:
    return any(e.kind is Kind.MESSAGE and e.data["role"] == "agent" for e in history)


def _is_said(event: Event) -> bool:
    if event.kind is Kind.STEER:
        return bool(event.data.get("author"))
    return event.kind is Kind.MESSAGE and bool(event.data["role"] == "user")


def _stand(call: Event, history: Sequence[Event]) -> OpenCall:
    data = call.data
    base: dict[str, Any] = {
        "call_id": data["call_id"],
        "name": data["name"],
        "input": data["input"],
        "turn": data["turn"],
        "invalid": data.get("invalid", ""),
    }
    if not history:
        return OpenCall(**base)
    last = _decisive(history)
    if last.kind is Kind.APPROVAL and last.data["phase"] == "decided":
        return OpenCall(**base, standing="decided", decision=last.data)
    if last.kind is Kind.APPROVAL:
        return OpenCall(**base, standing="waiting", waits_on=last.data["approval_id"])
    if _is_said(last):
        # An answer that was not given to this very question is read as a message, once.
        answer = last.data["text"] if "call_id" in last.data else ANSWERED
        return OpenCall(**base, standing="answered", answer=answer)
    if last.kind is Kind.MESSAGE:
        return OpenCall(**base, standing="waiting", waits_for="person")
    if last.kind is Kind.CHILD and last.data["phase"] == "ended":
        answer = last.data.get("result", "")
        return OpenCall(**base, standing="answered", answer=answer, child=last.data)
    if last.kind is Kind.CHILD:
        return OpenCall(**base, standing="waiting", waits_for="child", waits_on=last.data["run_id"])
    if last.kind is Kind.TOOL_START:
        return OpenCall(**base, standing="interrupted")
    return OpenCall(**base)


def _decisive(history: Sequence[Event]) -> Event:
    """The event that says where the call stands: the last one of a kind that can."""
    kinds = (Kind.APPROVAL, Kind.MESSAGE, Kind.STEER, Kind.CHILD, Kind.TOOL_START)
    return next((e for e in reversed(history) if e.kind in kinds), history[-1])
