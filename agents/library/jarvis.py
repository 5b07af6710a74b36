"""The Jarvis dialect: tolerant of foreign fields, strict about names, `${var}` in the body."""

from agents.library import fields, known, names, toollist
from agents.library.definition import AgentDefinition, Dialect
from agents.library.sheet import Sheet
from agents.library.warning import LoadWarning, note, warn
from outside.sentences import phrase as _


def read(sheet: Sheet) -> AgentDefinition:
    """The definition; skipped when its name is not kebab-case or its description is missing."""
    name = sheet.text("name") or names.stem(sheet.path)
    description = sheet.text("description")
    problems = _problems(name, description)
    definition = AgentDefinition(
        dialect=Dialect.JARVIS,
        name=name,
        declared_name=name,
        description=description,
        when_to_use=sheet.text("whenToUse"),
        override=_override(sheet),
        delegates=_delegates(sheet),
        ignored=fields.ignore(sheet, known.JARVIS_KEYS, known.QWEN_KEYS | {"mode"}),
        **fields.tool_fields(sheet),
    )
    if "${base_prompt}" in sheet.body and "${plugin_sections}" in sheet.body:
        sentence = _(
            "${base_prompt} already holds ${plugin_sections}; the latter would come twice."
        )
        sheet.say(note("plugin-sections-twice", sentence))
    return definition.skipped(*problems) if problems else definition


def _problems(name: str, description: str) -> list[LoadWarning]:
    problems = []
    if not names.is_kebab(name):
        sentence = _("The name %(name)s is not kebab-case (like `code-reviewer`).") % {
            "name": repr(name)
        }
        problems.append(warn("name-not-kebab", sentence))
    if not description:
        problems.append(warn("missing-description", _("The required `description` is missing.")))
    return problems


def _override(sheet: Sheet) -> bool:
    value = sheet.values.get("override")
    if value is None or isinstance(value, bool):
        return bool(value)
    sheet.say(warn("override-invalid", _("`override` must be true or false; read as false.")))
    return False


def _delegates(sheet: Sheet) -> tuple[str, ...] | None:
    """None when omitted (the default list), `("*",)` for all types."""
    listed: toollist.ToolList = fields.tool_list(sheet, "subagents")
    if listed.shape == "map":
        sheet.say(warn("subagents-wrong-type", _("`subagents` must be a list of names.")))
    return listed.allowed if listed.shape != "map" else ()
