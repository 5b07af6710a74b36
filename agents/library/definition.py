"""One agent definition, whatever dialect its file speaks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from agents.library.warning import Level, LoadWarning
from agents.library.yamlread import Value


class Dialect(StrEnum):
    """The kinds of agent file. `NONE` is a Markdown file that is no agent file."""

    CC = "cc"
    JARVIS = "jarvis"
    FUXI = "fuxi"
    QWEN = "qwen"
    OPENCODE = "opencode"
    COPILOT = "copilot"
    NONE = "none"


class Outcome(StrEnum):
    """What became of a file. A skipped file always carries a warning that says why."""

    OK = "ok"
    OK_WITH_WARNING = "ok-with-warning"
    SKIP = "skip"


class Posture(StrEnum):
    """How much a run may do without asking, in the words of requirements 6.6."""

    PLAN = "plan"
    ASK = "ask"
    DENY_PROMPTS = "deny-prompts"
    ACCEPT_EDITS = "accept-edits"
    CLASSIFIER = "classifier"
    BYPASS = "bypass"


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """What a file says, in one shape. Fields that its dialect does not act on stay at their
    defaults; `values` has every key of the front matter as written.

    `name` is the key under which the agent is called; `declared_name` is what the file says.
    `tools` None means every tool, an empty tuple none. `body` has LF ends and no blank lines
    around it; `raw` is the whole text as found.
    """

    dialect: Dialect
    outcome: Outcome = Outcome.OK
    name: str = ""
    declared_name: str = ""
    slug: str = ""
    description: str = ""
    when_to_use: str = ""
    body: str = ""
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    delegates: tuple[str, ...] | None = None
    model: str | None = None
    posture: Posture | None = None
    posture_in_parent: bool = False  # `bubble`: questions are shown in the parent's session
    max_turns: int | None = None
    max_minutes: float | None = None
    effort: str | None = None
    skills: tuple[str, ...] = ()
    mcp: Mapping[str, Value] = field(
        default_factory=dict
    )  # server name → specification, None for a reference
    hooks: Mapping[str, Value] = field(default_factory=dict)
    memory: str | None = None
    background: bool | None = None
    isolation: str | None = None
    color: str | None = None
    initial_prompt: str = ""
    executor: Mapping[str, Value] = field(default_factory=dict)
    override: bool = False
    values: Mapping[str, Value] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()  # keys that this dialect does not act on
    warnings: tuple[LoadWarning, ...] = ()
    path: str = ""
    raw: str = field(default="", repr=False)
    digest: str = ""  # SHA-256 (hex) of the file's bytes

    @property
    def is_usable(self) -> bool:
        """The file may be run; otherwise `warnings` says what is wrong with it."""
        return self.outcome is not Outcome.SKIP

    @property
    def loud_warnings(self) -> tuple[LoadWarning, ...]:
        """The warnings without the mere notes."""
        return tuple(w for w in self.warnings if w.level is Level.WARNING)

    def with_warnings(self, *more: LoadWarning) -> "AgentDefinition":
        """The same definition with more to say; a loud warning changes `ok`."""
        return settle(replace(self, warnings=(*self.warnings, *more))) if more else self

    def skipped(self, *reasons: LoadWarning) -> "AgentDefinition":
        """The same definition, not to be run, for these reasons."""
        return replace(self, warnings=(*self.warnings, *reasons), outcome=Outcome.SKIP)


def settle(definition: AgentDefinition) -> AgentDefinition:
    """The definition with the outcome that its warnings call for; a skip stays a skip."""
    if definition.outcome is Outcome.SKIP:
        return definition
    outcome = Outcome.OK_WITH_WARNING if definition.loud_warnings else Outcome.OK
    return definition if outcome is definition.outcome else replace(definition, outcome=outcome)
