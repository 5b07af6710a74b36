"""GitHub Copilot's agent files (`*.agent.md`), as far as their keys allow."""

from agents.library import fields, known, names
from agents.library.definition import AgentDefinition, Dialect
from agents.library.opencode import slugged
from agents.library.sheet import Sheet
from agents.library.warning import note, warn
from outside.sentences import phrase as _


def read(sheet: Sheet) -> AgentDefinition:
    """The definition; skipped without a description. The file name stands in for a name; a name
    that is no slug becomes one, with a warning.
    """
    sheet.drop = note
    declared = sheet.text("name") or names.stem(sheet.path)
    description = sheet.text("description")
    definition = AgentDefinition(
        dialect=Dialect.COPILOT,
        name=slugged(sheet, declared),
        declared_name=declared,
        description=description,
        model=_model(sheet),
        delegates=fields.names(sheet, "agents") if sheet.has("agents") else None,
        mcp=fields.mcp_servers(sheet, "mcp-servers"),
        ignored=fields.ignore(sheet, known.COPILOT_KEYS, known.QWEN_KEYS | known.JARVIS_ONLY),
        **fields.tool_fields(sheet),
    )
    if description:
        return definition
    return definition.skipped(
        warn("missing-description", _("The required `description` is missing."))
    )


def _model(sheet: Sheet) -> str | None:
    """One model, or several as a fallback chain `a|b`."""
    if isinstance(sheet.values.get("model"), list):
        return "|".join(fields.names(sheet, "model")) or None
    return sheet.text("model") or None
