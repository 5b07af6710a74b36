"""The tool surface of a run: built from its mode, then narrowed by lists. A tool that is not on it
is not in the request: invisible, not refused."""

from collections.abc import Mapping
from typing import Any

from harness.actions import ActionClass
from harness.seam import RunSpec
from harness.tools.agents import ListAgents, WriteDefinition
from harness.tools.asking import AskUser, Skill, TodoList
from harness.tools.base import Tool
from harness.tools.delegating import Agent
from harness.tools.git import GitCommit, GitPush
from harness.tools.reading import Glob, Grep, Read
from harness.tools.shell import Bash, ShellOutput, ShellStop
from harness.tools.writing import Edit, Write

# Outside chat a mode only reads; reading the network and a secret is still reading.
READING = frozenset({ActionClass.NETWORK_EGRESS, ActionClass.SECRET_ACCESS})

ALL: tuple[Tool[Any], ...] = (
    Read(),
    Write(),
    Edit(),
    Glob(),
    Grep(),
    Bash(),
    ShellOutput(),
    ShellStop(),
    GitCommit(),
    GitPush(),
    TodoList(),
    AskUser(),
    Skill(),
    Agent(),
    ListAgents(),
    WriteDefinition(),
)
WITH_BASH = frozenset({"shell_output", "shell_stop"})  # useless without it


def surface(spec: RunSpec) -> Mapping[str, Tool[Any]]:
    """The tools of this run by name, in a fixed order."""
    found = {tool.name: tool for tool in ALL if _is_offered(tool, spec)}
    if "bash" not in found:
        found = {name: tool for name, tool in found.items() if name not in WITH_BASH}
    return found


def _is_offered(tool: Tool[Any], spec: RunSpec) -> bool:
    if spec.mode != "chat" and not tool.classes <= READING:
        return False
    if isinstance(tool, Agent) and not spec.may_delegate:
        return False
    if spec.allowed_tools is not None and tool.name not in spec.allowed_tools:
        return False
    return tool.name not in spec.denied_tools
