"""The Qwen dialect: Claude Code's fields are accepted, and dropped silently when invalid."""

from collections.abc import Mapping

from agents.library import fields, known, names
from agents.library.definition import AgentDefinition, Dialect, Posture
from agents.library.fields import ToolFields
from agents.library.sheet import Sheet
from agents.library.warning import LoadWarning, note, warn
from agents.library.yamlread import Value
from outside.sentences import phrase as _

APPROVAL_MODES: Mapping[str, Posture] = {
    "default": Posture.ASK,
    "plan": Posture.PLAN,
    "auto-edit": Posture.ACCEPT_EDITS,
    "yolo": Posture.BYPASS,
    "bubble": Posture.ASK,
}
_COMPATIBLE_MODES: Mapping[str, Posture] = {
    "default": Posture.ASK,
    "plan": Posture.PLAN,
    "acceptEdits": Posture.ACCEPT_EDITS,
    "auto": Posture.ACCEPT_EDITS,
    "bypassPermissions": Posture.BYPASS,
    "dontAsk": Posture.ASK,
}
_LONG_DESCRIPTION = 1_000  # characters; more is a warning, nothing else
_LONG_PROMPT = 10_000
_MAX_ARGS = 100


def read(sheet: Sheet) -> AgentDefinition:
    """The definition; skipped without name or description, or with an approval mode or an
    executor that nobody knows. Tools, name shape and lengths only warn.
    """
    sheet.drop = note
    name, description = sheet.text("name"), sheet.text("description")
    problems = _problems(sheet, name, description)
    approval = sheet.values.get("approvalMode")
    definition = AgentDefinition(
        dialect=Dialect.QWEN,
        name=name,
        declared_name=name,
        description=description,
        model=sheet.text("model") or None,
        posture=_posture(sheet),
        posture_in_parent=approval == "bubble",
        max_turns=_max_turns(sheet),
        max_minutes=_max_minutes(sheet),
        effort=sheet.choice("effort", fields.EFFORTS),
        skills=fields.names(sheet, "skills"),
        mcp=fields.mcp_servers(sheet),
        hooks=fields.hooks(sheet),
        memory=sheet.choice("memory", fields.MEMORIES),
        background=sheet.flag("background"),
        isolation=sheet.choice("isolation", ("worktree",)),
        color=sheet.choice("color", (*fields.COLORS, "auto")),
        initial_prompt=sheet.text("initialPrompt"),
        executor=sheet.mapping("executor"),
        ignored=fields.ignore(sheet, known.QWEN_KEYS, known.JARVIS_ONLY),
        **_tools(sheet),
    )
    _measure(sheet, name, description)
    return definition.skipped(*problems) if problems else definition


def _problems(sheet: Sheet, name: str, description: str) -> list[LoadWarning]:
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
    approval = sheet.values.get("approvalMode")
    if approval is not None and approval not in tuple(APPROVAL_MODES):
        known_modes = ", ".join(APPROVAL_MODES)
        sentence = _("`approvalMode: %(approval)s` is none of %(known)s.") % {
            "approval": approval,
            "known": known_modes,
        }
        problems.append(warn("approval-mode-unknown", sentence))
    executor = sheet.values.get("executor")
    if executor is not None and not _is_executor(executor):
        sentence = _("`executor` needs a `kind` (codex or acp) and a `command`.")
        problems.append(warn("executor-invalid", sentence))
    return problems


def _is_executor(value: Value) -> bool:
    if not isinstance(value, dict) or value.get("kind") not in ("codex", "acp"):
        return False
    args = value.get("args", [])
    command = value.get("command")
    return (
        isinstance(command, str)
        and bool(command.strip())
        and isinstance(args, list)
        and len(args) <= _MAX_ARGS
        and all(isinstance(arg, str) for arg in args)
    )


def _posture(sheet: Sheet) -> Posture | None:
    """`approvalMode` wins over the compatible `permissionMode`."""
    approval = sheet.values.get("approvalMode")
    if isinstance(approval, str) and approval in APPROVAL_MODES:
        return APPROVAL_MODES[approval]
    mode = sheet.choice("permissionMode", tuple(_COMPATIBLE_MODES))
    return _COMPATIBLE_MODES[mode] if mode else None


def _max_turns(sheet: Sheet) -> int | None:
    """The top-level field wins over the legacy `runConfig.max_turns`."""
    own = sheet.positive_int("maxTurns")
    legacy = sheet.mapping("runConfig").get("max_turns")
    if own is not None or legacy is None:
        return own
    if isinstance(legacy, int) and not isinstance(legacy, bool) and legacy > 0:
        return legacy
    sheet.say(warn("max-turns-invalid", _("`runConfig.max_turns` must be a whole number above 0.")))
    return None


def _max_minutes(sheet: Sheet) -> float | None:
    value = sheet.mapping("runConfig").get("max_time_minutes")
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    sheet.say(warn("max-minutes-invalid", _("`runConfig.max_time_minutes` must be above 0.")))
    return None


def _tools(sheet: Sheet) -> ToolFields:
    """An empty list inherits every tool, which is worth a loud warning."""
    value = sheet.values.get("tools")
    if sheet.has("tools") and value in (None, [], ""):
        sentence = _("`tools` is empty, which in this dialect means every tool, not none.")
        sheet.say(warn("tools-empty-inherits-all", sentence))
        blocked = fields.tool_list(sheet, "disallowedTools")
        return ToolFields(tools=None, disallowed_tools=blocked.allowed or blocked.denied)
    return fields.tool_fields(sheet)


def _measure(sheet: Sheet, name: str, description: str) -> None:
    if name and not names.is_qwen_name(name):
        sentence = _(
            "The name %(name)s should be 2 to 50 letters, digits, hyphens or underscores."
        ) % {"name": repr(name)}
        sheet.say(warn("name-odd", sentence))
    if len(description) > _LONG_DESCRIPTION:
        sentence = _("The description has %(count)s characters; 1,000 are plenty.") % {
            "count": f"{len(description):,}"
        }
        sheet.say(warn("description-over-1000", sentence))
    if len(sheet.body) > _LONG_PROMPT:
        sentence = _("The prompt has %(count)s characters; 10,000 are plenty.") % {
            "count": f"{len(sheet.body):,}"
        }
        sheet.say(warn("prompt-over-10000", sentence))
    if not sheet.body:
        sheet.say(warn("empty-body", _("The body is empty, so the agent has no instructions.")))
