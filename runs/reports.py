"""What a parent reads of a subagent that has ended: its last word, or why there is none. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness import events
from harness.events import Event, Kind

MOST_CHARACTERS = 60_000
NOTHING = "The agent ended without a word."
EARLY = "Agent terminated early due to an API error: {why}"
CUT = "{text}\n\n(The agent was cut off by an API error and did not finish: {why})"
STOPPED = "The agent did not finish ({reason}): {why}"
LAST = "Its last words were:\n\n{text}"


def ended(
    journal: Sequence[Event],
    *,
    run_id: str,
    call_id: str,
    agent: str,
    state: str,
    reason: str,
    summary: str,
    seconds: float,
    background: bool,
    branches: Sequence[str] = (),
) -> Event:
    """The event for the parent's journal, with the counts of the child and of its own children."""
    spent = [e.data for e in journal if e.kind is Kind.USAGE]
    below = [e.data for e in journal if e.kind is Kind.CHILD and e.data["phase"] == "ended"]
    data: events.ChildData = {
        "phase": "ended",
        "run_id": run_id,
        "call_id": call_id,
        "agent": agent,
        "state": state,
        "reason": reason,
        "turns": len(spent),
        "calls": sum(e.kind is Kind.TOOL_CALL for e in journal),
        "tokens": sum(_tokens(each) for each in spent) + sum(int(e["tokens"]) for e in below),
        "cost_microusd": sum(int(each.get("cost_microusd") or 0) for each in (*spent, *below)),
        "duration_ms": round(seconds * 1000),
    }
    if background:
        data["background"] = True
    if branches:
        data["branches"] = list(branches)
    parts = [_result(journal, state=state, reason=reason, summary=summary)]
    if branches:
        parts.append(_kept(branches))
    parts.append(_counts(data))
    data["result"] = "\n\n".join(parts)
    return events.child(data)


def _result(journal: Sequence[Event], *, state: str, reason: str, summary: str) -> str:
    if state == "succeeded":
        return _fit(summary.strip()) or NOTHING
    last = _last_words(journal)
    if any(e.kind is Kind.ERROR and _ends_by_provider(e.data) for e in journal):
        return CUT.format(text=last, why=summary) if last else EARLY.format(why=summary)
    said = STOPPED.format(reason=reason.replace("_", " "), why=summary)
    return f"{said}\n\n{LAST.format(text=last)}" if last else said


def _last_words(journal: Sequence[Event]) -> str:
    texts = (e.data["block"].get("text", "") for e in reversed(journal) if e.kind is Kind.TEXT)
    return _fit(next((str(text).strip() for text in texts if str(text).strip()), ""))


def _ends_by_provider(error: Mapping[str, Any]) -> bool:
    return error["source"] == "provider" and bool(error.get("ends"))


def _kept(branches: Sequence[str]) -> str:
    listed = ", ".join(branches)
    return f"Its changes are kept in a worktree of its own: {listed}. Merge them if they are good."


def _counts(data: events.ChildData) -> str:
    return (
        f"({data['agent']}: {data['turns']} turns, {data['calls']} tool calls,"
        f" {data['tokens']:,} tokens, {data['duration_ms'] / 1000:.1f} s)"
    )


def _tokens(usage: Mapping[str, Any]) -> int:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    return sum(int(usage.get(name) or 0) for name in names)


def _fit(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n[… {len(text) - MOST_CHARACTERS} more characters]"
