"""An adapter whose runs do what a test says, at the seam where every adapter stands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from harness import events
from harness.actions import ActionClass
from harness.adapters.base import Capabilities
from harness.adapters.builtin import BuiltIn
from harness.calls import OpenCall, open_calls
from harness.errors import Completed
from harness.events import Event, Kind
from harness.seam import Allow, Ask, Deny, GateCall, Ports, RunSpec


@dataclass
class Scene:
    """One attempt of a run, with the shortest way to each thing an adapter does."""

    spec: RunSpec
    history: Sequence[Event]
    ports: Ports

    @property
    def turn(self) -> int:
        return sum(event.kind is Kind.USAGE for event in self.history) + 1

    def record(self, *new: Event) -> int:
        last = self.ports.sink.record(*new)
        first = last - len(new) + 1
        self.history = [*self.history, *(e.at(seq) for seq, e in enumerate(new, first))]
        return last

    def write(self, text: str) -> int:
        """A model turn with only words."""
        return self.record(
            block(Kind.TEXT, self.turn, {"type": "text", "text": text}), self.usage()
        )

    def call(self, *ids: str, name: str = "bash", **given: Any) -> None:
        """A model turn that makes these calls."""
        calls = [
            tool_call(self.turn, index, call_id, name, given) for index, call_id in enumerate(ids)
        ]
        self.record(*calls, self.usage())

    def usage(self) -> Event:
        return usage(self.turn)

    def ask(self, call_id: str, command: str = "rm notes.txt", **more: Any) -> Allow | Ask | Deny:
        """What the gate says to a command that deletes a file; by default it asks."""
        return self.ports.gate.check(gate_call(call_id, command, **more))

    def asked(self, call_id: str, command: str = "rm notes.txt") -> str:
        """The gate asks, and the question stands in the journal. Returns the approval's id."""
        verdict = self.ask(call_id, command)
        assert isinstance(verdict, Ask), verdict
        self.record(events.asked(verdict.approval_id, call_id=call_id))
        return verdict.approval_id

    def start(self, call_id: str, name: str = "bash") -> None:
        self.record(Event(Kind.TOOL_START, {"call_id": call_id, "name": name}))

    def result(
        self, call_id: str, content: str = "done", name: str = "bash", **detail: Any
    ) -> None:
        self.record(tool_result(call_id, content, name=name, detail=detail))

    def standing(self, call_id: str) -> OpenCall:
        return next(call for call in open_calls(self.history) if call.call_id == call_id)


Play = Callable[[Scene], Any]


@dataclass
class Actor:
    """Each attempt plays the next scene; a scene that returns has completed the run."""

    scenes: list[Play] = field(default_factory=list)
    id: str = "actor"
    title: str = "Actor"
    capabilities: Capabilities = BuiltIn.capabilities

    def plays(self, *scenes: Play) -> None:
        self.scenes.extend(scenes)

    def run(self, spec: RunSpec, history: Sequence[Event], ports: Ports) -> NoReturn:
        scene = Scene(spec, history, ports)
        self.scenes.pop(0)(scene)
        raise Completed("Done.", seen=scene.history[-1].seq or 0 if scene.history else 0)


def block(kind: Kind, turn: int, block: Mapping[str, Any], index: int = 0, **more: Any) -> Event:
    data = {"block": dict(block), "provider": "anthropic", "turn": turn, "index": index, "seen": 0}
    return Event(kind, data | more)


def tool_call(turn: int, index: int, call_id: str, name: str, given: Mapping[str, Any]) -> Event:
    call = {"type": "tool_use", "id": call_id, "name": name, "input": dict(given)}
    return block(Kind.TOOL_CALL, turn, call, index, call_id=call_id, name=name, input=dict(given))


def tool_result(
    call_id: str,
    content: str,
    *,
    name: str = "bash",
    is_error: bool = False,
    detail: Mapping[str, Any] | None = None,
) -> Event:
    return Event(
        Kind.TOOL_RESULT,
        {
            "call_id": call_id,
            "name": name,
            "content": content,
            "is_error": is_error,
            "detail": dict(detail or {}),
            "duration_ms": 3,
        },
    )


def usage(turn: int, **tokens: int) -> Event:
    data: dict[str, Any] = {
        "turn": turn,
        "model": "claude-opus-5-5",
        "provider": "mine",
        "message_id": f"msg_{turn}",
        "stop_reason": "end",
        "input_tokens": 100,
        "output_tokens": 20,
        "cache_read_tokens": 5,
        "cache_write_tokens": 1,
        "cost_microusd": 700,
        "duration_ms": 9,
    }
    return Event(Kind.USAGE, data | tokens)


def gate_call(call_id: str, command: str, **more: Any) -> GateCall:
    return GateCall(
        call_id=call_id,
        tool="bash",
        classes=frozenset({ActionClass.PROCESS_SPAWN}),
        summary=f"Run {command}",
        input={"command": command},
        command=command,
        paths=None,
        hosts=None,
        refs=None,
        repositories=None,
        **more,
    )
