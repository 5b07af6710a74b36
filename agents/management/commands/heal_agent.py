"""`manage.py heal_agent --workspace SLUG --name NAME`: the directory as the row says."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents import editing
from agents.management.acting import acting, add_arguments, agent_called


class Command(BaseCommand):
    help = "Write an agent's directory, AGENTS.md and skill links again, as its row says."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        parser.add_argument(
            "--over-file", action="store_true", help="write over an AGENTS.md edited by hand"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(options) as by:
            agent = agent_called(options["name"])
            editing.heal(agent, version=agent.version, by=by, over_file=options["over_file"])
        self.stdout.write(f"The directory of @{agent.name} is as its row says.")
