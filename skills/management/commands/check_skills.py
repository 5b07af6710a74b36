"""`manage.py check_skills [--workspace SLUG] [--rescan]`: do lock, disk and rows agree?"""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from skills import recovery, rescanning, standing
from skills.lockfile import State
from skills.management.reporting import workspaces_called
from skills.models import Skill
from workspaces.tenancy import bind


class Command(BaseCommand):
    help = (
        "Print skills whose files, lock entry and row differ, and those that the gate lets nobody "
        "use; exit code 1 when there is one. What a killed write left is mended first. --rescan "
        "scans everything again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", help="only this workspace, by its slug")
        parser.add_argument("--rescan", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        recovery.tidy()
        wrong = 0
        for workspace_id, slug in workspaces_called(options["workspace"]):
            if options["rescan"]:
                rescanning.rescan(workspace_id, everything=True)
            with bind(workspace_id):
                wrong += self._check(workspace_id, slug)
        if wrong:
            sys.exit(1)
        self.stdout.write("Every skill is what was accepted.")

    def _check(self, workspace_id: Any, slug: str) -> int:
        found = standing.look(workspace_id, in_full=True)
        if found.problem:
            self.stdout.write(f"{slug}\t-\tunreadable\t{found.problem}")
            return 1
        wrong = 0
        for name, state in found.states.items():
            if state is not State.MATCHED:
                self.stdout.write(f"{slug}\t{name}\t{state}\t{standing.sentence(name, state)}")
                wrong += 1
        for row in Skill.objects.exclude(decision=Skill.Decision.ACCEPTED):
            self.stdout.write(f"{slug}\t{row.slug}\t{row.decision}\t{row.verdict}")
            wrong += 1
        return wrong
