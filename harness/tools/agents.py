"""What agent definitions there are: those of the repository, the member, the organisation."""

from typing import ClassVar

from harness.tools.base import Output, Plan, Tool, ToolInput, Workbench
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
