"""The Fuxi dialect, which is also that of Claude Code's agent files."""

from agents.library import fields, known, names
from agents.library.definition import AgentDefinition, Dialect
from agents.library.sheet import Sheet
from agents.library.warning import LoadWarning, warn
from outside.sentences import phrase as _

_MODES = tuple(fields.POSTURES)


def read(sheet: Sheet) -> AgentDefinition:
    """The definition; skipped without a name or a description. An odd name is a warning."""
    name, description = sheet.text("name"), sheet.text("description")
    problems = _problems(name, description)
    mode = sheet.choice("permissionMode", _MODES)
    definition = AgentDefinition(
        dialect=Dialect.FUXI,
        name=name,
        declared_name=name,
        description=description,
        model=sheet.text("model") or None,
        posture=fields.POSTURES[mode] if mode else None,
        max_turns=sheet.positive_int("maxTurns"),
        effort=sheet.choice("effort", fields.EFFORTS),
        skills=fields.names(sheet, "skills"),
        mcp=fields.mcp_servers(sheet),
        hooks=fields.hooks(sheet),
        memory=sheet.choice("memory", fields.MEMORIES),
        background=sheet.flag("background"),
        isolation=sheet.choice("isolation", ("worktree",)),
        color=sheet.choice("color", fields.COLORS),
        initial_prompt=sheet.text("initialPrompt"),
        ignored=fields.ignore(sheet, known.FUXI_KEYS, known.QWEN_ONLY | known.JARVIS_ONLY),
        **fields.tool_fields(sheet),
    )
    if name and not names.is_kebab(name):
        sentence = _("The name %(name)s should be lower-case letters and hyphens.") % {
            "name": repr(name)
        }
        sheet.say(warn("name-not-lowercase-hyphen", sentence))
    if not sheet.body:
        sheet.say(warn("empty-body", _("The body is empty, so the agent has no instructions.")))
    return definition.skipped(*problems) if problems else definition


def _problems(name: str, description: str) -> list[LoadWarning]:
    problems = []
    if not name:
        problems.append(warn("missing-name", _("The required `name` is missing.")))
    if ":" in name:
        sentence = _("The name %(name)s has a colon, which only agents of packages may have.") % {
            "name": repr(name)
        }
        problems.append(warn("name-with-colon", sentence))
    if not description:
        problems.append(warn("missing-description", _("The required `description` is missing.")))
    return problems
