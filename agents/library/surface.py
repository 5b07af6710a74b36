"""From a definition's lists to the tools its agent really has, each with its reason."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from agents.library import delegates, toolnames
from agents.library.definition import AgentDefinition, Dialect, Posture
from agents.library.delegates import Delegates
from agents.library.matching import MATCHERS, Matcher
from agents.library.warning import LoadWarning, warn
from outside.sentences import phrase as _

NEVER_FOR_SUBAGENTS = frozenset(
    {
        *("ask_user", "enter_plan_mode", "exit_plan_mode", "schedule_wakeup"),
        *("wait_for_mcp", "workflow", "write_definition"),
    }
)
_MEMORY_TOOLS = ("read", "write", "edit")


@dataclass(frozen=True, slots=True)
class ToolVerdict:
    """One tool, in or out. `code` is for programs, `reason` for people."""

    tool: str
    allowed: bool
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolSurface:
    """Every tool of the pool with its verdict, in the pool's order, and who may be called.

    `memory_only`: tools granted for the agent's memory directory and nowhere else.
    """

    verdicts: tuple[ToolVerdict, ...]
    delegates: Delegates
    memory_only: frozenset[str] = frozenset()
    warnings: tuple[LoadWarning, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools the agent has."""
        return tuple(verdict.tool for verdict in self.verdicts if verdict.allowed)


def resolve(
    definition: AgentDefinition,
    pool: Sequence[str],
    *,
    as_main: bool,
    is_builtin: bool = False,
    discovered: Collection[str] = (),
    known_types: Collection[str] | None = None,
) -> ToolSurface:
    """The surface of an agent with this definition out of the tools that its parent has.

    `pool` has canonical names (`toolnames.CANONICAL`), `mcp__server__tool` and names of other
    registered tools. Lists only narrow it; a block beats an allowance whatever the order.
    """
    tools = tuple(dict.fromkeys(pool))
    matcher = MATCHERS.get(definition.dialect, MATCHERS[Dialect.FUXI])
    granted, said = _matched(definition.tools, tools, matcher, blocks=False)
    blocked, said_too = _matched(definition.disallowed_tools, tools, matcher, blocks=True)
    withheld = frozenset() if as_main else _withheld(definition, is_builtin=is_builtin)
    inherits = definition.tools is None
    verdicts = [_verdict(tool, None if inherits else granted, blocked, withheld) for tool in tools]
    allowed = {verdict.tool for verdict in verdicts if verdict.allowed}
    memory_only = _for_memory(definition, tools, allowed)
    called = delegates.resolve(
        definition,
        as_main=as_main,
        has_agent_tool="agent" in allowed,
        discovered=discovered,
        known_types=known_types,
    )
    return ToolSurface(
        verdicts=tuple(_remembering(verdict, memory_only) for verdict in verdicts),
        delegates=called,
        memory_only=memory_only,
        warnings=(*said, *said_too, *called.warnings),
    )


def shown_names(surface: ToolSurface, dialect: Dialect) -> tuple[str, ...]:
    """The tools as a model sees them whose main agent speaks this dialect."""
    return tuple(toolnames.spelled(tool, dialect) for tool in surface.tools)


def _matched(
    entries: Iterable[str] | None, pool: tuple[str, ...], matcher: Matcher, *, blocks: bool
) -> tuple[dict[str, str], list[LoadWarning]]:
    """Each matched tool with the entry that matched it first, and what was said."""
    by_tool: dict[str, str] = {}
    said = []
    for entry in entries or ():
        match = matcher(entry, pool, blocks)
        if match.warning:
            said.append(match.warning)
        for tool in match.tools:
            if not (blocks and _names_types(entry)):
                by_tool.setdefault(tool, entry)
    return by_tool, said


def _names_types(entry: str) -> bool:
    """`Agent(x)` in a block list blocks the type x, not the tool."""
    return bool(delegates.called_types(entry))


def _withheld(definition: AgentDefinition, *, is_builtin: bool) -> frozenset[str]:
    if is_builtin and definition.dialect is Dialect.JARVIS and definition.name == "coder":
        return NEVER_FOR_SUBAGENTS - {"enter_plan_mode", "exit_plan_mode"}
    if definition.posture is Posture.PLAN:
        return NEVER_FOR_SUBAGENTS - {"exit_plan_mode"}
    return NEVER_FOR_SUBAGENTS


def _verdict(
    tool: str, granted: dict[str, str] | None, blocked: dict[str, str], withheld: frozenset[str]
) -> ToolVerdict:
    if tool in withheld:
        return ToolVerdict(tool, False, "never-for-subagents", _("No subagent may have it."))
    if tool in blocked:
        reason = _("The block list has `%(entry)s`.") % {"entry": blocked[tool]}
        return ToolVerdict(tool, False, "blocked", reason)
    if granted is None:
        return ToolVerdict(
            tool, True, "inherited", _("No list says otherwise, so it is inherited.")
        )
    if tool in granted:
        return ToolVerdict(
            tool, True, "listed", _("`tools` has `%(entry)s`.") % {"entry": granted[tool]}
        )
    return ToolVerdict(tool, False, "not-listed", _("`tools` does not name it."))


def _for_memory(
    definition: AgentDefinition, pool: tuple[str, ...], allowed: set[str]
) -> frozenset[str]:
    """What memory adds after both lists, confined to the memory directory."""
    if definition.memory is None:
        return frozenset()
    return frozenset(tool for tool in _MEMORY_TOOLS if tool in pool and tool not in allowed)


def _remembering(verdict: ToolVerdict, memory_only: frozenset[str]) -> ToolVerdict:
    if verdict.tool not in memory_only:
        return verdict
    return ToolVerdict(verdict.tool, True, "memory", _("For the agent's memory directory only."))


def warn_about_reach(definition: AgentDefinition, surface: ToolSurface) -> tuple[LoadWarning, ...]:
    """A loud word when lists were written and the agent ends up without any tool."""
    if definition.tools and not surface.tools:
        return (warn("no-tool-left", _("No entry of `tools` names a tool that is there.")),)
    return ()
