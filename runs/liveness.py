"""How healthy a run is, as one word: a pure rule over its facts."""

from dataclasses import dataclass

PRODUCTIVE_KINDS = frozenset({"text", "tool_result"})


@dataclass(frozen=True, slots=True)
class Health:
    """`silent_seconds` since the last output; `identical_calls` in a row; `ended_with` a reason."""

    state: str
    waiting_for: str = ""
    terminal_reason: str = ""
    has_output: bool = False
    silent_seconds: float = 0.0
    silence_limit_seconds: float = 900.0
    identical_calls: int = 0
    lease_is_gone: bool = False


def liveness(health: Health) -> str:
    """One of alive productive completed blocked empty looping failed stalled dead."""
    if health.state == "succeeded":
        return "completed" if health.has_output else "empty"
    if health.state == "failed":
        return _failure(health)
    if health.state == "cancelled":
        return "completed"
    if health.state == "parked":
        return "blocked" if health.waiting_for in {"approval", "person"} else "alive"
    if health.lease_is_gone:
        return "dead"
    if health.identical_calls >= 5:
        return "looping"
    if health.silent_seconds >= health.silence_limit_seconds:
        return "stalled"
    return "productive" if health.has_output else "alive"


def _failure(health: Health) -> str:
    if health.terminal_reason == "loop":
        return "looping"
    if health.terminal_reason == "silence":
        return "stalled"
    return "dead" if health.terminal_reason == "worker_lost" else "failed"
