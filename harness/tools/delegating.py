"""The agent tool: hands a task to a subagent, which works in a conversation of its own."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, Field

from harness import delegation, events
from harness.seam import ChildBegun, ChildWish, NoChild, ToolSchema
from harness.tools.base import Output, Plan, Tool, ToolInput, ToolProblem, Waiting, Workbench
from outside.sentences import phrase

UNKNOWN_HERE = "This run cannot start subagents; do the work yourself."


class AgentInput(ToolInput):
    description: Annotated[
        str, Field(min_length=1, max_length=300, description="The task in three to five words")
    ]
    prompt: Annotated[
        str,
        Field(min_length=1, max_length=200_000, description="The whole task; it sees nothing else"),
    ]
    subagent_type: Annotated[
        str,
        Field(
            max_length=200,
            description="Name from the list; left out: the general one",
            validation_alias=AliasChoices("subagent_type", "agent", "name"),
        ),
    ] = ""
    model: Annotated[
        str, Field(max_length=300, description="Another model for this one task; usually left out")
    ] = ""
    run_in_background: Annotated[
        bool | None, Field(description="Go on meanwhile; its result comes as a message")
    ] = None
    isolation: Annotated[
        Literal["", "worktree"],
        Field(description="worktree: a copy of the repositories of its own"),
    ] = ""


class Agent(Tool[AgentInput]):
    name: ClassVar[str] = "agent"
    description: ClassVar[str] = (
        "Start a subagent: another agent that works on one task in a context of its own and gives"
        " back only its result. Use it to explore an unknown code base, to look at several things"
        " at once (calls in one turn run side by side), or for a piece of work whose details you do"
        " not need. It does not see this conversation, so its prompt must hold everything it"
        " has to know and say what to give back. It costs tokens of its own: do small things"
        " yourself. When a person names an agent of the list, or one is described as to be used"
        " proactively for what is asked, start that one."
    )
    # The child of a call is begun once, however often the call is made.
    safe_to_repeat: ClassVar[bool] = True
    input_type = AgentInput

    def plan(self, given: AgentInput, bench: Workbench) -> Plan:
        words = phrase("Start the subagent %(agent)s: %(task)s")
        return Plan(words % {"agent": given.subagent_type or "…", "task": given.description})

    def run(self, given: AgentInput, bench: Workbench, call_id: str) -> Output:
        wish = ChildWish(
            call_id=call_id,
            description=given.description,
            prompt=given.prompt,
            agent=given.subagent_type.strip(),
            model=given.model.strip(),
            background=given.run_in_background,
            isolation=given.isolation,
        )
        return start(wish, bench)

    def described(self, bench: Workbench) -> ToolSchema:
        """The schema with the agents that may be started now."""
        types = bench.nursery.types() if bench.nursery else ()
        text = f"{self.description}\n\nAgents:\n{delegation.listed(types)}"
        return ToolSchema(self.name, text, self.schema.input_schema)


def start(wish: ChildWish, bench: Workbench) -> Output:
    """Begins the child. Raises Waiting until it has ended, unless it works in the background."""
    if bench.nursery is None:
        raise ToolProblem(UNKNOWN_HERE)
    try:
        begun = bench.nursery.begin(wish)
    except NoChild as problem:
        raise ToolProblem(str(problem)) from problem
    if not begun.background:
        raise Waiting(_started(wish, begun))
    text = (
        f"{begun.agent} works in the background as {begun.run_id}. Go on with something else; its"
        " result comes as a message by itself. Do not ask for it and do not guess it."
    )
    return Output(text, detail={"child": begun.run_id}, tells=(_started(wish, begun),))


def outcome(child: Mapping[str, Any]) -> Output:
    """The result of a call whose child has ended."""
    content = str(child.get("result") or "(It said nothing.)")
    return Output(
        content, is_error=child.get("state") != "succeeded", detail={"child": child["run_id"]}
    )


def _started(wish: ChildWish, begun: ChildBegun) -> events.Event:
    data: events.ChildData = {
        "phase": "started",
        "run_id": begun.run_id,
        "call_id": wish.call_id,
        "agent": begun.agent,
        "description": wish.description,
        "model": begun.model,
    }
    if begun.background:
        data["background"] = True
    return events.child(data)
