"""`manage.py read_agents PATH… --jsonl`: what the agent files of a folder hold."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agents.library import cli


class Command(BaseCommand):
    help = "Read agent files of any dialect and say how each fares. Needs no database."
    requires_system_checks = []  # noqa: RUF012 (Django's own form)

    def add_arguments(self, parser: ArgumentParser) -> None:
        cli.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        code = cli.run(
            options["paths"],
            jsonl=options["jsonl"],
            dialect=options["dialect"],
            out=self.stdout,
            err=self.stderr,
        )
        if code:
            sys.exit(code)
