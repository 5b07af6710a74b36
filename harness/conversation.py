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

from harness import delegation
from harness.events import Event, Kind

INTERRUPTED = (
    "interrupted: outcome unknown. The process that ran this call was lost before it could report."
    " Check the present state before you repeat it."
)
NO_TEXT = "(nothing was said)"
GO_ON = "Go on."
THINKING_DROPPED = "thinking_dropped"  # code of the notice after which older thinking is left out


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


def build(events: Iterable[Event]) -> tuple[Turn, ...]:
    """The conversation so far: starts and ends with a user turn, turns alternate.

    Each tool call has exactly one result in the user turn that follows it; a call without a
    result in the journal reads `INTERRUPTED`. `events` are in order of seq.
    """
    conversation = Conversation()
    for event in events:
        conversation.take(event)
    return conversation.turns()


class Conversation:
    """The same, event by event. Turns that are behind stay the same objects."""

    def __init__(self) -> None:
        self._past: list[Turn] = []
        self._open: AgentTurn | None = None  # the last model turn, waiting for what follows it
        self._blocks: list[Event] = []  # of the model turn that is being made
        self._said: list[tuple[int, str]] = []  # not placed yet
        self._results: dict[str, Result] = {}

    def take(self, event: Event) -> None:
        match event.kind:
            case Kind.TEXT | Kind.THINKING | Kind.TOOL_CALL:
                if self._blocks and self._blocks[0].data["turn"] != event.data["turn"]:
                    self._blocks = []  # that turn broke off
                self._blocks.append(event)
            case Kind.USAGE:
                self._end_turn(event.data["turn"])
            case Kind.TOOL_RESULT:
                data = event.data
                result = Result(data["call_id"], data["name"], data["content"], data["is_error"])
                self._results.setdefault(result.call_id, result)
            case Kind.COMPACTION:
                self._shorten(event)
            case Kind.PROMPT:
                self._drop_thinking()
            case Kind.NOTICE if event.data.get("code") == THINKING_DROPPED:
                self._drop_thinking()
            case _:
                self._said += [(seq_of(event), text) for text in _said(event)]

    def turns(self) -> tuple[Turn, ...]:
        """Everything up to now, as the next model turn reads it."""
        heard = tuple(text for _, text in self._said)
        if self._open is None:
            return (*self._past, self._follow_up(None, heard))
        return (*self._past, self._open, self._follow_up(self._open, heard))

    def _end_turn(self, number: int) -> None:
        blocks, self._blocks = self._blocks, []
        if not blocks or blocks[0].data["turn"] != number:
            return
        seen = blocks[0].data["seen"]
        heard = tuple(text for seq, text in self._said if seq <= seen)
        self._said = [(seq, text) for seq, text in self._said if seq > seen]
        if self._open is not None:
            self._past.append(self._open)
        self._past.append(self._follow_up(self._open, heard))
        self._results = {}
        self._open = AgentTurn(tuple(as_block(event) for event in blocks))

    def _follow_up(self, turn: AgentTurn | None, heard: tuple[str, ...]) -> UserTurn:
        calls = turn.calls if turn else ()
        results = tuple(self._results.get(call.call_id, _unknown(call)) for call in calls)
        if not results and not heard:
            heard = (GO_ON,) if turn or self._past else (NO_TEXT,)
        return UserTurn(results, heard)

    def _shorten(self, event: Event) -> None:
        through = event.data["through"]
        later = [(seq, text) for seq, text in self._said if seq > through]
        self._past, self._open, self._blocks, self._results = [], None, [], {}
        self._said = [(through, event.data["summary"]), *later]

    def _drop_thinking(self) -> None:
        self._past = [
            _without_thinking(turn) if isinstance(turn, AgentTurn) else turn for turn in self._past
        ]
        self._open = _without_thinking(self._open) if self._open else None


def complete_turns(events: Iterable[Event]) -> frozenset[int]:
    return frozenset(event.data["turn"] for event in events if event.kind is Kind.USAGE)


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
    if event.kind is Kind.CHILD:
        return delegation.news(event)
    if event.kind is not Kind.MESSAGE or event.data["role"] != "user" or "call_id" in event.data:
        return ()
    texts = (event.data.get("context", ""), event.data["text"])
    return tuple(text for text in texts if text.strip())


def _without_thinking(turn: AgentTurn) -> AgentTurn:
    if all(block.kind != "thinking" for block in turn.blocks):
        return turn
    return AgentTurn(tuple(block for block in turn.blocks if block.kind != "thinking"))


def _unknown(call: Block) -> Result:
    return Result(call.call_id, call.name, INTERRUPTED, is_error=True)


def seq_of(event: Event) -> int:
    if event.seq is None:
        raise ValueError("a conversation is built from recorded events")
    return event.seq
