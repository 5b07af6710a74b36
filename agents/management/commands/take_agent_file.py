"""`manage.py take_agent_file --workspace SLUG --name NAME`: takes AGENTS.md into the row."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents.management.acting import acting, add_arguments, agent_called
from agents.views.mirror import take_file


class Command(BaseCommand):
    help = "Take what somebody wrote into an agent's AGENTS.md into its row: all of it or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(options) as by:
            agent = agent_called(options["name"])
            taken = take_file(agent, version=agent.version, by=by)
        said = "is as its AGENTS.md says" if taken else "agrees with its AGENTS.md already"
        self.stdout.write(f"@{agent.name} {said}.")
