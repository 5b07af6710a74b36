"""Sees when a model makes the same call again and again. Pure: a reading of the journal."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from harness.events import Event, Kind

CODE = "repetition"
POLLS = frozenset({"shell_output"})  # the same question, until its answer changes
STEER = (
    "You have made the same call {count} times in a row with the same arguments. It will not turn"
    " out differently. Think about why, and try another way or say what stops you."
)


@dataclass(frozen=True, slots=True)
class Streak:
    """The last tool calls in a row that are identical: how many, and whether we said so already."""

    count: int
    is_steered: bool


def streak(events: Sequence[Event], *, limit: int) -> Streak:
    """The streak at the end of the journal, counted up to `limit`. What a person says ends one."""
    results: dict[str, str] = {}
    count, last, is_steered = 0, "", False
    for event in reversed(events):
        if count >= limit:
            break
        if event.kind is Kind.TOOL_RESULT:
            results[event.data["call_id"]] = event.data["content"]
        elif event.kind is Kind.STEER and event.data.get("code") == CODE:
            is_steered = True
        elif event.kind in (Kind.MESSAGE, Kind.STEER):
            break
        elif event.kind is Kind.TOOL_CALL:
            key = _key(event, results.get(event.data["call_id"], ""))
            if last and key != last:
                break
            count, last = count + 1, key
    return Streak(count, is_steered and count > 0)


def _key(call: Event, result: str) -> str:
    name = call.data["name"]
    key = f"{name} {json.dumps(call.data['input'], sort_keys=True)}"
    return f"{key} {result}" if name in POLLS else key
