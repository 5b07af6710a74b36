"""Subagents as the loop sees them: whom it may start, and what it hears of those it started. Pure.

A child is a run of its own. The parent's journal has two events of it, when it began and when it
ended; its own conversation never comes here.
"""

from collections.abc import Sequence

from harness.events import Event, Kind
from harness.seam import DefinitionLine, SkillLine
from harness.skill_index import index

BUDGET = 12_000  # characters of the list in the tool's description
NEWS = "The agent {agent} that you started in the background has ended.\n\n{result}"


def listed(types: Sequence[DefinitionLine], *, budget: int = BUDGET) -> str:
    """The types with what they say of themselves, within the budget whatever there is."""
    found = index([SkillLine(each.name, each.description) for each in types], budget=budget)
    lines = list(found.lines)
    if found.left_out:
        lines.append(f"({found.left_out} more are not listed; list_agents has them.)")
    return "\n".join(lines)


def in_background(events: Sequence[Event]) -> dict[str, str]:
    """The children in the background that have not ended: their agents by run id."""
    begun: dict[str, str] = {}
    ended: set[str] = set()  # a quick one may end before it stands here that it began
    for event in events:
        if event.kind is Kind.CHILD and event.data.get("background"):
            if event.data["phase"] == "started":
                begun[event.data["run_id"]] = event.data["agent"]
            else:
                ended.add(event.data["run_id"])
    return {run_id: agent for run_id, agent in begun.items() if run_id not in ended}


def news(event: Event) -> tuple[str, ...]:
    """What a child event says to the model by itself: the end of one in the background."""
    data = event.data
    if data["phase"] != "ended" or not data.get("background"):
        return ()
    return (NEWS.format(agent=data["agent"], result=data.get("result", "")),)
