"""What a scripted model says: steps, written in Python or read from JSON.

    Script([
        Step(text="Let me look.", calls=[Call("read", {"path": "README.md"})]),
        Step(first=["429", "close"], text="Done."),
    ])

`first` are faults served before the step itself, one a call:

    401 403 404 400 overflow 429 500 529   an error answer in the provider's own shape
    close     the connection breaks in the middle of a block
    cut       the stream ends cleanly, but before its end
    silent    headers, then nothing until the client goes away
    mute      nothing at all until the client goes away
    garbage   an event whose data is no JSON
    event …   an event with this data, then the end
    html      status 200 and a web page: not this protocol
    refusal   the model declines (only where the protocol can say so)

`hold` names a gate: after the first piece of text the answer waits until `release(name)`.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class Call:
    name: str
    input: Mapping[str, Any]
    id: str = ""
    raw: str | None = None  # sent instead of the input's JSON: a broken model


@dataclass(frozen=True)
class Step:
    text: str = ""
    calls: Sequence[Call] = ()
    thinking: str = ""
    first: Sequence[str] = ()
    expect: str = ""  # must occur in the request's JSON
    expect_tools: Sequence[str] = ()  # must all be offered
    absent_tools: Sequence[str] = ()  # must not be offered
    stop: str = ""  # stop reason other than the natural one, e.g. max_tokens
    pause_seconds: float = 0.0  # between pieces
    pieces: int = 1  # of the text
    hold: str = ""
    again: bool = False  # with by_turn: may be asked for more than once (a killed worker does)
    retry_after: str = "0"
    usage: Mapping[str, int] = field(default_factory=dict)  # input, output, cache_read, cache_write

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        calls = [Call(**call) for call in data.get("calls", ())]
        return cls(**{**data, "calls": calls})


class Unexpected(AssertionError):  # reads as what it is
    """The server was asked something its script does not know."""


@dataclass(frozen=True)
class Answer:
    """What one HTTP request gets: a fault, or the step itself."""

    step: Step
    fault: str = ""


class Script:
    """Thread-safe. Steps are served in order; with `by_turn` by the number of past model turns.

    `by_turn` is for runs that are killed and taken up again: the same question gets the same
    answer. `when` lets several conversations share a server: the script answers only requests
    whose JSON contains it.
    """

    def __init__(self, steps: Sequence[Step], *, when: str = "", by_turn: bool = False) -> None:
        self.steps = list(steps)
        self.when = when
        self.by_turn = by_turn
        self._next = 0
        self._faults = [list(step.first) for step in self.steps]
        self._served = [0] * len(self.steps)
        self._lock = threading.Lock()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        steps = [Step.from_json(step) for step in data["steps"]]
        return cls(steps, when=data.get("when", ""), by_turn=data.get("by_turn", False))

    def answer(self, request: str, *, past_turns: int, tools: Sequence[str]) -> Answer:
        with self._lock:
            index = past_turns if self.by_turn else self._next
            if index >= len(self.steps):
                raise Unexpected(f"call {index + 1} of a script with {len(self.steps)} steps")
            step = self.steps[index]
            _check(step, index, request, tools)
            if self._faults[index]:
                return Answer(step, self._faults[index].pop(0))
            if self._served[index] and not step.again:
                raise Unexpected(f"step {index + 1} was asked for again")
            self._served[index] += 1
            self._next = index + 1
            return Answer(step)

    def unused(self) -> list[int]:
        """Numbers, from 1, of the steps that nobody asked for."""
        return [number for number, served in enumerate(self._served, 1) if not served]


def _check(step: Step, index: int, request: str, tools: Sequence[str]) -> None:
    if step.expect and step.expect not in request:
        raise Unexpected(f"step {index + 1} expects {step.expect!r} in the request")
    if missing := set(step.expect_tools) - set(tools):
        raise Unexpected(f"step {index + 1} expects the tools {sorted(missing)}")
    if extra := set(step.absent_tools) & set(tools):
        raise Unexpected(f"step {index + 1} must not be offered {sorted(extra)}")


def load(path: Path) -> list[Script]:
    """Scripts of a JSON file: one script object, a list of them, or a bare list of steps."""
    data = json.loads(path.read_text())
    if isinstance(data, dict):
        return [Script.from_json(data)]
    if data and "steps" in data[0]:
        return [Script.from_json(script) for script in data]
    return [Script([Step.from_json(step) for step in data])]


def counted(turns: int, *, tool: str, input: Mapping[str, Any]) -> Script:
    """A conversation of `turns` tool calls and a last word; for benches."""
    steps = [Step(calls=[Call(tool, input)], again=True) for _ in range(turns)]
    return Script([*steps, Step(text="done", again=True)], by_turn=True)
