"""Fields that several dialects share, read into the words of `AgentDefinition`."""

from collections.abc import Mapping
from typing import TypedDict

from agents.library import toollist
from agents.library.definition import Posture
from agents.library.sheet import Sheet, dashed
from agents.library.warning import note, warn
from agents.library.yamlread import Value
from outside.sentences import phrase as _

COLORS = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
MEMORIES = ("user", "project", "local")
POSTURES: Mapping[str, Posture] = {
    "default": Posture.ASK,
    "manual": Posture.ASK,
    "acceptEdits": Posture.ACCEPT_EDITS,
    "auto": Posture.CLASSIFIER,
    "dontAsk": Posture.DENY_PROMPTS,
    "bypassPermissions": Posture.BYPASS,
    "plan": Posture.PLAN,
}


class ToolFields(TypedDict):
    """`tools` None means all."""

    tools: tuple[str, ...] | None
    disallowed_tools: tuple[str, ...]


def tool_fields(sheet: Sheet) -> ToolFields:
    """`tools` and `disallowedTools`; a map under `tools` also fills the latter."""
    listed = tool_list(sheet, "tools")
    blocked = tool_list(sheet, "disallowedTools")
    if listed.shape == "map":
        sheet.say(warn("tools-map", _("`tools` is a map of switches; only what is on is allowed.")))
    if listed.shape == "empty":
        sheet.say(warn("tools-empty", _("`tools` stands there empty: no tool is allowed.")))
    denied = (*(blocked.allowed or ()), *blocked.denied, *listed.denied)
    return ToolFields(tools=all_when_star(listed.allowed), disallowed_tools=denied)


def tool_list(sheet: Sheet, key: str) -> toollist.ToolList:
    """The list under `key`, its warnings said."""
    listed = toollist.read(key, sheet.values.get(key), present=sheet.has(key))
    sheet.say(*listed.warnings)
    return listed


def all_when_star(entries: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """A lone `*` says all, which is None."""
    return None if entries == ("*",) else entries


def names(sheet: Sheet, key: str) -> tuple[str, ...]:
    """A list of names, or of words in a comma text; other values are dropped with a word."""
    value = sheet.values.get(key)
    if value is None:
        return ()
    if isinstance(value, str | list):
        return toollist.read(key, value, present=True).allowed or ()
    sheet.say(
        sheet.drop(
            f"{dashed(key)}-wrong-type", _("`%(key)s` must be a list of names.") % {"key": key}
        )
    )
    return ()


def hooks(sheet: Sheet) -> Mapping[str, Value]:
    """The hooks by event; an event without a list of `{matcher?, hooks}` is dropped."""
    found = sheet.mapping("hooks")
    good = {event: value for event, value in found.items() if _is_hook_list(value)}
    for event in found.keys() - good.keys():
        sentence = _(
            "The hooks of `%(event)s` are not a list of `matcher` and `hooks`; dropped."
        ) % {"event": event}
        sheet.say(sheet.drop("hooks-malformed", sentence))
    return good


def mcp_servers(sheet: Sheet, key: str = "mcpServers") -> Mapping[str, Value]:
    """Servers by name. A list may name known servers (value None) or hold `{name: spec}`."""
    value = sheet.values.get(key)
    if isinstance(value, list):
        pairs = [pair for item in value for pair in _server_pairs(item)]
    elif isinstance(value, dict):
        pairs = list(value.items())
    elif value is None:
        return {}
    else:
        sheet.say(
            sheet.drop(
                f"{dashed(key)}-wrong-type",
                _("`%(key)s` must be a mapping or a list.") % {"key": key},
            )
        )
        return {}
    servers: dict[str, Value] = {}
    for name, spec in pairs:
        if name and (isinstance(spec, dict) or (spec is None and isinstance(value, list))):
            servers[name] = spec
        else:
            sentence = _(
                "The MCP server `%(name)s` has no specification that can be read; dropped."
            ) % {"name": name}
            sheet.say(warn("mcp-server-malformed", sentence))
    return servers


def ignore(sheet: Sheet, acts_on: frozenset[str], meaningful: frozenset[str]) -> tuple[str, ...]:
    """The keys that other dialects act on and this one does not, each with a note."""
    keys = tuple(key for key in sheet.values if key in meaningful - acts_on)
    for key in keys:
        sheet.say(
            note(
                "field-ignored",
                _("`%(key)s` has no effect in a file of this dialect.") % {"key": key},
            )
        )
    return keys


def _server_pairs(item: Value) -> list[tuple[str, Value]]:
    if isinstance(item, dict):
        return list(item.items())
    return [(item, None)] if isinstance(item, str) else [("", None)]


def _is_hook_list(value: Value) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, dict) and isinstance(entry.get("hooks"), list) for entry in value
    )
