"""Shortens a conversation that no longer fits: a summary takes the place of what came before."""

from collections.abc import Sequence

from harness.conversation import seq_of
from harness.events import CompactionData, Event, Kind
from harness.text import one_line

ASK = """\
The conversation no longer fits and will be replaced by your summary. Write everything that \
whoever goes on needs, and nothing else: what was asked, in its own words where they matter; what \
was decided and why; what was done, with the paths, commands and commits; what was found; what \
failed; what is left, with the very next step. Do not call tools."""
HEAD = "The conversation before this point was shortened. What you need of it:"
REQUEST_SHOWN = 4_000
RESULT_SHOWN = 160
CALLS_SHOWN = 120
TEXTS_SHOWN = 3


def compaction(summary: str, *, through: int, tokens_before: int) -> Event:
    data: CompactionData = {
        "through": through,
        "summary": f"{HEAD}\n\n{summary}",
        "tokens_before": tokens_before,
    }
    return Event(Kind.COMPACTION, data)


def requests(events: Sequence[Event]) -> str:
    """What people asked, word for word as far as it is not endless."""
    said = [e.data for e in events if e.kind is Kind.MESSAGE and e.data["role"] == "user"]
    lines = [f"@{data.get('author') or 'someone'}: {_cut(data['text'])}" for data in said]
    return "What was asked:\n\n" + "\n\n".join(lines) if lines else ""


def digest(events: Sequence[Event]) -> str:
    """A summary without a model: what was asked, which calls were made, what was said last."""
    before = next((e for e in reversed(events) if e.kind is Kind.COMPACTION), None)
    since = seq_of(before) if before else 0
    recent = [event for event in events if seq_of(event) > since]
    parts = [before.data["summary"] if before else requests(events), _calls(recent), _texts(recent)]
    return "\n\n".join(part for part in parts if part)


def _calls(events: Sequence[Event]) -> str:
    results = {e.data["call_id"]: e.data for e in events if e.kind is Kind.TOOL_RESULT}
    calls = [event.data for event in events if event.kind is Kind.TOOL_CALL]
    lines = [f"({len(calls) - CALLS_SHOWN} earlier calls)"] if len(calls) > CALLS_SHOWN else []
    for call in calls[-CALLS_SHOWN:]:
        result = results.get(call["call_id"])
        end = "no result" if result is None else one_line(result["content"], RESULT_SHOWN)
        lines.append(f"- {call['name']} {one_line(str(call['input']), RESULT_SHOWN)} → {end}")
    return "Calls made so far:\n" + "\n".join(lines) if lines else ""


def _texts(events: Sequence[Event]) -> str:
    texts = [e.data["block"].get("text", "") for e in events if e.kind is Kind.TEXT]
    last = [_cut(text) for text in texts[-TEXTS_SHOWN:] if text.strip()]
    return "What you said last:\n" + "\n\n".join(last) if last else ""


def _cut(text: str) -> str:
    return text if len(text) <= REQUEST_SHOWN else f"{text[:REQUEST_SHOWN]}…"
