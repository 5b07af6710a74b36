"""What a parent reads of a subagent that has ended."""

from typing import Any

import pytest

from harness import events
from harness.events import Event, Kind
from runs import reports
from tests.runs.acting import block, tool_call, usage


def words(text: str) -> Event:
    return block(Kind.TEXT, 1, {"type": "text", "text": text})


def broken(text: str) -> Event:
    return events.error({"source": "provider", "code": "auth", "text": text, "ends": True})


def told(journal: list[Event], state: str = "succeeded", **more: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"reason": "completed", "summary": "Found.", "seconds": 2.5} | more
    event = reports.ended(
        journal, run_id="r", call_id="c", agent="scout", state=state, background=False, **given
    )
    return dict(event.data)


@pytest.mark.req("QW-98", "JA-23")
def test_the_last_word_and_what_it_took() -> None:
    below = events.child(
        {
            "phase": "ended",
            "run_id": "x",
            "call_id": "y",
            "agent": "deep",
            "tokens": 1_000,
            "cost_microusd": 5,
        }
    )
    call = tool_call(1, 0, "t", "read", {"path": "x"})
    data = told([call, usage(1), below, words("Found."), usage(2)])
    assert data["result"] == "Found.\n\n(scout: 2 turns, 1 tool calls, 1,252 tokens, 2.5 s)"
    assert (data["turns"], data["calls"], data["tokens"]) == (2, 1, 1_252)
    assert data["cost_microusd"] == 1_405
    assert data["duration_ms"] == 2_500


@pytest.mark.req("FX-169", "FX-170", "FX-171")
def test_an_api_error_is_no_finding() -> None:
    failed = {"state": "failed", "reason": "api_error", "summary": "Overloaded."}
    early = told([broken("Overloaded.")], **failed)["result"]
    assert early.startswith("Agent terminated early due to an API error: Overloaded.")
    calls_only = [tool_call(1, 0, "t", "read", {}), usage(1), broken("Overloaded.")]
    assert told(calls_only, **failed)["result"].startswith("Agent terminated early due to an API")
    late = told([words("Half of it."), usage(1), broken("Overloaded.")], **failed)["result"]
    assert late.startswith("Half of it.\n\n(The agent was cut off by an API error")
    assert "did not finish: Overloaded." in late


@pytest.mark.req("FX-67")
def test_who_did_not_finish_says_why_and_what_was_last() -> None:
    spent = {"state": "failed", "reason": "max_turns", "summary": "All 3 turns are used."}
    text = told([words("I look."), usage(1)], **spent)["result"]
    assert text.startswith("The agent did not finish (max turns): All 3 turns are used.")
    assert "Its last words were:\n\nI look." in text
    assert told([], "succeeded", summary="  ")["result"].startswith(reports.NOTHING)


@pytest.mark.req("FX-74")
def test_what_was_kept_is_named_and_a_long_text_is_cut() -> None:
    data = told([], branches=["subagent/mason-1 in engine"])
    assert "kept in a worktree of its own: subagent/mason-1 in engine" in data["result"]
    assert data["branches"] == ["subagent/mason-1 in engine"]
    long = told([], summary="x" * 70_000)["result"]
    assert "10000 more characters" in long
