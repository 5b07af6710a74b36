"""`manage.py export_agent --workspace SLUG --name NAME --dialect fuxi`: the agent as a file."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents import mirror
from agents.library import exporting, reading
from agents.library.definition import Dialect
from agents.management.acting import acting, add_arguments, agent_called


class Command(BaseCommand):
    help = "Print an agent as a file of a dialect; what that dialect cannot hold goes to stderr."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        dialects = [each.value for each in Dialect if each is not Dialect.NONE]
        parser.add_argument("--dialect", choices=dialects, default="cc")

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(options):
            text = mirror.definition(agent_called(options["name"]))
        definition = reading.read_text(text, dialect=Dialect.CC, path="AGENTS.md")
        made = exporting.export(definition, Dialect(options["dialect"]))
        self.stdout.write(made.text, ending="")
        for warning in made.warnings:
            self.stderr.write(f"{warning.code}: {warning.sentence}")
