"""Which adapters there are, and what each of them can do."""

from functools import cache

from harness.adapters.base import Adapter, Capabilities
from harness.adapters.builtin import BuiltIn

NONE = Capabilities(
    subagents=False,
    steering=False,
    pause=False,
    structural_modes=False,
    gates_all_tools=False,
    gates_shell=False,
    gates_mcp=False,
    resumable=False,
    usage=False,
)


class UnknownAdapter(LookupError):
    """An agent names an adapter that this instance does not have."""


@cache
def registry() -> dict[str, Adapter]:
    """Every adapter by its id."""
    return {adapter.id: adapter for adapter in (BuiltIn(),)}


def adapter_of(adapter_id: str) -> Adapter:
    """Raises UnknownAdapter."""
    found = registry().get(adapter_id)
    if found is None:
        raise UnknownAdapter(f"This instance has no adapter called {adapter_id!r}.")
    return found


def capabilities_of(adapter_id: str) -> Capabilities:
    """What the adapter can do; an adapter that is gone can do nothing."""
    found = registry().get(adapter_id)
    return found.capabilities if found else NONE
