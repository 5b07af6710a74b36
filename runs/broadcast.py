"""What a run does, seen in every open tab: events, state, presence.

An event of a run is rendered once for each locale that has readers; its number is the event's seq.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string

from harness.events import Event, Kind
from live import presence, publish, publish_rendered
from spaces import topics as space_topics
from spaces.models import Space
from workspaces.tenancy import bind

from . import topics, transcript
from .models import Run

PRESENCE: dict[str, presence.AgentState] = {
    Run.State.RUNNING: "running",
    Run.State.PARKED: "blocked",
    Run.State.SUCCEEDED: "done",
    Run.State.FAILED: "done",
    Run.State.CANCELLED: "done",
}


def events(run: Run, stored: Sequence[Event]) -> None:
    """After the commit the tabs on the run get the fragments of these events, in order."""
    topic = topics.run(run.workspace_id, run.pk)
    for event in stored:
        publish_rendered(
            topic,
            event.kind.value,
            lambda _locale, event=event: transcript.fragment(run, event),
            data=_block(run, event),
            n=event.seq,
        )


def state(run_id: UUID, workspace_id: UUID) -> None:
    """After the commit every place that shows the run's or its agent's state shows the new one."""

    def with_run(render: Any) -> Any:
        def inside(_locale: str) -> str:
            with bind(workspace_id):
                run = Run.objects.select_related("agent__principal", "conversation").get(pk=run_id)
                return render(run)

        return inside

    with_state = with_run(
        lambda run: render_to_string("runs/_run_state.html", {"run": run, "oob": True})
    )
    run = Run.objects.select_related("agent", "space").get(pk=run_id)
    conversation = space_topics.conversation(workspace_id, run.conversation_id)
    publish_rendered(conversation, "run_state", with_state)
    publish(topics.roster(workspace_id), "changed", data={"agent": str(run.agent_id)})
    publish(topics.runs(workspace_id), "changed", data={"run": str(run_id)})
    show_presence(run)


def started(run: Run) -> None:
    """After the commit the conversation shows the run, and its transcript can be followed."""
    run_id, workspace_id = run.pk, run.workspace_id

    def render(_locale: str) -> str:
        with bind(workspace_id):
            return transcript.run_block(run_id, oob=True)

    publish_rendered(space_topics.conversation(workspace_id, run.conversation_id), "run", render)
    publish(topics.runs(workspace_id), "changed", data={"run": str(run_id)})


def show_presence(run: Run) -> None:
    """The agent's place in the presence list follows its representative run."""
    word = PRESENCE.get(run.state)
    if word == "blocked" and run.waiting_for not in {"approval", "person"}:
        word = "running"
    if word:
        presence.set_agent(
            str(run.workspace_id),
            str(run.agent.principal_id),
            word,
            run=str(run.pk),
            started=int((run.started_at or run.queued_at).timestamp() * 1000),
            locus=space_topics.conversation(run.workspace_id, run.conversation_id),
            is_private=run.space.visibility == Space.Visibility.PRIVATE,
        )


def _block(run: Run, event: Event) -> dict[str, Any] | None:
    if event.kind in {Kind.TEXT, Kind.THINKING, Kind.TOOL_CALL}:
        return {"block": _name(run, event)}
    return None


def _name(run: Run, event: Event) -> str:
    return block_name(run.attempt, event.data["turn"], event.data["index"], event.kind.value)


def block_name(attempt: int, turn: int, index: int, kind: str) -> str:
    """The name of a growing block among the deltas of a run; an attempt never re-uses one."""
    return f"{attempt}.{turn}.{index}.{kind}"
