"""Run events → what the model reads. Pure; every prefix of a journal gives a valid conversation.

Three rules make the result append-only, so that the provider's prompt cache and its signed
thinking blocks stay valid when another worker rebuilds it:

- A model turn counts once its `usage` event is there. Blocks of a turn that broke off are shown
  to people and were never read by the model again.
- What people said is placed after the last turn that had not seen it (`seen`), not where its seq
  happens to fall.
- Thinking from before a new prompt or a compaction is left out: it is bound to what stood before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.events import Event, Kind

INTERRUPTED = (
    "interrupted: outcome unknown. The process that ran this call was lost before it could report."
    " Check the present state before you repeat it."
)
NO_TEXT = "(nothing was said)"
GO_ON = "Go on."
THINKING_DROPPED = "thinking_dropped"  # code of the notice after which older thinking is left out

BLOCK_KINDS = frozenset({Kind.TEXT, Kind.THINKING, Kind.TOOL_CALL})


@dataclass(frozen=True, slots=True)
class Result:
    call_id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class UserTurn:
    """Results of the turn before, in the order of its calls, then what was said."""

    results: tuple[Result, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    kind: Literal["text", "thinking", "tool_call"]
    block: Mapping[str, Any]
    provider: str
    call_id: str = ""
    name: str = ""
    input: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The words of a text block, whatever provider wrote it."""
        return str(self.block.get("text", ""))


@dataclass(frozen=True, slots=True)
class AgentTurn:
    blocks: tuple[Block, ...]

    @property
    def calls(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.kind == "tool_call")


Turn = UserTurn | AgentTurn


def build(events: Sequence[Event]) -> tuple[Turn, ...]:
    """The conversation so far: starts and ends with a user turn, turns alternate.

    Each tool call has exactly one result in the user turn that follows it; a call without a
    result in the journal reads `INTERRUPTED`. `events` are in order of seq.
    """
    builder = _Builder(events)
    for event in events:
        builder.take(event)
    return builder.close()


def complete_turns(events: Iterable[Event]) -> frozenset[int]:
    return frozenset(event.data["turn"] for event in events if event.kind is Kind.USAGE)


def last_compaction(events: Sequence[Event]) -> Event | None:
    return next((e for e in reversed(events) if e.kind is Kind.COMPACTION), None)


class _Builder:
    def __init__(self, events: Sequence[Event]) -> None:
        self.complete = complete_turns(events)
        compaction = last_compaction(events)
        self.skip_through = compaction.data["through"] if compaction else 0
        self.thinking_from = max((seq_of(e) for e in events if _cuts_thinking(e)), default=0)
        self.turns: list[Turn] = []
        self.said: list[tuple[int, str]] = []
        if compaction:
            self.said.append((self.skip_through, compaction.data["summary"]))
        self.results: dict[str, Result] = {}
        self.number = 0
        self.blocks: list[Block] = []
        self.skip_turn = False

    def take(self, event: Event) -> None:
        if seq_of(event) <= self.skip_through:
            return
        if event.kind in BLOCK_KINDS:
            self._take_block(event)
        elif event.kind is Kind.TOOL_RESULT:
            data = event.data
            result = Result(data["call_id"], data["name"], data["content"], data["is_error"])
            self.results.setdefault(result.call_id, result)
        else:
            self.said += [(seq_of(event), text) for text in _said(event)]

    def _take_block(self, event: Event) -> None:
        data = event.data
        if data["turn"] not in self.complete:
            return
        if data["turn"] != self.number:
            self._flush(seen=data["seen"])
            self.number = data["turn"]
        if event.kind is Kind.THINKING and seq_of(event) <= self.thinking_from:
            return
        self.blocks.append(as_block(event))

    def _flush(self, *, seen: int | None) -> None:
        """Closes the agent turn that is open and says what came before the next one."""
        calls: tuple[Block, ...] = ()
        if self.number:
            turn = AgentTurn(tuple(self.blocks))
            calls = turn.calls
            self.turns.append(turn)
        heard = [text for seq, text in self.said if seen is None or seq <= seen]
        self.said = [(seq, text) for seq, text in self.said if seen is not None and seq > seen]
        results = tuple(self.results.pop(call.call_id, _unknown(call)) for call in calls)
        if not results and not heard:
            heard = [GO_ON if self.turns else NO_TEXT]
        self.turns.append(UserTurn(results, tuple(heard)))
        self.blocks = []

    def close(self) -> tuple[Turn, ...]:
        self._flush(seen=None)
        return tuple(self.turns)


def as_block(event: Event) -> Block:
    data = event.data
    if event.kind is not Kind.TOOL_CALL:
        kind: Literal["text", "thinking"] = "text" if event.kind is Kind.TEXT else "thinking"
        return Block(kind, data["block"], data["provider"])
    return Block(
        "tool_call", data["block"], data["provider"], data["call_id"], data["name"], data["input"]
    )


def _said(event: Event) -> Sequence[str]:
    """What the event says to the model; nothing for an event that does not speak to it."""
    if event.kind is Kind.STEER:
        return (event.data["text"],)
    if event.kind is not Kind.MESSAGE or event.data["role"] != "user" or "call_id" in event.data:
        return ()
    texts = (event.data.get("context", ""), event.data["text"])
    return tuple(text for text in texts if text.strip())


def _cuts_thinking(event: Event) -> bool:
    if event.kind is Kind.NOTICE:
        return event.data.get("code") == THINKING_DROPPED
    return event.kind in (Kind.PROMPT, Kind.COMPACTION)


def _unknown(call: Block) -> Result:
    return Result(call.call_id, call.name, INTERRUPTED, is_error=True)


def seq_of(event: Event) -> int:
    if event.seq is None:
        raise ValueError("a conversation is built from recorded events")
    return event.seq
