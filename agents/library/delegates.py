"""Which types of subagent an agent may call, by the rules of its dialect."""

from collections.abc import Collection
from dataclasses import dataclass

from agents.library import toollist
from agents.library.definition import AgentDefinition, Dialect
from agents.library.warning import LoadWarning, note, warn
from outside.sentences import phrase as _

JARVIS_DEFAULT = frozenset({"coder", "explore", "plan"})


@dataclass(frozen=True, slots=True)
class Delegates:
    """The types that may be called. `types` None: every type but the `blocked` ones."""

    types: frozenset[str] | None
    blocked: frozenset[str] = frozenset()
    reason: str = ""
    warnings: tuple[LoadWarning, ...] = ()

    def admits(self, agent_type: str) -> bool:
        """The type may be called."""
        return agent_type not in self.blocked and (self.types is None or agent_type in self.types)


def resolve(
    definition: AgentDefinition,
    *,
    as_main: bool,
    has_agent_tool: bool,
    discovered: Collection[str] = (),
    known_types: Collection[str] | None = None,
) -> Delegates:
    """Whom the agent may call. `discovered` are the custom agents of the conversation, which a
    Jarvis main agent may always call; `known_types` lets unknown names be told.
    """
    if not has_agent_tool:
        return Delegates(frozenset(), reason=_("It has no tool to delegate with."))
    if definition.dialect is Dialect.JARVIS:
        return _jarvis(definition, as_main, frozenset(discovered), known_types)
    if definition.dialect is Dialect.COPILOT and definition.delegates is not None:
        if "*" in definition.delegates:
            return Delegates(None, reason=_("Its `agents` list says all."))
        return Delegates(frozenset(definition.delegates), reason=_("Its `agents` list says so."))
    return _by_calls(definition, as_main)


def _jarvis(
    definition: AgentDefinition,
    as_main: bool,
    discovered: frozenset[str],
    known_types: Collection[str] | None,
) -> Delegates:
    listed = definition.delegates
    if listed == ("*",):
        return Delegates(None, reason=_("Its `subagents` list is `*`."))
    types = JARVIS_DEFAULT if listed is None else frozenset(listed)
    reason = (
        _("It has no `subagents` list.") if listed is None else _("Its `subagents` list says so.")
    )
    unknown = [] if known_types is None else sorted(types - frozenset(known_types) - discovered)
    warnings = tuple(
        warn(
            "unknown-subagent",
            _("No agent is called `%(name)s`; the entry matches nothing.") % {"name": name},
        )
        for name in (unknown if listed is not None else ())
    )
    return Delegates(types | discovered if as_main else types, reason=reason, warnings=warnings)


def _by_calls(definition: AgentDefinition, as_main: bool) -> Delegates:
    """`Agent(a, b)` in `tools` is an allow-list for a main agent and has no meaning below."""
    calls = [
        types for entry in definition.tools or () if (types := called_types(entry)) is not None
    ]
    blocked = frozenset(
        name for entry in definition.disallowed_tools for name in called_types(entry) or ()
    )
    named = frozenset(name for types in calls for name in types)
    if not as_main and named:
        said = note("types-ignored", _("A list of types counts only for a main agent."))
        return Delegates(None, blocked, "Any type: a list counts only for a main agent.", (said,))
    if calls and all(calls):
        return Delegates(named, blocked, "Its `tools` list names the types.")
    return Delegates(None, blocked, "Nothing restricts the types.")


def called_types(entry: str) -> tuple[str, ...] | None:
    """The types in `Agent(a, b)` or `Task(a)`; empty for a bare name, None for other tools."""
    name, _bracket, inside = entry.partition("(")
    if name.strip() not in ("Agent", "Task", "agent", "task"):
        return None
    return toollist.split_entries(inside.rstrip(" )"))
