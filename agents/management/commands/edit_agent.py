"""`manage.py edit_agent --workspace SLUG --name NAME …`: one save, as on the page."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents import editing
from agents.forms import efforts_of, models_of
from agents.management.acting import acting, add_arguments, agent_called, is_busy, principal_called
from agents.models import Agent
from runs.adapters import registry

TEXTS = ("title", "adapter-id", "model-id", "effort")
FILES = ("persona", "system-prompt")
NUMBERS = ("context-size", "silence-timeout-minutes")
NULLABLE = {"adapter_id", "model_id", "effort"}


class Command(BaseCommand):
    help = (
        "Change an agent. What is not given stays; an empty text takes a value away. "
        "--lifecycle pauses, archives or activates; --reports-to moves it in the chart."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        parser.add_argument("--rename", help="its new name")
        for name in TEXTS:
            parser.add_argument(f"--{name}")
        for name in FILES:
            parser.add_argument(f"--{name}", type=Path, help="a file with it")
        for name in NUMBERS:
            parser.add_argument(f"--{name}", type=_number, help="a whole number, or empty")
        parser.add_argument(
            "--skill", action="append", help="may be given again; these and no more"
        )
        parser.add_argument("--reports-to", help="a handle, or empty for nobody")
        parser.add_argument("--lifecycle", choices=Agent.Lifecycle.values)
        parser.add_argument(
            "--over-file", action="store_true", help="write over an AGENTS.md edited by hand"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(options) as by:
            agent = agent_called(options["name"])
            changes = _changes(options)
            if not changes:
                raise CommandError("Nothing was changed: say what to change.")
            _require_choices(agent, changes)
            saved = editing.save(
                agent,
                changes,
                version=agent.version,
                by=by,
                is_busy=is_busy,
                over_file=options["over_file"],
            )
        self.stdout.write(f"@{saved.name} is saved: {', '.join(sorted(changes))}.")


def _number(text: str) -> int | str:
    return int(text) if text.strip() else ""


def _changes(options: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for option in (*TEXTS, *FILES, *NUMBERS, "lifecycle"):
        name = option.replace("-", "_")
        value = options[name]
        if isinstance(value, Path):
            value = value.read_text()
        if value is not None:
            changes[name] = None if value == "" and name in NULLABLE | _UNDERSCORED else value
    if options["rename"] is not None:
        changes["name"] = options["rename"]
    if options["skill"] is not None:
        changes["skills"] = [name for name in options["skill"] if name]
    if options["reports_to"] is not None:
        handle = options["reports_to"]
        changes["reports_to"] = principal_called(handle) if handle else None
    return changes


_UNDERSCORED = {name.replace("-", "_") for name in NUMBERS}


def _require_choices(agent: Agent, changes: dict[str, Any]) -> None:
    """Adapter, model and effort are of those that there are. Raises CommandError."""
    now = {name: changes.get(name, getattr(agent, name)) for name in sorted(NULLABLE)}
    known = {
        "adapter_id": list(registry()),
        "model_id": [key for key, _word in models_of(now["adapter_id"], stored=agent)],
        "effort": [key for key, _word in efforts_of(now["adapter_id"], now["model_id"])],
    }
    if not changes.keys() & NULLABLE:
        return
    for name, value in now.items():
        if value is not None and value not in known[name]:
            listed = ", ".join(filter(None, known[name])) or "none"
            raise CommandError(f"{name}: {value!r} is not to be had here. There is: {listed}.")
