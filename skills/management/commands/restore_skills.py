"""`manage.py restore_skills [--workspace SLUG] [NAME …]`: every skill of the lock stands again."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from skills import install, restoring
from skills.lockfile import LockUnreadable, parse
from skills.management.reporting import owner, workspaces_called
from skills.sources import CannotRegister, register_of_pin, sync
from workspaces.tenancy import bind


class Command(BaseCommand):
    help = (
        "Bring back what skills-lock.json names: each skill at its locked commit, through the "
        "gate, with exactly the locked bytes. Exit code 1 when one cannot be had. --register "
        "registers the sources that the lock names and the workspace does not know (a fresh "
        "machine). --rebuild-lock writes a lost or damaged lock anew from the database first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="only these skills")
        parser.add_argument("--workspace", help="only this workspace, by its slug")
        parser.add_argument("--register", action="store_true")
        parser.add_argument("--rebuild-lock", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        failed = 0
        for workspace_id, slug in workspaces_called(options["workspace"]):
            try:
                failed += self._restore(workspace_id, slug, options)
            except LockUnreadable as error:
                raise CommandError(
                    f"{slug}: the lock cannot be read ({error}). Put it back from a backup, or "
                    "give --rebuild-lock."
                ) from error
        if failed:
            sys.exit(1)

    def _restore(self, workspace_id: Any, slug: str, options: dict[str, Any]) -> int:
        if options["rebuild_lock"]:
            names = restoring.rebuild_lock(workspace_id)
            self.stdout.write(f"{slug}\tlock\trebuilt\t{len(names)} skills")
        if options["register"]:
            self._register(workspace_id, slug)
        failed = 0
        for one in restoring.restore(workspace_id, names=options["names"]):
            self.stdout.write(f"{slug}\t{one.name}\t{one.outcome}\t{one.sentence}")
            failed += one.outcome == "failed"
        return failed

    def _register(self, workspace_id: Any, slug: str) -> None:
        """The operator's own word stands for an admin's."""
        file = install.root(workspace_id) / "skills-lock.json"
        if not file.exists():
            return
        for pin in parse(file.read_bytes()).pins.values():
            with bind(workspace_id):
                try:
                    row = register_of_pin(pin, by=owner())
                except CannotRegister as error:
                    self.stdout.write(f"{slug}\t{pin.source}\tnot registered\t{error}")
                    continue
            if row is not None:
                sync(workspace_id, row.pk)
                self.stdout.write(f"{slug}\t{row.name}\tregistered\t")
