"""`manage.py create_agent --workspace SLUG --name NAME …`: the act of the page, from a shell."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.creating import Profile, create
from agents.management.workspaces import workspace_called
from workspaces.models import Principal
from workspaces.tenancy import bind


class Command(BaseCommand):
    help = "Create an agent in a workspace; one that is there keeps its row, its files are healed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", help="the slug of its workspace, as in /w/<slug>/")
        parser.add_argument("--name", required=True)
        parser.add_argument("--title", default="")
        parser.add_argument("--persona", type=Path, help="a file with its persona")
        parser.add_argument("--skill", action="append", default=[], help="may be given again")
        parser.add_argument("--reports-to", default="", help="a handle of the workspace")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["workspace"]:
            raise CommandError("An agent belongs to a workspace: give one with --workspace.")
        persona = options["persona"].read_text() if options["persona"] else ""
        with bind(workspace_called(options["workspace"])):
            superior = _superior(options["reports_to"])
            profile = Profile(
                name=options["name"],
                title=options["title"],
                persona=persona,
                skills=tuple(options["skill"]),
                reports_to=superior,
            )
            try:
                agent, is_new = create(profile)
            except ValidationError as error:
                raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"@{agent.name} {'is here' if is_new else 'was here; files healed'}.")


def _superior(handle: str) -> Principal | None:
    if not handle:
        return None
    name = handle.lstrip("@")
    found = Principal.objects.filter(handle__iexact=name, removed_at=None).first()
    if found is None:
        raise CommandError(f"Nobody in this workspace is called @{name}.")
    return found
