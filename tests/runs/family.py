"""A run and its children: scripts for each, and definitions at home."""

from collections.abc import Sequence
from typing import Any

from runs.models import Run, RunCursor, RunEvent, Subagent
from tests.runs.stage import Stage
from tests.runs.test_definitions import at_home
from tests.scripted import anthropic
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import ScriptedServer, serving

SCOUT = """---
name: scout
description: Looks around. Use PROACTIVELY for every question about the code.
tools: Read, Grep, Glob
---

You are a scout.
"""


def delegate(agent: str = "scout", task: str = "Look at it", **more: Any) -> Call:
    given = {"description": "Look", "prompt": task, "subagent_type": agent, **more}
    return Call("agent", given)


class Family:
    """A run and its children, with a script for each."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def children(self) -> list[Run]:
        with self.stage.cast.bound():
            rows = Run.objects.filter(parent__isnull=False).select_related("agent", "conversation")
            return list(rows.order_by("queued_at", "id"))

    def subagent(self, run: Run) -> Subagent:
        with self.stage.cast.bound():
            return Subagent.objects.get(run=run)

    def settle(self, run: Run) -> Run:
        """Executes whatever is queued of the family, as workers would, until nothing is."""
        for _round in range(40):
            with self.stage.cast.bound():
                queued = list(Run.objects.filter(state=Run.State.QUEUED).order_by("-queued_at"))
            if not queued:
                break
            for each in queued:
                self.stage.execute(each)
        return self.stage.fresh(run)

    def play(self, parent: Sequence[Step], *children: tuple[str, Sequence[Step]]) -> "PlayedServer":
        """A model with a script for the parent and one for each child, told apart by a text that
        stands in the child's requests."""
        scripts = [Script(steps, when=when) for when, steps in children]
        return PlayedServer(self.stage, anthropic.server(*scripts, Script(parent)))


def forget(stage: Stage, run: Run, *, kinds: tuple[str, ...]) -> None:
    """The end of the journal, from the first event of these kinds on, never came to its commit."""
    with stage.cast.bound():
        first = RunEvent.objects.filter(run=run, kind__in=kinds).order_by("seq")[0].seq
        RunEvent.objects.filter(run=run, seq__gte=first).delete()
        RunCursor.objects.filter(run=run).update(last_seq=first - 1)


class PlayedServer:
    def __init__(self, stage: Stage, server: ScriptedServer) -> None:
        self.stage, self.serving = stage, serving(server)

    def __enter__(self) -> ScriptedServer:
        server = self.serving.__enter__()
        self.stage.connect("anthropic", server.url)
        return server

    def __exit__(self, *exc: Any) -> None:
        self.serving.__exit__(*exc)


def only_child(family: Family) -> Run:
    [child] = family.children()
    return child


def text(agent: str, body: str = "", front: str = "") -> str:
    head = f"---\nname: {agent}\ndescription: About {agent}.\n{front}---"
    return f"{head}\n\n{body or f'You are {agent}.'}\n"


def told(server: ScriptedServer, who: str) -> list[dict[str, Any]]:
    """The requests of the agent whose system prompt has these words."""
    return [each for each in server.requests if who in str(each["system"])]


def bring(family: Family, name: str, body: str = "", front: str = "") -> None:
    """A definition in the home of the member who asks."""
    stage = family.stage
    at_home(stage, stage.cast.ada, f".fuxi/agents/{name}.md", text(name, body, front))
