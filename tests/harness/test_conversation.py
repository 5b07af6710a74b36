"""Conversations read from journals: any prefix of any journal gives a valid one."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import compaction, conversation, events
from harness.calls import open_calls
from harness.conversation import GO_ON, INTERRUPTED, AgentTurn, Turn, UserTurn, build
from harness.events import Event, Kind
from harness.providers import anthropic, openai

CACHE = {"cache_read_tokens": 0, "cache_write_tokens": 0}


class Writer:
    """Writes journals as a run would, move by move."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.turn = 0
        self.open: list[str] = []

    def add(self, kind: Kind, **data: Any) -> None:
        self.events.append(Event(kind, data, len(self.events) + 1))

    def say(self, text: str = "hi") -> None:
        self.add(Kind.MESSAGE, role="user", text=text, author="ada")

    def steer(self, text: str = "careful") -> None:
        self.add(Kind.STEER, text=text)

    def model(self, calls: int = 0, *, text: str = "", ends: bool = True, seen: int = -1) -> None:
        """A model turn; one that does not end broke off."""
        self.turn += 1
        base = {
            "provider": "anthropic",
            "turn": self.turn,
            "seen": len(self.events) if seen < 0 else seen,
        }
        thinking = {"type": "thinking", "thinking": "t", "signature": f"s{self.turn}"}
        self.add(Kind.THINKING, block=thinking, index=0, **base)
        if text:
            self.add(Kind.TEXT, block={"type": "text", "text": text}, index=1, **base)
        made = [f"c{self.turn}_{n}" for n in range(calls)]
        for call_id in made:
            block = {"type": "tool_use", "id": call_id, "name": "read", "input": {}}
            self.add(
                Kind.TOOL_CALL, block=block, index=2, call_id=call_id, name="read", input={}, **base
            )
        if ends:
            self.add(Kind.USAGE, turn=self.turn, input_tokens=1, output_tokens=1, **CACHE)
            self.open = made

    def result(self, call_id: str) -> None:
        self.add(Kind.TOOL_START, call_id=call_id, name="read")
        self.add(
            Kind.TOOL_RESULT,
            call_id=call_id,
            name="read",
            content=f"result {call_id}",
            is_error=False,
        )
        self.open.remove(call_id)

    def settle(self) -> None:
        for call_id in list(self.open):
            self.result(call_id)

    def compact(self) -> None:
        event = compaction.compaction("summary", through=len(self.events), tokens_before=9)
        self.add(event.kind, **event.data)


MOVES = st.lists(
    st.sampled_from(
        ["say", "steer", "text", "call", "calls", "broken", "result", "asked", "drop", "prompt"]
        + ["compact"]
    ),
    max_size=25,
)


def write(moves: Sequence[str]) -> list[Event]:  # noqa: C901 - a table of moves
    writer = Writer()
    for move in moves:
        match move:
            case "say":
                writer.say()
            case "steer":
                writer.steer()
            case "result" if writer.open:
                writer.result(writer.open[0])
            case "asked" if writer.open:
                writer.add(Kind.APPROVAL, phase="asked", approval_id="a", call_id=writer.open[0])
            case "broken":
                writer.settle()
                writer.model(1, text="half", ends=False)
            case "text" | "call" | "calls":
                writer.settle()
                writer.model({"text": 0, "call": 1, "calls": 3}[move], text="t" * (move == "text"))
            case "drop":
                writer.add(Kind.NOTICE, text="", level="info", code=conversation.THINKING_DROPPED)
            case "prompt":
                writer.add(Kind.PROMPT, sections=[], model="m", mode="chat", tools=[])
            case "compact":
                writer.settle()
                writer.compact()
    return writer.events


@given(MOVES)
@settings(max_examples=150, deadline=None)
def test_every_prefix_of_a_journal_is_a_valid_conversation(moves: list[str]) -> None:
    journal = write(moves)
    for end in range(len(journal) + 1):
        turns = build(journal[:end])
        assert_shape(turns)
        assert_anthropic(turns)
        assert_openai(turns)


def assert_shape(turns: Sequence[Turn]) -> None:
    assert isinstance(turns[0], UserTurn)
    assert isinstance(turns[-1], UserTurn)
    for before, after in zip(turns, turns[1:], strict=False):
        assert isinstance(before, UserTurn) != isinstance(after, UserTurn)
        if isinstance(before, AgentTurn) and isinstance(after, UserTurn):
            assert [r.call_id for r in after.results] == [c.call_id for c in before.calls]
    assert not turns[0].results
    assert all(not isinstance(t, UserTurn) or t.results or t.texts for t in turns)


def assert_anthropic(turns: Sequence[Turn]) -> None:
    for turn in turns:
        message = anthropic._message(turn)
        assert message["content"], "an empty message is refused"
        assert message["role"] == ("user" if isinstance(turn, UserTurn) else "assistant")


def assert_openai(turns: Sequence[Turn]) -> None:
    waiting: list[str] = []
    for message in [m for turn in turns for m in openai._messages(turn)]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting, "every call is answered before anything else is said"
            waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert not waiting


@given(MOVES)
@settings(max_examples=100, deadline=None)
def test_reading_event_by_event_gives_the_same_and_only_grows(moves: list[str]) -> None:
    journal = write(moves)
    kept = conversation.Conversation()
    for end, event in enumerate(journal, 1):
        before = kept.turns()[:-1]
        kept.take(event)
        assert kept.turns() == build(journal[:end])
        if event.kind not in (Kind.COMPACTION, Kind.PROMPT, Kind.NOTICE):
            assert kept.turns()[: len(before)] == before, "what the model has read stays as it was"


@given(MOVES)
@settings(max_examples=100, deadline=None)
def test_a_call_is_open_exactly_as_long_as_it_has_no_result(moves: list[str]) -> None:
    journal = write(moves)
    for end in range(len(journal) + 1):
        prefix = journal[:end]
        complete = conversation.complete_turns(prefix)
        done = {e.data["call_id"] for e in prefix if e.kind is Kind.TOOL_RESULT}
        made = [
            e.data["call_id"]
            for e in prefix
            if e.kind is Kind.TOOL_CALL and e.data["turn"] in complete
        ]
        assert [call.call_id for call in open_calls(prefix)] == [c for c in made if c not in done]


# The rules one by one


def texts(turn: Turn) -> tuple[str, ...]:
    assert isinstance(turn, UserTurn)
    return turn.texts


def test_what_was_said_while_the_model_wrote_comes_after_its_turn() -> None:
    writer = Writer()
    writer.say("go")
    writer.model(1, seen=1)
    writer.events.insert(1, Event(Kind.STEER, {"text": "stop"}, 2))
    writer.events = [event.at(seq) for seq, event in enumerate(writer.events, 1)]
    turns = build(writer.events)
    assert texts(turns[0]) == ("go",)
    assert texts(turns[2]) == ("stop",)


def test_a_turn_that_broke_off_was_never_said() -> None:
    writer = Writer()
    writer.say("go")
    writer.model(text="half a", ends=False)
    assert build(writer.events) == (UserTurn((), ("go",)),)


def test_a_call_without_result_reads_as_interrupted() -> None:
    writer = Writer()
    writer.say()
    writer.model(1)
    last = build(writer.events)[-1]
    assert isinstance(last, UserTurn)
    assert last.results[0].content == INTERRUPTED
    assert last.results[0].is_error


def test_a_finished_run_that_goes_on_is_told_to() -> None:
    writer = Writer()
    writer.say()
    writer.model(text="Done.")
    assert texts(build(writer.events)[-1]) == (GO_ON,)


def test_context_comes_before_the_message_it_belongs_to() -> None:
    event = events.message("go", context="Earlier: hello").at(1)
    assert texts(build([event])[0]) == ("Earlier: hello", "go")


def test_a_new_prompt_leaves_older_thinking_out() -> None:
    writer = Writer()
    writer.say()
    writer.model(1)
    writer.settle()
    writer.add(Kind.PROMPT, sections=[], model="m", mode="plan", tools=[])
    writer.model(text="Planned.")
    kinds = [[b.kind for b in turn.blocks] for turn in build(writer.events)[1::2]]  # type: ignore[union-attr]
    assert kinds == [["tool_call"], ["thinking", "text"]]


def test_a_compaction_stands_for_what_was_before_and_keeps_what_came_after() -> None:
    writer = Writer()
    writer.say("long ago")
    writer.model(1)
    writer.settle()
    writer.compact()
    writer.steer("since then")
    (turn,) = build(writer.events)
    assert texts(turn) == (f"{compaction.HEAD}\n\nsummary", "since then")


# Where calls stand


def decided(decision: str) -> dict[str, Any]:
    return {"phase": "decided", "approval_id": "a", "call_id": "c1_0", "decision": decision}


@pytest.mark.parametrize(
    ("history", "standing"),
    [
        ([], "new"),
        ([(Kind.TOOL_START, {})], "interrupted"),
        ([(Kind.APPROVAL, {"phase": "asked", "approval_id": "a"})], "waiting"),
        (
            [(Kind.TOOL_START, {}), (Kind.APPROVAL, {"phase": "asked", "approval_id": "a"})],
            "waiting",
        ),
        (
            [
                (Kind.APPROVAL, {"phase": "asked", "approval_id": "a"}),
                (Kind.APPROVAL, decided("allow")),
            ],
            "decided",
        ),
        ([(Kind.APPROVAL, decided("allow")), (Kind.TOOL_START, {})], "interrupted"),
        ([(Kind.MESSAGE, {"role": "agent", "text": "?"})], "waiting"),
        (
            [
                (Kind.MESSAGE, {"role": "agent", "text": "?"}),
                (Kind.MESSAGE, {"role": "user", "text": "!"}),
            ],
            "answered",
        ),
        (
            [
                (Kind.MESSAGE, {"role": "agent", "text": "?"}),
                (Kind.STEER, {"text": "!", "author": "ada"}),
            ],
            "answered",
        ),
        (
            [
                (Kind.MESSAGE, {"role": "agent", "text": "?"}),
                (Kind.STEER, {"text": "!", "code": "repetition"}),
            ],
            "waiting",
        ),
        ([(Kind.CHILD, {"phase": "started", "run_id": "r"})], "waiting"),
        (
            [
                (Kind.CHILD, {"phase": "started", "run_id": "r"}),
                (Kind.CHILD, {"phase": "ended", "run_id": "r"}),
            ],
            "answered",
        ),
        ([(Kind.TOOL_START, {}), (Kind.SANDBOX_VIOLATION, {"text": "no"})], "interrupted"),
    ],
)
def test_where_a_call_stands(history: list[tuple[Kind, dict[str, Any]]], standing: str) -> None:
    writer = Writer()
    writer.say()
    writer.model(1)
    for kind, data in history:
        named = {} if kind is Kind.STEER else {"call_id": "c1_0"}
        writer.add(kind, **{**named, **data})
    (call,) = open_calls(writer.events)
    assert call.standing == standing
