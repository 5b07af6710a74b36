"""The fields of an agent file as a person fills them in, and back into the same dialect.

Only what was changed is written; keys that no field stands for, their order, comments and line
ends stay as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agents.library import editing, fields, frontmatter, qwen, toollist, yamlwrite
from agents.library.definition import AgentDefinition, Dialect
from agents.library.yamlread import Value


class Kind(StrEnum):
    """How a field is filled in."""

    LINE = "line"
    TEXT = "text"
    NAMES = "names"  # a list; blank: the key is left out, []: an empty list
    SWITCHES = "switches"  # names, those with a leading `!` switched off
    CHOICE = "choice"
    NUMBER = "number"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Field:
    """A key that the guided form offers."""

    key: str
    kind: Kind
    choices: tuple[str, ...] = ()


_NAME = Field("name", Kind.LINE)
_DESCRIPTION = Field("description", Kind.TEXT)
_TOOLS = (Field("tools", Kind.NAMES), Field("disallowedTools", Kind.NAMES))
_MODEL = Field("model", Kind.LINE)
_CLAUDE_LIKE = (
    Field("maxTurns", Kind.NUMBER),
    Field("effort", Kind.CHOICE, fields.EFFORTS),
    Field("skills", Kind.NAMES),
    Field("memory", Kind.CHOICE, fields.MEMORIES),
    Field("background", Kind.FLAG),
    Field("isolation", Kind.CHOICE, ("worktree",)),
    Field("color", Kind.CHOICE, fields.COLORS),
    Field("initialPrompt", Kind.TEXT),
)
FIELDS: Mapping[Dialect, tuple[Field, ...]] = {
    Dialect.JARVIS: (
        _NAME,
        _DESCRIPTION,
        Field("whenToUse", Kind.TEXT),
        *_TOOLS,
        Field("subagents", Kind.NAMES),
        Field("override", Kind.FLAG),
    ),
    Dialect.FUXI: (
        _NAME,
        _DESCRIPTION,
        *_TOOLS,
        _MODEL,
        Field("permissionMode", Kind.CHOICE, tuple(fields.POSTURES)),
        *_CLAUDE_LIKE,
    ),
    Dialect.QWEN: (
        _NAME,
        _DESCRIPTION,
        *_TOOLS,
        _MODEL,
        Field("approvalMode", Kind.CHOICE, tuple(qwen.APPROVAL_MODES)),
        *_CLAUDE_LIKE,
    ),
    Dialect.OPENCODE: (
        _NAME,
        _DESCRIPTION,
        Field("mode", Kind.CHOICE, ("subagent", "primary", "all")),
        Field("tools", Kind.SWITCHES),
        _MODEL,
        Field("steps", Kind.NUMBER),
    ),
    Dialect.COPILOT: (
        _NAME,
        _DESCRIPTION,
        Field("tools", Kind.NAMES),
        _MODEL,
        Field("argument-hint", Kind.LINE),
        Field("agents", Kind.NAMES),
    ),
}
_AS_COMMA_TEXT = (Dialect.FUXI, Dialect.JARVIS)


def shown(definition: AgentDefinition) -> dict[str, str]:
    """What each field of the dialect's form shows for a definition."""
    return {
        field.key: _shown(field, definition.values) for field in FIELDS.get(definition.dialect, ())
    }


def other_keys(definition: AgentDefinition) -> tuple[str, ...]:
    """The keys that no field stands for; they are kept as they are."""
    known = {field.key for field in FIELDS.get(definition.dialect, ())}
    return tuple(key for key in definition.values if key not in known)


def rewritten(definition: AgentDefinition, filled: Mapping[str, str], body: str) -> str:
    """The file with what was filled in. Raises FrontMatterError when it cannot be read."""
    before = shown(definition)
    changes = {
        field.key: _value(field, filled[field.key], definition.dialect)
        for field in FIELDS.get(definition.dialect, ())
        if field.key in filled and _tidy(filled[field.key]) != _tidy(before[field.key])
    }
    same = frontmatter.tidy_body(body) == definition.body
    if same and not changes:
        return definition.raw
    return editing.rewrite(definition.raw, changes, body=None if same else body)


def written(dialect: Dialect, filled: Mapping[str, str], body: str) -> str:
    """A new file with what was filled in."""
    pairs = [
        (field.key, value)
        for field in FIELDS.get(dialect, ())
        if (value := _value(field, filled.get(field.key, ""), dialect)) is not None
    ]
    return f"---\n{yamlwrite.emit(pairs)}---\n\n{frontmatter.tidy_body(body)}\n"


def _shown(field: Field, values: Mapping[str, Value]) -> str:
    value = values.get(field.key)
    if field.key not in values:
        return ""
    if field.kind is Kind.SWITCHES and isinstance(value, dict):
        return ", ".join(name if state is True else f"!{name}" for name, state in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "[]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, dict) else str(value)


def _value(field: Field, text: str, dialect: Dialect) -> Value:
    """What stands in the file for what was filled in; None leaves the key out."""
    text = _tidy(text)
    if not text:
        return None
    if field.kind is Kind.NAMES:
        names: list[Value] = list(toollist.split_entries(text))
        as_text = names and dialect in _AS_COMMA_TEXT and field.key in ("tools", "disallowedTools")
        return ", ".join(map(str, names)) if as_text else names
    if field.kind is Kind.SWITCHES:
        entries = toollist.split_entries(text)
        return {entry.removeprefix("!"): not entry.startswith("!") for entry in entries}
    if field.kind is Kind.NUMBER and text.isdecimal() and len(text) < 10:
        return int(text)
    if field.kind is Kind.FLAG and text in ("true", "false"):
        return text == "true"
    return text


def _tidy(text: str) -> str:
    return frontmatter.normalise(text).strip()
