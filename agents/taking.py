"""Taking into the row what somebody wrote into the agent's file."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from workspaces.models import Principal
from workspaces.sentences import translated

from . import mirror
from .library import cc
from .library.yamlread import Value
from .models import Agent

TEXTS = {
    "name": "name",
    "title": "title",
    "systemPrompt": "system_prompt",
    "adapterId": "adapter_id",
    "modelId": "model_id",
    "effort": "effort",
}
NUMBERS = {"contextSize": "context_size", "silenceTimeoutMinutes": "silence_timeout_minutes"}
NULLABLE = {"adapterId", "modelId", "effort"}


@dataclass(frozen=True, slots=True)
class Taken:
    """What the file says as changes for `editing.save`; with problems it cannot be taken."""

    changes: dict[str, Any]
    problems: tuple[str, ...]


def read(agent: Agent) -> Taken | None:
    """The agent's file as changes of its row. None when nobody wrote in it. Raises OSError.

    A key that is left out is emptied; keys we do not know are kept with the row.
    """
    if agent.is_draft:
        return None
    data = mirror.on_disk(agent)
    if problem := _unusable(data):
        return Taken({}, (problem,))
    text = mirror.hand_edit(agent)
    return None if text is None else _taken(agent, text)


def _unusable(data: bytes | None) -> str:
    """Why nothing can be taken without losing some of it; empty when all is well."""
    if data is None:
        return _("There is no plain AGENTS.md there. Keep the settings to write it again.")
    if len(data) > mirror.MOST_BYTES:
        return _("AGENTS.md is larger than 4 MB.")
    try:
        data.decode()
    except UnicodeDecodeError as fault:
        return _("Byte %(number)s of AGENTS.md is not UTF-8.") % {"number": fault.start + 1}
    return ""


def _taken(agent: Agent, text: str) -> Taken:
    file = cc.parse(text)
    if not file.fields:
        said = [translated(warning.sentence) for warning in file.warnings]
        return Taken({}, tuple(said) or (_("The file holds no front matter."),))
    problems: list[str] = []
    changes: dict[str, Any] = {"persona": file.body}
    for key, name in TEXTS.items():
        changes[name] = _text(key, file.fields.get(key), problems)
    for key, name in NUMBERS.items():
        changes[name] = _number(key, file.fields.get(key), problems)
    changes["skills"] = _names(file.fields.get("skills"), problems)
    changes["reports_to"] = _superior(file.fields.get("reportsTo"), problems)
    changes["unknown_keys"] = {k: v for k, v in file.fields.items() if k not in cc.KEYS}
    if not changes["name"]:
        changes["name"] = agent.name
    return Taken(changes, tuple(problems))


def _text(key: str, value: Value, problems: list[str]) -> str | None:
    if value is None:
        return None if key in NULLABLE else ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    problems.append(_("%(key)s is no text.") % {"key": key})
    return None


def _number(key: str, value: Value, problems: list[str]) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    problems.append(_("%(key)s is no whole number.") % {"key": key})
    return None


def _names(value: Value, problems: list[str]) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [name.strip() for name in value.split(",")]
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return [str(name) for name in value]
    problems.append(_("skills is no list of names."))
    return []


def _superior(value: Value, problems: list[str]) -> Principal | None:
    if value is None:
        return None
    handle = str(value).lstrip("@")
    found = Principal.objects.filter(handle__iexact=handle, removed_at=None).first()
    if found is None:
        problems.append(
            _("reportsTo names @%(handle)s, who is not here.") % {"handle": handle[:60]}
        )
    return found
