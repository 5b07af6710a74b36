"""OpenCode's agent files, as far as their keys allow: name, tools map, permissions, model."""

from agents.library import fields, known, names, toollist
from agents.library.definition import AgentDefinition, Dialect
from agents.library.fields import ToolFields
from agents.library.sheet import Sheet
from agents.library.warning import note, warn
from agents.library.yamlread import Value
from outside.sentences import phrase as _


def read(sheet: Sheet) -> AgentDefinition:
    """The definition. The file name stands in for a name; a missing description is a warning;
    a name that is no slug becomes one, with a warning.
    """
    declared = sheet.text("name") or names.stem(sheet.path)
    description = sheet.text("description")
    if not description:
        sentence = _("`description` is missing; the agent is listed as having none.")
        sheet.say(warn("missing-description", sentence))
    return AgentDefinition(
        dialect=Dialect.OPENCODE,
        name=slugged(sheet, declared),
        declared_name=declared,
        description=description,
        model=sheet.text("model") or None,
        max_turns=_steps(sheet),
        color=_color(sheet),
        ignored=fields.ignore(sheet, known.OPENCODE_KEYS, known.QWEN_KEYS | known.JARVIS_ONLY),
        **_tools(sheet),
    )


def slugged(sheet: Sheet, declared: str) -> str:
    """The name as a slug; a warning says when it had to be changed."""
    slug = names.slugify(declared)
    if slug != declared:
        sentence = _("The name %(declared)s is no slug; the agent is called `%(slug)s` here.") % {
            "declared": repr(declared),
            "slug": slug,
        }
        sheet.say(warn("name-slugged", sentence))
    return slug


def _steps(sheet: Sheet) -> int | None:
    sheet.drop = note
    return sheet.positive_int("steps" if sheet.has("steps") else "maxSteps")


def _color(sheet: Sheet) -> str | None:
    color = sheet.values.get("color")
    return color if isinstance(color, str) and color in fields.COLORS else None


def _tools(sheet: Sheet) -> ToolFields:
    """The switches of `tools`, less what `permission` denies outright."""
    listed = toollist.read("tools", sheet.values.get("tools"), present=sheet.has("tools"))
    sheet.say(*listed.warnings)
    denied = [*listed.denied]
    for key in ("permission", "permissions"):
        denied += _denied(sheet, key)
    blocked = fields.tool_list(sheet, "disallowedTools")
    allowed = () if "*" in denied else fields.all_when_star(listed.allowed)
    names_only = (name for name in (*denied, *(blocked.allowed or ())) if name != "*")
    return ToolFields(tools=allowed, disallowed_tools=tuple(dict.fromkeys(names_only)))


def _denied(sheet: Sheet, key: str) -> list[str]:
    rules = sheet.values.get(key)
    if isinstance(rules, str):
        return ["*"] if rules == "deny" else []
    if not isinstance(rules, dict):
        return []
    for tool, rule in rules.items():
        if isinstance(rule, dict) and not _denies(rule):
            sentence = _(
                "The patterns under `%(key)s.%(tool)s` are not enforced here; set a rule."
            ) % {"key": key, "tool": tool}
            sheet.say(note("permission-patterns", sentence))
    return [tool for tool, rule in rules.items() if _denies(rule)]


def _denies(rule: Value) -> bool:
    if isinstance(rule, dict):
        return rule.get("*") == "deny" and all(answer == "deny" for answer in rule.values())
    return rule == "deny"
