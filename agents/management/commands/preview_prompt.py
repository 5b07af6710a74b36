"""`manage.py preview_prompt --workspace SLUG --name NAME`: what its next run would begin with."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents.management.acting import acting, add_arguments, agent_called
from agents.views.preview import preview
from spaces.models import Space
from workspaces.models import Workspace
from workspaces.tenancy import writable_workspace


class Command(BaseCommand):
    help = "Print the assembled prompt of an agent, section by section, with its size in tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        parser.add_argument("--mode", choices=Space.Mode.values, default=Space.Mode.CHAT)

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(options):
            workspace = Workspace.objects.get(pk=writable_workspace())
            agent = agent_called(options["name"])
            seen = preview(agent, mode=options["mode"], workspace=workspace)
        for part in seen.parts:
            self.stdout.write(f"# {part.name} (about {part.tokens} tokens)\n\n{part.text}\n")
        self.stdout.write(f"About {seen.tokens} tokens in all.")
