"""Agent definitions: which there are, and a new one for the library of the member who asks."""

from typing import Annotated, ClassVar

from pydantic import Field

from harness.actions import ActionClass
from harness.diffs import counts, unified
from harness.seam import DefinitionKept, DefinitionWish, NotKept
from harness.tools.base import Output, Plan, Tool, ToolInput, ToolProblem, Workbench
from outside.sentences import phrase

LISTED = 200
DESCRIBED = 300  # characters


class ListAgentsInput(ToolInput):
    pass


class ListAgents(Tool[ListAgentsInput]):
    name: ClassVar[str] = "list_agents"
    description: ClassVar[str] = (
        "List the agent definitions that can be used here, as they stand in the repositories and"
        " the library at this moment. Those that you may start yourself are listed with the agent"
        " tool, if you have it; a person begins a conversation with the others."
    )
    safe_to_repeat: ClassVar[bool] = True
    input_type = ListAgentsInput

    def plan(self, given: ListAgentsInput, bench: Workbench) -> Plan:
        return Plan(phrase("Look at the team"))

    def run(self, given: ListAgentsInput, bench: Workbench, call_id: str) -> Output:
        found = bench.catalog.definitions() if bench.catalog else ()
        lines = [
            f"- {each.name} ({each.origin}): {' '.join(each.description.split())[:DESCRIBED]}"
            for each in found[:LISTED]
        ]
        if len(found) > LISTED:
            lines.append(f"({len(found) - LISTED} more are not listed.)")
        return Output("\n".join(lines) or "There are no agent definitions here.")


class WriteDefinitionInput(ToolInput):
    name: Annotated[
        str,
        Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$", description="Small letters and hyphens"),
    ]
    description: Annotated[
        str, Field(min_length=1, max_length=1_000, description="When to delegate to it")
    ]
    prompt: Annotated[
        str,
        Field(
            min_length=1,
            max_length=100_000,
            description="Its whole system prompt: what it is, how it works, what it gives back",
        ),
    ]
    tools: Annotated[
        list[str] | None,
        Field(
            max_length=100,
            description="The only tools it has, as Read, Grep, Glob, Bash, Edit, Write; left out:"
            " all. One that must change nothing has Read, Grep, Glob",
        ),
    ] = None
    disallowed_tools: Annotated[
        list[str] | None, Field(max_length=100, description="Tools that it does not have")
    ] = None
    model: Annotated[
        str, Field(max_length=300, description="As sonnet, opus, haiku, an id; left out: the same")
    ] = ""
    replace: Annotated[
        bool, Field(description="Write over the file that the person already has of this name")
    ] = False


class WriteDefinition(Tool[WriteDefinitionInput]):
    name: ClassVar[str] = "write_definition"
    description: ClassVar[str] = (
        "Write an agent definition into the library of the person who asks for one: a file"
        " ~/.fuxi/agents/<name>.md, which their conversations can start as a subagent from then on."
        " Use it when somebody asks you to make a subagent or a custom agent for themselves. It"
        " makes no colleague: those are made by people. One for everybody who works on a repository"
        " is an ordinary file in its .fuxi/agents/."
    )
    classes: ClassVar[frozenset[ActionClass]] = frozenset(
        {ActionClass.FILE_WRITE_OUTSIDE_WORKTREE, ActionClass.WORKSPACE_MUTATION}
    )
    mutates: ClassVar[bool] = True
    safe_to_repeat: ClassVar[bool] = True
    input_type = WriteDefinitionInput

    def plan(self, given: WriteDefinitionInput, bench: Workbench) -> Plan:
        words = phrase("Write the agent definition %(name)s into the library of who asked")
        path = f"~/.fuxi/agents/{given.name}.md"
        return Plan(words % {"name": given.name}, classes=self.classes, paths=(path,))

    def run(self, given: WriteDefinitionInput, bench: Workbench, call_id: str) -> Output:
        wish = DefinitionWish(
            name=given.name,
            description=given.description,
            prompt=given.prompt,
            tools=None if given.tools is None else tuple(given.tools),
            disallowed_tools=tuple(given.disallowed_tools or ()),
            model=given.model.strip(),
            replaces=given.replace,
        )
        if bench.catalog is None:
            raise ToolProblem("There is no library here.")
        try:
            return _written(bench.catalog.keep(wish))
        except NotKept as problem:
            raise ToolProblem(f"{problem} Nothing was written.") from problem


def _written(kept: DefinitionKept) -> Output:
    diff = unified(kept.path, kept.before or b"", kept.after)
    added, removed = counts(diff)
    detail = {
        "path": kept.path,
        "diff": diff,
        "added": added,
        "removed": removed,
        "is_new": kept.before is None,
    }
    text = (
        f"~/{kept.path} stands in the library of @{kept.owner}. Conversations that @{kept.owner}"
        " begins can start it by its name from now on; it is no colleague."
    )
    return Output("\n".join([text, *(f"- {each}" for each in kept.remarks)]), detail=detail)
