"""`manage.py delete_agent --workspace SLUG --name NAME --yes`: says what goes, then takes it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents import editing
from agents.management.acting import acting, add_arguments, agent_called, is_busy


class Command(BaseCommand):
    help = "Delete an agent with its runs and its directory. Without --yes it only says what goes."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        parser.add_argument("--yes", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(options) as by:
            agent = agent_called(options["name"])
            below = agent.principal.agent_reports.count() if agent.principal else 0
            above = str(agent.reports_to or "nobody")
            self.stdout.write(
                f"@{agent.name}: {agent.runs.count()} runs, its settings, directory and skill"
                f" links go. What it said stays. {below} that report to it will report to {above}."
            )
            if not options["yes"]:
                raise CommandError("Nothing was deleted. Add --yes to delete it.")
            editing.delete(agent, by=by, is_busy=is_busy)
        self.stdout.write("Deleted.")
