"""Definitions that belong to one conversation: `agents` JSON and an uploaded file."""

import json
from dataclasses import replace
from pathlib import Path

from agents.library import frontmatter, fuxi, names, reading
from agents.library.definition import AgentDefinition, Dialect, settle
from agents.library.loading import Found
from agents.library.places import Place, Scope
from agents.library.sheet import Sheet
from agents.library.warning import warn
from agents.library.yamlread import MAX_DEPTH, Value
from outside.sentences import phrase as _

MAX_CHARS = 4 * 1024 * 1024
_NOWHERE = Path("conversation")
_PLACE = Place(Scope.SESSION, _NOWHERE, _NOWHERE)


class AgentsJsonError(Exception):
    """The text is no JSON object of definitions."""


def read_agents_json(text: str) -> tuple[AgentDefinition, ...]:
    """The definitions of `{"name": {"description": …, "prompt": …, …}}`, in its order.

    An entry that cannot be used is there as a skipped one. Raises AgentsJsonError when the text
    is something else altogether.
    """
    if len(text) > MAX_CHARS:
        raise AgentsJsonError(
            _("The text is longer than %(most)s characters.") % {"most": f"{MAX_CHARS:,}"}
        )
    try:
        agents = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise AgentsJsonError(_("This is no JSON: %(fault)s") % {"fault": str(fault)}) from None
    if not isinstance(agents, dict) or _is_deep(agents):
        raise AgentsJsonError(_("Expected an object that maps names to definitions."))
    return tuple(_read_entry(name, entry) for name, entry in agents.items())


def found(definition: AgentDefinition, *, name: str = "") -> Found:
    """The definition as one that this conversation brought, for `scopes.resolve`."""
    return Found(definition, _PLACE, name or definition.path or definition.name)


def read_agent_file(text: str, *, file_name: str, dialect: Dialect | None = None) -> Found:
    """An uploaded or pasted file. It may replace a built-in agent without `override`."""
    return found(reading.read_text(text, path=file_name, dialect=dialect), name=file_name)


def _read_entry(name: str, entry: Value) -> AgentDefinition:
    if not isinstance(entry, dict):
        wrong = AgentDefinition(Dialect.FUXI, name=name, declared_name=name)
        return wrong.skipped(
            warn("not-a-mapping", _("`%(name)s` is no object with fields.") % {"name": name})
        )
    prompt = entry.get("prompt")
    body = frontmatter.tidy_body(prompt) if isinstance(prompt, str) else ""
    values = {**{key: value for key, value in entry.items() if key != "prompt"}, "name": name}
    sheet = Sheet(values, {}, path="", body=body)
    definition = fuxi.read(sheet)
    said = tuple(warning for warning in sheet.warnings if warning.code != "empty-body")
    definition = replace(
        definition.with_warnings(*said),
        body=body,
        values=values,
        slug=names.slugify(name) if name else "",
    )
    if body:
        return settle(definition)
    return definition.skipped(
        warn("missing-prompt", _("`%(name)s` has no `prompt`.") % {"name": name})
    )


def _is_deep(value: Value, depth: int = 0) -> bool:
    if depth > MAX_DEPTH:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_deep(item, depth + 1) for item in inner)
