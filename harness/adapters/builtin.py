"""Control Center (built-in): the loop inside the server, with no CLI to install."""

from collections.abc import Sequence
from typing import NoReturn

from harness import loop
from harness.adapters.base import Capabilities
from harness.events import Event
from harness.seam import BUILT_IN_ADAPTER, Ports, RunSpec


class BuiltIn:
    id = BUILT_IN_ADAPTER
    title = "Control Center (built-in)"
    capabilities = Capabilities(
        subagents=True,
        steering=True,
        pause=True,
        structural_modes=True,
        gates_all_tools=True,
        gates_shell=True,
        gates_mcp=False,
        resumable=True,
        usage=True,
    )

    def run(self, spec: RunSpec, history: Sequence[Event], ports: Ports) -> NoReturn:
        loop.run(spec, history, ports)
