"""What a run does, seen in every open tab: events, state, presence.

An event of a run is rendered once for each locale that has readers; its number is the event's seq.
"""

import os
from collections.abc import Sequence
from functools import cache, partial
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string

from harness.events import Event, Kind
from live import Numbered, presence, publish, publish_rendered, publish_series
from live.publish import after_commit
from spaces import topics as space_topics
from spaces.models import Space
from workspaces.tenancy import bind

from . import topics, transcript, window
from .models import Run
from .speaker import Speaker, Taken
from .transcript import OF_A_CALL, UNSHOWN, Calls, Entry

PRESENCE: dict[str, presence.AgentState] = {
    Run.State.RUNNING: "running",
    Run.State.PARKED: "blocked",
    Run.State.SUCCEEDED: "done",
    Run.State.FAILED: "done",
    Run.State.CANCELLED: "done",
}


def events(run: Run, stored: Sequence[Event], *, calls: Calls | None = None) -> None:
    """After the commit the tabs on the run get the fragments of these events, in order.

    `calls` are of the run's executor, who has taken all events before these and does not wait
    until the tabs have been told.
    """
    taken = [(event, calls.take(event) if calls else None) for event in stored]
    if calls:
        after_commit(partial(speaker().say, run, taken))
    else:
        _tell(run, taken)


def speaker() -> Speaker:
    """The one of this process; a forked child has none yet."""
    return _speaker(os.getpid())


@cache
def _speaker(process: int) -> Speaker:
    return Speaker(_tell)


def _tell(run: Run, taken: Sequence[Taken]) -> None:
    shows = {_call_of(event, entry): event for event, entry in reversed(taken)}
    last = {_call_of(event, entry): event for event, entry in taken}
    series = []
    for event, entry in taken:
        call = _call_of(event, entry)
        # A call that is new here shows all of itself; of an older one the last event does.
        new = shows[call] if shows[call].kind is Kind.TOOL_CALL else last[call]
        is_shown = event.kind not in UNSHOWN and (not call or event is new)
        series.append(
            Numbered(
                n=event.seq or 0,
                kind=event.kind.value,
                render=partial(_fragment, run, event, entry) if is_shown else None,
                data=_block(run, event, entry),
            )
        )
    publish_series(topics.run(run.workspace_id, run.pk), series)


def _call_of(event: Event, entry: Entry | None) -> str:
    """The call in whose entry the event shows itself; empty for all else."""
    if event.kind in OF_A_CALL or (event.kind is Kind.TOOL_CALL and entry is not None):
        return str(event.data.get("call_id", ""))
    return ""


def _fragment(run: Run, event: Event, entry: Entry | None, _locale: str) -> str:
    return transcript.fragment(run, event, entry)


def state(run_id: UUID, workspace_id: UUID) -> None:
    """After the commit every place that shows the run's or its agent's state shows the new one."""

    def render(_locale: str) -> str:
        with bind(workspace_id):
            return render_to_string("runs/_run_state.html", {"run": _fresh(run_id), "oob": True})

    run = _fresh(run_id)
    conversation = space_topics.conversation(workspace_id, run.conversation_id)
    publish_rendered(conversation, "run_state", render)
    publish(topics.roster(workspace_id), "changed", data={"agent": str(run.agent_id)})
    publish(topics.runs(workspace_id), "changed", data={"run": str(run_id)})
    show_presence(run)


def started(run: Run) -> None:
    """After the commit the conversation shows the run, and its transcript can be followed."""
    run_id, workspace_id = run.pk, run.workspace_id

    def render(_locale: str) -> str:
        with bind(workspace_id):
            shown = window.context(window.shown_runs().get(pk=run_id), window.read(run_id))
            return render_to_string("runs/_run.html", shown | {"oob": True})

    publish_rendered(space_topics.conversation(workspace_id, run.conversation_id), "run", render)
    publish(topics.roster(workspace_id), "changed", data={"agent": str(run.agent_id)})
    publish(topics.runs(workspace_id), "changed", data={"run": str(run_id)})


def child_started(run: Run) -> None:
    """After the commit the lists of runs have the child; the conversation shows it at its call."""
    publish(topics.runs(run.workspace_id), "changed", data={"run": str(run.pk)})


def show_presence(run: Run, word: presence.AgentState | None = None) -> None:
    """The agent's place in the presence list follows its representative run.

    The fence orders the news: what a former holder still says changes nothing.
    """
    word = word or _presence_of(run)
    if word is None:
        return
    presence.set_agent(
        str(run.workspace_id),
        str(run.agent.principal_id),
        word,
        run=str(run.pk),
        started=int((run.started_at or run.queued_at).timestamp() * 1000),
        locus=space_topics.conversation(run.workspace_id, run.conversation_id),
        is_private=run.space.visibility == Space.Visibility.PRIVATE,
        seq=run.fence,
    )


def _presence_of(run: Run) -> presence.AgentState | None:
    if run.state == Run.State.PARKED and run.waiting_for == Run.WaitingFor.CHILD:
        return "running"
    return PRESENCE.get(run.state)


def _fresh(run_id: UUID) -> Run:
    rows = Run.objects.select_related(
        "agent__principal", "conversation", "space", "workspace", "subagent"
    )
    run: Run = rows.get(pk=run_id)
    return run


def _block(run: Run, event: Event, entry: Entry | None) -> dict[str, Any] | None:
    """The growing block that this event replaces."""
    if event.kind in {Kind.TEXT, Kind.THINKING, Kind.TOOL_CALL}:
        name, place = event.kind.value, event.data
    elif event.kind is Kind.TOOL_RESULT and entry is not None:
        name, place = "output", entry.data
    else:
        return None
    return {"block": block_name(run.attempt, place["turn"], place["index"], name)}


def block_name(attempt: int, turn: int, index: int, kind: str) -> str:
    """The name of a growing block among the deltas of a run; an attempt never re-uses one."""
    return f"{attempt}.{turn}.{index}.{kind}"
