"""What the form of an agent file says about its fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ..library import reading
from ..library.authoring import Field, Kind
from ..library.definition import AgentDefinition, Dialect

DIALECTS: Mapping[Dialect, str | Promise] = {
    Dialect.FUXI: gettext_lazy("Fuxi and Claude Code"),
    Dialect.JARVIS: "Jarvis",
    Dialect.QWEN: "Qwen",
    Dialect.OPENCODE: "OpenCode",
    Dialect.COPILOT: "Copilot",
}
EXAMPLES = Path(__file__).parent.parent / "library" / "examples"
LABELS: Mapping[str, str | Promise] = {
    "name": gettext_lazy("Name"),
    "description": gettext_lazy("Description"),
    "whenToUse": gettext_lazy("When to use it"),
    "tools": gettext_lazy("Tools"),
    "disallowedTools": gettext_lazy("Tools it must not have"),
    "subagents": gettext_lazy("Agents it may call"),
    "agents": gettext_lazy("Agents it may call"),
    "override": gettext_lazy("May replace a built-in agent"),
    "model": gettext_lazy("Model"),
    "permissionMode": gettext_lazy("Asks for permission"),
    "approvalMode": gettext_lazy("Asks for permission"),
    "maxTurns": gettext_lazy("Most turns"),
    "steps": gettext_lazy("Most turns"),
    "effort": gettext_lazy("Effort"),
    "skills": gettext_lazy("Skills"),
    "memory": gettext_lazy("Memory"),
    "background": gettext_lazy("Works in the background"),
    "isolation": gettext_lazy("Works in a copy"),
    "color": gettext_lazy("Colour"),
    "initialPrompt": gettext_lazy("First message"),
    "mode": gettext_lazy("Mode"),
    "argument-hint": gettext_lazy("Hint for what to write"),
}
HELP: Mapping[str, str | Promise] = {
    "name": gettext_lazy("Lower-case letters and hyphens. One clear purpose: testing-expert."),
    "description": gettext_lazy(
        "Say when to call it, not only what it is: “Reviews changes for security. Use it before"
        " each push.”"
    ),
    "tools": gettext_lazy("Separated by commas. Empty: every tool. []: none."),
    "disallowedTools": gettext_lazy("Taken away from what the line above leaves."),
    "subagents": gettext_lazy("Separated by commas, * for all. Empty: the usual ones."),
    "override": gettext_lazy("Needed when its name is that of a built-in agent."),
    "permissionMode": gettext_lazy(
        "A wish. The workspace's rules always count, and a plan is no lock: for that, list tools."
    ),
    "approvalMode": gettext_lazy(
        "A wish. The workspace's rules always count, and a plan is no lock: for that, list tools."
    ),
    "model": gettext_lazy("Empty or inherit: that of the conversation."),
    "initialPrompt": gettext_lazy("Only when it leads a conversation."),
}

# What one asks of each example, to see what it is for.
USES: Mapping[str, tuple[str | Promise, str | Promise, str | Promise]] = {
    "testing-expert": (
        gettext_lazy("Write unit tests for the sign-in service"),
        gettext_lazy("Write integration tests for how payments are handled"),
        gettext_lazy("Cover the edge cases of the module that checks data"),
    ),
    "documentation-writer": (
        gettext_lazy("Document the endpoints that manage users"),
        gettext_lazy("Write a complete README for this project"),
        gettext_lazy("Describe how we deploy, and what to do when it fails"),
    ),
    "code-reviewer": (
        gettext_lazy("Review this sign-in for security problems"),
        gettext_lazy("What does this database query cost us?"),
        gettext_lazy("Judge the structure of this code and propose what to mend"),
    ),
    "react-specialist": (
        gettext_lazy("Make a reusable table of data that sorts and filters"),
        gettext_lazy("Write a hook that fetches from the API and caches"),
        gettext_lazy("Turn this class component into modern React"),
    ),
    "python-expert": (
        gettext_lazy("Write a FastAPI service that signs users in with JWT"),
        gettext_lazy("Process this data with pandas and handle what goes wrong"),
        gettext_lazy("Write a command-line tool with argparse and good help"),
    ),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A field of the form, ready to be drawn."""

    field: Field
    label: str
    help: str
    value: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"f.{self.field.key}"

    @property
    def kind(self) -> str:
        return self.field.kind.value

    @property
    def is_required(self) -> bool:
        return self.field.key == "name"


def row(field: Field, value: str) -> Row:
    """The field with its words. A stored value that is no choice stays one that can be kept."""
    help_text = str(HELP.get(field.key, ""))
    if field.kind is Kind.SWITCHES:
        help_text = _("Separated by commas; a ! before a name switches it off.")
    choices = field.choices or (("true", "false") if field.kind is Kind.FLAG else ())
    options = [(each, each) for each in choices]
    if field.kind is Kind.FLAG:
        options = [("true", _("Yes")), ("false", _("No"))]
    if choices and value and value not in choices:
        options.append((value, value))
    return Row(field, str(LABELS.get(field.key, field.key)), help_text, value, tuple(options))


@cache
def examples() -> tuple[AgentDefinition, ...]:
    """The examples that come along, to begin from."""
    return tuple(reading.read_bytes(file.read_bytes(), path=file.name) for file in _example_files())


def _example_files() -> list[Path]:
    return sorted(EXAMPLES.glob("*.md")) if EXAMPLES.is_dir() else []


def not_written(error: Exception) -> str:
    """What a person reads when a file could not be written."""
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return _("The file could not be written (%(reason)s). Nothing was changed.") % {
            "reason": reason
        }
    return str(error)
