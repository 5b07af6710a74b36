"""How a tool call reads in one line: an icon, a word, and what it was done on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import template
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

register = template.Library()


@dataclass(frozen=True)
class Face:
    """on: the argument that says what it is done on; words: it is prose, not a path or command."""

    word: "_StrPromise | str"
    icon: str
    on: tuple[str, ...] = ()
    words: bool = False


FACES: dict[str, Face] = {
    "read": Face(_("Read"), "file-text", ("path", "file_path")),
    "write": Face(_("Write"), "file-plus-2", ("path", "file_path")),
    "edit": Face(_("Edit"), "pencil", ("path", "file_path")),
    "multi_edit": Face(_("Edit"), "pencil", ("path", "file_path")),
    "glob": Face(_("Find files"), "folder-tree", ("pattern", "path")),
    "grep": Face(_("Search"), "search", ("pattern", "path")),
    "list": Face(_("List"), "folder", ("path",)),
    "bash": Face(_("Shell"), "square-terminal", ("command",)),
    "shell_output": Face(_("Shell output"), "square-terminal", ("shell",)),
    "shell_stop": Face(_("End shell"), "square", ("shell",)),
    "web_fetch": Face(_("Fetch"), "globe", ("url",)),
    "web_search": Face(_("Search the web"), "globe", ("query",), words=True),
    "todo": Face(_("To do"), "list-todo", words=True),
    "skill": Face(_("Skill"), "book-open-check", ("name", "skill")),
    "ask_user": Face(_("Question"), "message-circle-question", ("question", "text"), words=True),
    "plan": Face(_("Plan"), "map", ("title",), words=True),
    "submit_plan": Face(_("Plan"), "map", ("title",), words=True),
    "exit_plan_mode": Face(_("Plan"), "map", ("title",), words=True),
    "propose_orchestration": Face(_("Orchestration"), "route", ("title",), words=True),
    "agent": Face(_("Delegate"), "users", ("description", "agent", "prompt"), words=True),
    "send_message": Face(_("Message"), "send", ("to", "text"), words=True),
    "list_agents": Face(_("Look at the team"), "users"),
    "write_definition": Face(_("Agent definition"), "file-plus-2", ("name",)),
    "task_stop": Face(_("Stop task"), "square", ("task_id", "id")),
    "workflow": Face(_("Workflow"), "workflow", ("name",), words=True),
    "git_commit": Face(_("Commit"), "git-commit-horizontal", ("message",), words=True),
    "git_push": Face(_("Push"), "git-branch", ("ref", "refs", "branch")),
    "git_status": Face(_("Status"), "git-compare"),
    "open_pr": Face(_("Pull request"), "git-pull-request", ("title",), words=True),
    "create_pr": Face(_("Pull request"), "git-pull-request", ("title",), words=True),
    "add_review_finding": Face(_("Finding"), "scan-search", ("title", "summary"), words=True),
    "finalize_review": Face(_("Review"), "clipboard-list", ("summary",), words=True),
}
FACES |= {"Agent": FACES["agent"], "Task": FACES["agent"], "Skill": FACES["skill"]}
LONGEST_ON = 300


def face(name: str) -> Face:
    """The face of a tool; an MCP tool shows its server, an unknown one its own name."""
    if name.startswith("mcp__"):
        server, _sep, tool = name[5:].partition("__")
        return Face(f"{server}: {tool}" if tool else server, "plug")
    return FACES.get(name) or Face(name.replace("_", " ").capitalize(), "wrench")


@register.filter
def tool_icon(name: str) -> str:
    return face(name).icon


@register.filter
def tool_word(name: str) -> str:
    return str(face(name).word)


@register.filter
def speaks_words(name: str) -> bool:
    """Whether what a tool is done on is prose (then it is not set in mono)."""
    return face(name).words


@register.filter
def done_on(arguments: Mapping[str, Any] | None, name: str) -> str:
    """The one argument worth a line: a path, a command, a title. Empty when there is none."""
    for key in face(name).on:
        value = (arguments or {}).get(key)
        if value:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            return " ".join(text.split("\n")[:2]).strip()[:LONGEST_ON]
    return ""


@register.filter
def pairs(arguments: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """The arguments as they were given, for the open card."""
    return [(str(key), _plain(value)) for key, value in (arguments or {}).items()]


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return str(value).lower() if value is not None else "null"
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_plain(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(_plain(part) for part in value)
    return str(value)
