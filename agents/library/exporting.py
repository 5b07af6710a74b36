"""Write a definition in another dialect, and say what gets lost on the way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agents.library import cc, frontmatter, template, toolnames, yamlwrite
from agents.library.definition import AgentDefinition, Dialect, Posture
from agents.library.warning import LoadWarning, warn
from agents.library.yamlread import Value
from outside.sentences import phrase as _

NO_TOOL = "no-tools"  # a name that no tool has, for dialects whose empty list means all
_WITH_BRACKETS = (Dialect.FUXI, Dialect.QWEN)  # they know `Bash(git *)`
_FUXI_MODES = {
    Posture.PLAN: "plan",
    Posture.ASK: "default",
    Posture.DENY_PROMPTS: "dontAsk",
    Posture.ACCEPT_EDITS: "acceptEdits",
    Posture.CLASSIFIER: "auto",
    Posture.BYPASS: "bypassPermissions",
}
_QWEN_MODES = {
    Posture.PLAN: "plan",
    Posture.ASK: "default",
    Posture.ACCEPT_EDITS: "auto-edit",
    Posture.BYPASS: "yolo",
}
_Pairs = list[tuple[str, Value]]


@dataclass(frozen=True, slots=True)
class Exported:
    """The text of the new file, a fitting file name and what could not be said in it."""

    text: str
    file_name: str
    warnings: tuple[LoadWarning, ...] = ()


def export(definition: AgentDefinition, dialect: Dialect) -> Exported:
    """The definition as a file of `dialect`; in its own dialect it is the file it came from."""
    name = definition.slug or definition.name
    file_name = f"{name}.agent.md" if dialect is Dialect.COPILOT else f"{name}.md"
    if dialect is Dialect.CC:
        file_name = f"{name}/AGENTS.md"
    if dialect is definition.dialect and definition.raw:
        return Exported(definition.raw, file_name)
    warnings: list[LoadWarning] = []
    if dialect is Dialect.CC:
        return Exported(_as_cc(definition), file_name, tuple(_lost(definition, _KEPT[dialect])))
    pairs: _Pairs = [("name", name), ("description", _description(definition))]
    pairs += _WRITERS[dialect](definition, warnings)
    warnings += _lost(definition, _KEPT[dialect])
    warnings += _about_variables(definition, dialect)
    kept = [(key, value) for key, value in pairs if value not in (None, "", {})]
    text = f"---\n{yamlwrite.emit(kept)}---\n\n{_body(definition)}\n"
    return Exported(text, file_name, tuple(warnings))


def _as_cc(definition: AgentDefinition) -> str:
    row: dict[str, Value] = {
        "name": definition.slug or definition.name,
        "title": _description(definition),
        "skills": list(definition.skills),
        "modelId": None if definition.model == "inherit" else definition.model,
        "effort": definition.effort,
    }
    return cc.render(row, definition.body)


def _description(definition: AgentDefinition) -> str:
    return definition.description or definition.declared_name or definition.name


def _body(definition: AgentDefinition) -> str:
    """The body; a workspace agent's extra instructions follow under their own heading."""
    extra = definition.values.get("systemPrompt") if definition.dialect is Dialect.CC else None
    if not isinstance(extra, str) or not extra.strip():
        return definition.body
    body = f"{definition.body}\n\n## Agent instructions\n\n{extra.strip()}"
    return frontmatter.tidy_body(body)


def _jarvis(definition: AgentDefinition, said: list[LoadWarning]) -> _Pairs:
    return [
        ("whenToUse", definition.when_to_use),
        ("tools", _tools(definition, Dialect.JARVIS, said)),
        ("disallowedTools", _blocked(definition, Dialect.JARVIS, said) or None),
        ("subagents", list(definition.delegates) if definition.delegates else None),
    ]


def _fuxi(definition: AgentDefinition, said: list[LoadWarning]) -> _Pairs:
    tools = _tools(definition, Dialect.FUXI, said)
    return [
        ("tools", _comma(tools)),
        ("disallowedTools", _comma(_blocked(definition, Dialect.FUXI, said)) or None),
        *_shared(definition),
        ("permissionMode", _FUXI_MODES[definition.posture] if definition.posture else None),
        ("maxTurns", definition.max_turns),
    ]


def _qwen(definition: AgentDefinition, said: list[LoadWarning]) -> _Pairs:
    tools = _tools(definition, Dialect.QWEN, said)
    if tools == []:
        tools = [NO_TOOL]
        sentence = _("An empty list means every tool there, so `%(tool)s` stands for none.") % {
            "tool": NO_TOOL
        }
        said.append(warn("empty-list-widens", sentence))
    mode = _QWEN_MODES.get(definition.posture) if definition.posture else None
    if definition.posture and not mode:
        sentence = _("The posture `%(posture)s` has no word there; left out.") % {
            "posture": definition.posture
        }
        said.append(warn("posture-lost", sentence))
    return [
        ("tools", tools),
        ("disallowedTools", _blocked(definition, Dialect.QWEN, said) or None),
        *_shared(definition),
        ("approvalMode", "bubble" if definition.posture_in_parent else mode),
        ("runConfig", _run_config(definition)),
        ("executor", dict(definition.executor)),
    ]


def _shared(definition: AgentDefinition) -> _Pairs:
    """The fields that Fuxi and Qwen write alike."""
    return [
        ("model", definition.model),
        ("effort", definition.effort),
        ("skills", list(definition.skills) or None),
        ("mcpServers", dict(definition.mcp)),
        ("hooks", dict(definition.hooks)),
        ("memory", definition.memory),
        ("background", definition.background),
        ("isolation", definition.isolation),
        ("color", definition.color),
        ("initialPrompt", definition.initial_prompt),
    ]


def _run_config(definition: AgentDefinition) -> dict[str, Value]:
    limits = {
        "max_turns": definition.max_turns,
        "max_time_minutes": definition.max_minutes,
    }
    return {key: value for key, value in limits.items() if value is not None}


def _opencode(definition: AgentDefinition, said: list[LoadWarning]) -> _Pairs:
    tools = _tools(definition, Dialect.OPENCODE, said)
    blocked = _blocked(definition, Dialect.OPENCODE, said)
    switches: dict[str, Value] = {} if tools is None else {"*": False}
    switches |= {str(tool): True for tool in tools or ()}
    switches |= {str(tool): False for tool in blocked}
    return [
        ("mode", "subagent"),
        ("model", None if definition.model == "inherit" else definition.model),
        ("tools", switches),
        ("steps", definition.max_turns),
    ]


def _copilot(definition: AgentDefinition, said: list[LoadWarning]) -> _Pairs:
    tools = _tools(definition, Dialect.COPILOT, said)
    blocked = set(_blocked(definition, Dialect.COPILOT, said))
    if tools is None and blocked:
        sentence = _("There is no block list there; the file names what is left instead.")
        said.append(warn("block-list-turned", sentence))
        every = (toolnames.spelled(tool, Dialect.COPILOT) for tool in toolnames.CANONICAL)
        tools = [*sorted(set(every) & set(toolnames.spellings(Dialect.COPILOT)))]
    left = None if tools is None else [tool for tool in tools if tool not in blocked]
    model = None if definition.model == "inherit" else definition.model
    return [
        ("model", model),
        ("tools", left),
        ("mcp-servers", dict(definition.mcp)),
        ("agents", list(definition.delegates) if definition.delegates else None),
    ]


def _tools(
    definition: AgentDefinition, dialect: Dialect, said: list[LoadWarning]
) -> list[Value] | None:
    if definition.tools is None:
        return None
    return _translated(definition.tools, definition.dialect, dialect, said)


def _blocked(definition: AgentDefinition, dialect: Dialect, said: list[LoadWarning]) -> list[Value]:
    entries = definition.disallowed_tools
    if dialect not in _WITH_BRACKETS and definition.dialect is not Dialect.JARVIS:
        entries = tuple(entry.partition("(")[0] for entry in entries)  # all is blocked
    return _translated(entries, definition.dialect, dialect, said)


def _translated(
    entries: tuple[str, ...], source: Dialect, target: Dialect, said: list[LoadWarning]
) -> list[Value]:
    """The entries in the target's spelling, each once; what has no word there is kept as it is."""
    words = toolnames.spellings(source)
    found: dict[str, None] = {}
    for entry in entries:
        name, bracket, rest = entry.partition("(")
        if entry.startswith("mcp__"):
            found[_server_entry(entry, target)] = None
        elif name in words and (not bracket or _may_lose(name, source, target)):
            bracketed = bracket + rest if target in _WITH_BRACKETS else ""
            for tool in sorted(words[name]):
                found[toolnames.spelled(tool, target) + bracketed] = None
        else:
            sentence = _("`%(entry)s` has no known counterpart and was kept as it is.") % {
                "entry": entry
            }
            said.append(warn("tool-kept", sentence))
            found[entry] = None
    return list(found)


def _may_lose(name: str, source: Dialect, target: Dialect) -> bool:
    """The entry's brackets are kept, or say only which agents may be called."""
    if source is Dialect.JARVIS:
        return False
    return target in _WITH_BRACKETS or toolnames.spellings(source)[name] == {"agent"}


def _server_entry(entry: str, target: Dialect) -> str:
    """`mcp__server` the way the target names a whole server or one of its tools."""
    server, _, tool = entry.removeprefix("mcp__").partition("__")
    if target is Dialect.OPENCODE:
        return f"{server}_{tool or '*'}"
    if target is Dialect.COPILOT:
        return f"{server}/{tool or '*'}"
    return f"mcp__{server}__{tool or '*'}"


def _comma(entries: list[Value] | None) -> Value:
    if entries is None:
        return None
    return ", ".join(map(str, entries)) if entries else []


def _about_variables(definition: AgentDefinition, target: Dialect) -> list[LoadWarning]:
    """A body that meant `${var}` to be filled in, or that now would be, deserves a look."""
    marked = any(f"${{{name}}}" in definition.body for name in template.VARIABLES)
    if marked and (definition.dialect is Dialect.JARVIS) != (target is Dialect.JARVIS):
        filled = _("Markers such as ${cwd} in the body are filled in there.")
        kept = _("Markers such as ${cwd} in the body stay as text there.")
        return [warn("variables", filled if target is Dialect.JARVIS else kept)]
    return []


_FIELDS: Mapping[str, Callable[[AgentDefinition], object]] = {
    "whenToUse": lambda d: d.when_to_use,
    "tools": lambda d: d.tools is not None,
    "disallowedTools": lambda d: d.disallowed_tools,
    "subagents": lambda d: d.delegates,
    "model": lambda d: d.model not in (None, "inherit"),
    "posture": lambda d: d.posture,
    "maxTurns": lambda d: d.max_turns,
    "maxMinutes": lambda d: d.max_minutes,
    "effort": lambda d: d.effort,
    "skills": lambda d: d.skills,
    "mcpServers": lambda d: d.mcp,
    "hooks": lambda d: d.hooks,
    "memory": lambda d: d.memory,
    "background": lambda d: d.background is not None,
    "isolation": lambda d: d.isolation,
    "color": lambda d: d.color,
    "initialPrompt": lambda d: d.initial_prompt,
    "executor": lambda d: d.executor,
}
_FUXI_KEEPS = {
    *("tools", "disallowedTools", "model", "posture", "maxTurns", "effort", "skills"),
    *("mcpServers", "hooks", "memory", "background", "isolation", "color", "initialPrompt"),
}
_KEPT: Mapping[Dialect, set[str]] = {
    Dialect.CC: {"model", "effort", "skills"},
    Dialect.JARVIS: {"whenToUse", "tools", "disallowedTools", "subagents"},
    Dialect.FUXI: _FUXI_KEEPS,
    Dialect.QWEN: {*_FUXI_KEEPS, "maxMinutes", "executor"},
    Dialect.OPENCODE: {"tools", "disallowedTools", "model", "maxTurns"},
    Dialect.COPILOT: {"tools", "disallowedTools", "model", "mcpServers", "subagents"},
}
_WRITERS: Mapping[Dialect, Callable[[AgentDefinition, list[LoadWarning]], _Pairs]] = {
    Dialect.JARVIS: _jarvis,
    Dialect.FUXI: _fuxi,
    Dialect.QWEN: _qwen,
    Dialect.OPENCODE: _opencode,
    Dialect.COPILOT: _copilot,
}


def _lost(definition: AgentDefinition, kept: set[str]) -> list[LoadWarning]:
    return [
        warn(
            "field-lost",
            _("`%(word)s` cannot be said in that dialect and is left out.") % {"word": word},
        )
        for word, holds in _FIELDS.items()
        if word not in kept and holds(definition)
    ]
