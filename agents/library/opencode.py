"""OpenCode's agent files, as far as their keys allow: name, tools map, permissions, model."""

from agents.library import fields, known, names, permissionmap, toollist
from agents.library.definition import AgentDefinition, Dialect
from agents.library.fields import ToolFields
from agents.library.sheet import Sheet
from agents.library.warning import LoadWarning, note, warn
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
    allowed, denied = fields.all_when_star(listed.allowed), [*listed.denied]
    for key in ("permission", "permissions"):
        left = permissionmap.read(sheet.values.get(key))
        sheet.say(*(_not_enforced(key, pattern) for pattern in left.patterns))
        allowed = _both(allowed, left.allowed)
        denied += left.denied
    denied += fields.tool_list(sheet, "disallowedTools").allowed or ()
    blocked = tuple(name for name in dict.fromkeys(denied) if name != "*")
    return ToolFields(
        tools=None if allowed is None else tuple(t for t in allowed if t not in blocked),
        disallowed_tools=blocked,
    )


def _both(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """What both lists allow; None allows all."""
    if first is None or second is None:
        return second if first is None else first
    return tuple(name for name in first if name in second)


def _not_enforced(key: str, pattern: str) -> LoadWarning:
    sentence = _("The patterns under `%(key)s.%(tool)s` are not enforced here; set a rule.")
    return note("permission-patterns", sentence % {"key": key, "tool": pattern})
