"""Which dialect a file speaks: by where it stands, else by what it says."""

import re
from collections.abc import Mapping

from agents.library import known, toollist, toolnames
from agents.library.definition import Dialect
from agents.library.names import is_kebab
from agents.library.yamlread import Value

_PLACES = (
    (re.compile(r"(?:^|/)\.(?:jarvis-code|agents)/agents/"), Dialect.JARVIS),
    (re.compile(r"(?:^|/)\.(?:fuxi|claude)/agents/"), Dialect.FUXI),
    (re.compile(r"(?:^|/)\.qwen/(?:.*/)?agents/"), Dialect.QWEN),
    (re.compile(r"(?:^|/)\.?opencode/agents?/"), Dialect.OPENCODE),
    (re.compile(r"(?:^|/)(?:\.copilot/agents|\.github/chatmodes)/"), Dialect.COPILOT),
    (re.compile(r"(?:^|/)agents/[a-z0-9][a-z0-9-]{0,62}/AGENTS\.md\Z"), Dialect.CC),
)
_PACKAGE = re.compile(r"(?:^|/)agents/(?:[^/]+/)*[^/]+\Z")
_COPILOT_PLACE = re.compile(r"(?:^|/)\.github/agents/")
_COPILOT_NAME = re.compile(r"\.(?:agent|chatmode)\.md\Z", re.IGNORECASE)
_COPILOT_ONLY = frozenset(
    {"mcp-servers", "handoffs", "infer", "target", "user-invocable", "user-invokable"}
)
_FUXI_MARKS = known.FUXI_KEYS - {"name", "description", "tools", "disallowedTools"}
_CALLS = re.compile(r"(?:Agent|Task)\(")


def by_place(path: str) -> Dialect | None:
    """The dialect that the folders of a file promise, None when they say nothing."""
    path = path.replace("\\", "/")
    return next((dialect for place, dialect in _PLACES if place.search(path)), None)


def by_content(values: Mapping[str, Value], *, path: str = "") -> Dialect:
    """The dialect that the keys and tool names speak. `*.agent.md` is Copilot's unless they are
    clearly another's. A file without marks is Jarvis', the most tolerant one, unless Jarvis would
    refuse what another dialect's package or name admits.
    """
    keys = values.keys()
    tools = _tools(values)
    if keys & known.CC_ONLY:
        return Dialect.CC
    if keys & known.JARVIS_ONLY:
        return Dialect.JARVIS
    if keys & known.QWEN_ONLY or any(toolnames.is_snake_case_tool(tool) for tool in tools):
        return Dialect.QWEN
    if _COPILOT_NAME.search(path):
        return Dialect.COPILOT
    if _is_opencode(values):
        return Dialect.OPENCODE
    if _is_copilot(values, tools, path):
        return Dialect.COPILOT
    return Dialect.FUXI if _is_fuxi(values, tools, path) else Dialect.JARVIS


def _tools(values: Mapping[str, Value]) -> tuple[str, ...]:
    listed = toollist.read("tools", values.get("tools"), present=True)
    blocked = toollist.read("disallowedTools", values.get("disallowedTools"), present=True)
    return (*(listed.allowed or ()), *listed.denied, *(blocked.allowed or ()))


def _is_opencode(values: Mapping[str, Value]) -> bool:
    if isinstance(values.get("tools"), dict) or isinstance(values.get("permission"), dict):
        return True
    return values.get("mode") in ("primary", "subagent", "all")


def _is_copilot(values: Mapping[str, Value], tools: tuple[str, ...], path: str) -> bool:
    if values.keys() & _COPILOT_ONLY:
        return True
    if any(toolnames.is_title_case_tool(tool) for tool in tools):
        return False
    if any("/" in tool or tool in toolnames.EDITOR_TOOLS for tool in tools):
        return True
    at_home = bool(_COPILOT_PLACE.search(path))
    return at_home and any(toolnames.is_copilot_tool(tool) for tool in tools)


def _is_fuxi(values: Mapping[str, Value], tools: tuple[str, ...], path: str) -> bool:
    if values.keys() & _FUXI_MARKS or "disable-model-invocation" in values:
        return True
    if any(_CALLS.match(tool) for tool in tools):
        return True
    written_as_text = isinstance(values.get("tools"), str)
    if written_as_text and any(toolnames.is_title_case_tool(tool) for tool in tools):
        return True
    name = values.get("name")
    if isinstance(name, str) and not is_kebab(name.strip()):
        return True
    return isinstance(name, str) and bool(_PACKAGE.search(path.replace("\\", "/")))
