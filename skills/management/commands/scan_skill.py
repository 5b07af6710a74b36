"""`manage.py scan_skill PATH… --jsonl`: verdicts over skill folders or a file of samples.

Needs no database and no server and writes nothing, so a team can run it in its own CI.
"""

import sys
from typing import Any, TextIO, cast

from django.core.management.base import BaseCommand, CommandParser

from skills.scanning import command_line


class Command(BaseCommand):
    help = "Scan skills and print one verdict each."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        command_line.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        code = command_line.run(
            options["paths"],
            as_json=options["jsonl"],
            fail_on=options["fail_on"],
            out=cast(TextIO, self.stdout),
        )
        if code:
            sys.exit(code)
