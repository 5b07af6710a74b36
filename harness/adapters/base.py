"""The adapter interface and its capability record."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

from harness.events import Event
from harness.seam import Ports, RunSpec


@dataclass(frozen=True)
class Capabilities:
    """What an adapter can do and what of it is gated; shown as it is, never embellished."""

    subagents: bool
    steering: bool
    pause: bool
    structural_modes: bool
    gates_all_tools: bool
    gates_shell: bool
    gates_mcp: bool
    resumable: bool
    usage: bool


class Adapter(Protocol):
    id: str
    title: str
    capabilities: Capabilities

    def run(self, spec: RunSpec, history: Sequence[Event], ports: Ports) -> NoReturn:
        """Executes the run from where its journal ends.

        `history` is the whole journal in order of seq, with what people added. Never returns:
        raises a `harness.errors.RunEnded` after everything worth keeping was recorded. Any other
        exception is a bug of ours.
        """
        ...
