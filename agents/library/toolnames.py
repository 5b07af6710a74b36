"""One registry of tools, with the way each dialect spells them.

A canonical name is what our harness calls the tool; the first spelling of a dialect is the one
shown to a model that speaks it.
"""

from collections.abc import Mapping
from functools import cache

from agents.library.definition import Dialect

_J, _Q, _O, _C = Dialect.JARVIS, Dialect.QWEN, Dialect.OPENCODE, Dialect.COPILOT

# canonical: Jarvis and Fuxi · Qwen · OpenCode · Copilot
_TABLE: Mapping[str, tuple[str, str, str, str]] = {
    "read": ("Read", "read_file", "read", "read read/readFile readFile NotebookRead"),
    "read_many": ("", "read_many_files", "", ""),
    "write": ("Write", "write_file", "write", "edit/createFile createFile new"),
    "edit": (
        "Edit MultiEdit NotebookEdit",
        "edit replace",
        "edit patch multiedit",
        "edit edit/editFiles editFiles edits",
    ),
    "bash": (
        "Bash PowerShell",
        "run_shell_command",
        "bash",
        "execute shell execute/runInTerminal runInTerminal runCommands terminal powershell",
    ),
    "grep": ("Grep", "grep_search search_file_content", "grep", "search search/textSearch"),
    "glob": ("Glob", "glob", "glob", "search/fileSearch fileSearch"),
    "list_directory": ("LS", "list_directory", "list", "search/listDirectory"),
    "web_fetch": ("WebFetch", "web_fetch", "webfetch", "web web/fetch fetch"),
    "web_search": ("WebSearch", "web_search", "websearch", "web/search websearch"),
    "todo_list": ("TodoWrite TodoRead", "todo_write", "todowrite todoread", "todo todos"),
    "agent": ("Agent Task", "agent task", "task", "agent custom-agent runSubagent"),
    "agent_swarm": ("AgentSwarm", "", "", ""),
    "send_message": ("SendMessage", "send_message", "", ""),
    "list_agents": ("ListAgents", "list_agents", "", ""),
    "task_stop": ("TaskStop KillShell", "task_stop", "", ""),
    "task_output": ("TaskOutput BashOutput", "", "", "execute/getTerminalOutput"),
    "ask_user": ("AskUserQuestion", "ask_user_question", "question", "vscode/askQuestions"),
    "skill": ("Skill", "skill", "skill", ""),
    "workflow": ("Workflow", "workflow", "", ""),
    "enter_plan_mode": ("EnterPlanMode", "enter_plan_mode", "", ""),
    "exit_plan_mode": ("ExitPlanMode", "exit_plan_mode", "plan_exit", ""),
    "schedule_wakeup": ("ScheduleWakeup", "", "", ""),
    "wait_for_mcp": ("WaitForMcpServers", "", "", ""),
}
CANONICAL = frozenset(_TABLE)
# Names that only the editor behind Copilot gives to its tools.
EDITOR_TOOLS = frozenset(
    {
        *("codebase", "editFiles", "githubRepo", "findTestFiles", "runCommands", "runTasks"),
        *("runTests", "usages", "searchResults", "terminalLastCommand", "terminalSelection"),
        *("testFailure", "openSimpleBrowser", "vscodeAPI"),
    }
)


@cache
def spellings(dialect: Dialect) -> Mapping[str, frozenset[str]]:
    """What each spelling of a dialect means: one or more canonical names."""
    found: dict[str, set[str]] = {}
    for canonical, columns in _TABLE.items():
        for word in columns[_column(dialect)].split():
            found.setdefault(word, set()).add(canonical)
    if dialect is Dialect.COPILOT:
        found["search"] |= {"glob", "list_directory"}
        found["edit"] |= {"write"}
        found["web"] |= {"web_search"}
    if dialect is Dialect.QWEN:  # files of Claude Code may be dropped in
        for word, meaning in spellings(Dialect.FUXI).items():
            found.setdefault(word, set()).update(meaning)
    return {word: frozenset(meaning) for word, meaning in found.items()}


def spelled(canonical: str, dialect: Dialect) -> str:
    """The name that a model of this dialect sees; the canonical one where it has no word."""
    if canonical not in _TABLE:
        return canonical
    words = _TABLE[canonical][_column(dialect)].split()
    return words[0] if words else canonical


def is_snake_case_tool(name: str) -> bool:
    """The name is one of Qwen's own that no other dialect uses."""
    return "_" in name and name in spellings(Dialect.QWEN) and not name.startswith("mcp__")


def is_title_case_tool(name: str) -> bool:
    """The name is one of Jarvis' and Fuxi's, as `Read`."""
    return name.split("(")[0] in spellings(Dialect.FUXI) or name.startswith("mcp__")


def is_copilot_tool(name: str) -> bool:
    """The name is one of Copilot's."""
    return name in spellings(Dialect.COPILOT)


def _column(dialect: Dialect) -> int:
    return {_Q: 1, _O: 2, _C: 3}.get(dialect, 0)
