"""`manage.py check_mirror [--repair]`: do rows and directories of agents agree?"""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents import mirror
from agents.management.acting import agent_called
from agents.management.workspaces import all_workspaces, workspace_called
from workspaces.tenancy import bind, writable_workspace


class Command(BaseCommand):
    help = (
        "Print what differs between agents' rows and directories; exit code 1 when anything does. "
        "--repair writes again what is missing. A file that was edited by hand is never touched: "
        "take_agent_file takes it, heal_agent --over-file drops it; both are on Agents → Files."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", help="only this workspace, by its slug")
        parser.add_argument("--name", help="only this agent")
        parser.add_argument("--repair", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        slug, self.only = options["workspace"], (options["name"] or "").lstrip("@").lower()
        if self.only and not slug:
            raise CommandError("An agent belongs to a workspace: give one with --workspace.")
        places = [(workspace_called(slug), slug)] if slug else all_workspaces()
        left = 0
        for workspace_id, name in places:
            with bind(workspace_id):
                left += self._check(name, repair=options["repair"])
        if left:
            sys.exit(1)
        self.stdout.write("Rows and directories agree.")

    def _check(self, workspace: str, *, repair: bool) -> int:
        """Prints what differs and mends what may be; returns how many differences are left."""
        if self.only:
            found = mirror.drift(agent_called(self.only))
        else:
            found = mirror.drift_of_all(writable_workspace())
        edited = {each.agent.pk for each in found if each.agent and each.kind == "edited_file"}
        left, mended = 0, set()
        for each in found:
            agent = each.agent
            is_mended = repair and agent is not None and agent.pk not in edited
            if is_mended and agent is not None and agent.pk not in mended:
                mirror.write(agent)
                mended.add(agent.pk)
            left += not is_mended
            who, said = f"@{agent.name}" if agent else "-", "mended" if is_mended else each.kind
            self.stdout.write(f"{workspace}\t{who}\t{said}\t{each.detail}")
        return left
