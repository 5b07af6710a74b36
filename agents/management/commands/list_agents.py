"""`manage.py list_agents --workspace SLUG [--json]`: who is there, and in which state."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents.management.acting import acting, add_arguments
from agents.models import Agent
from runs.live_state import with_live_state


class Command(BaseCommand):
    help = "List the agents of a workspace: name, lifecycle, live state, title, superior."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, agent=False)
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(options):
            rows = with_live_state(Agent.objects.select_related("reports_to").order_by("name"))
            for row in rows:
                fields = {
                    "name": row.name,
                    "lifecycle": row.lifecycle,
                    "liveState": row.live_state,
                    "title": row.title,
                    "reportsTo": row.reports_to.handle if row.reports_to else None,
                }
                line = "\t".join(str(value or "-") for value in fields.values())
                self.stdout.write(
                    json.dumps(fields, ensure_ascii=False) if options["json"] else line
                )
