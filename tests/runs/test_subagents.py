"""Subagents: child runs that a run starts by its agent tool, and what each of the two hears."""

from collections.abc import Sequence
from typing import Any

import pytest

from runs.models import Run, Subagent
from tests.runs.stage import Stage
from tests.runs.test_definitions import at_home, results
from tests.scripted import anthropic
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import ScriptedServer, serving

pytestmark = pytest.mark.django_db(transaction=True)

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


class PlayedServer:
    def __init__(self, stage: Stage, server: ScriptedServer) -> None:
        self.stage, self.serving = stage, serving(server)

    def __enter__(self) -> ScriptedServer:
        server = self.serving.__enter__()
        self.stage.connect("anthropic", server.url)
        return server

    def __exit__(self, *exc: Any) -> None:
        self.serving.__exit__(*exc)


@pytest.fixture
def family(plain: Stage) -> Family:
    at_home(plain, plain.cast.ada, ".fuxi/agents/scout.md", SCOUT)
    return Family(plain)


def test_a_run_starts_a_subagent_and_goes_on_with_its_result(family: Family) -> None:
    stage = family.stage
    parent = [
        Step(text="I ask the scout.", calls=[delegate(task="Where is the engine?")]),
        Step(text="The scout found it.", expect="In the cellar."),
    ]
    child = [Step(text="In the cellar.", expect="Where is the engine?")]
    with family.play(parent, ("You are a scout.", child)) as server:
        [run] = stage.say("@engineer where is the engine? SECRETWORD")
        assert stage.execute(run).waiting_for == "child"
        [born] = family.children()
        assert (born.state, born.parent_id) == ("queued", run.pk)
        done = family.settle(run)
    assert done.state == "succeeded"
    asked = [r for r in server.requests if "You are a scout." in str(r["system"])]
    assert "SECRETWORD" not in str(asked)
    [result] = results(stage, run)
    assert result.startswith("In the cellar.")
