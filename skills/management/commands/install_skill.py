"""`manage.py install_skill SOURCE [PATH] --workspace SLUG [--accept NOTE]`: the way of the page, in
one go and without a worker."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from skills import bringing, catalogue, holds, requests, sources
from skills.management.reporting import owner, workspaces_called
from skills.models import SkillRequest, SkillSource
from workspaces.tenancy import bind

State = SkillRequest.State


class Command(BaseCommand):
    help = (
        "Register a source, read it, and install one of its skills through the gate. Without PATH "
        "it lists what the source offers. What the gate holds or refuses is shown with what it "
        "found and not installed, unless --accept takes the risk with a note, which is recorded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", help="owner/name, a GitHub address, or what is allowed here")
        parser.add_argument("path", nargs="?", help="the skill's name or its folder in the source")
        parser.add_argument("--workspace", required=True, help="its slug, as in /w/<slug>/")
        parser.add_argument("--ref", default="", help="a branch or tag to follow")
        parser.add_argument("--name", default="", help="the name it gets here")
        parser.add_argument("--accept", metavar="NOTE", default="", help="why the risk is taken")

    def handle(self, *args: Any, **options: Any) -> None:
        ((workspace_id, _slug),) = workspaces_called(options["workspace"])
        source = self._source(workspace_id, options)
        if not options["path"]:
            self._list(workspace_id, source)
            return
        request = self._look(workspace_id, source, options)
        if request.state != State.PREVIEWED and not options["accept"]:
            self._show(workspace_id, request)
        done = self._install(workspace_id, request, options["accept"])
        self.stdout.write(f"{done.slug} is installed: {done.commit or done.digest}.")

    def _source(self, workspace_id: Any, options: dict[str, Any]) -> SkillSource:
        with bind(workspace_id):
            try:
                row = sources.known(options["source"], options["ref"]) or sources.register(
                    options["source"], by=owner(), ref=options["ref"]
                )
            except sources.CannotRegister as error:
                raise CommandError(str(error)) from error
        sources.sync(workspace_id, row.pk)
        with bind(workspace_id):
            row.refresh_from_db()
        if not row.is_added or row.state == SkillSource.State.FAILED:
            raise CommandError(str(row.error) or "The source is being read by somebody else.")
        return row

    def _list(self, workspace_id: Any, source: SkillSource) -> None:
        with bind(workspace_id):
            for entry in catalogue.search(source=source):
                here = f"  (installed as {entry.installed.slug})" if entry.installed else ""
                self.stdout.write(f"{entry.listing.path or '.'}\t{entry.listing.name}{here}")

    def _look(
        self, workspace_id: Any, source: SkillSource, options: dict[str, Any]
    ) -> SkillRequest:
        wanted = "" if options["path"] == "." else options["path"].strip("/")
        with bind(workspace_id):
            offers = source.listings.filter(skipped="").select_related("source")
            found = list(offers.filter(path=wanted)) or list(offers.filter(name=wanted))
            if len(found) != 1:
                raise CommandError(
                    f"The source offers {len(found)} skills called {wanted!r}. Give its folder."
                )
            try:
                asked = requests.preview(found[0], by=owner(), slug=options["name"])
            except requests.CannotRequest as error:
                raise CommandError(str(error)) from error
        bringing.examine(workspace_id, asked.pk)
        with bind(workspace_id):
            row: SkillRequest = SkillRequest.objects.get(pk=asked.pk)
        if row.state in {State.FAILED, State.CANCELLED}:
            raise CommandError(str(row.error))
        return row

    def _show(self, workspace_id: Any, request: SkillRequest) -> None:
        """Ends with the findings: nothing was written, and what can be done."""
        with bind(workspace_id):
            preview = requests.preview_of(request)
        for one in preview.findings if preview else ():
            if one.severity != "info":
                self.stdout.write(f"{one.severity}\t{one.rule}\t{one.file}:{one.line}\t{one.why}")
        reasons = ", ".join(request.reasons)
        ask = " Take the risk with --accept NOTE." if request.is_acceptable else ""
        raise CommandError(f"{request.slug} is {request.decision} ({reasons}).{ask}")

    def _install(self, workspace_id: Any, request: SkillRequest, note: str) -> SkillRequest:
        with bind(workspace_id):
            try:
                if request.state == State.PREVIEWED:
                    request = requests.install(request, by=owner())
                if request.state in {State.HELD, State.REFUSED}:
                    if not note:
                        raise CommandError(
                            f"{request.slug} waits for an admin ({', '.join(request.reasons)}): "
                            "decide on the page Skills, or take the risk with --accept NOTE."
                        )
                    request = holds.accept(request, by=owner(), note=note)
            except (requests.CannotRequest, holds.CannotDecide) as error:
                raise CommandError(str(error)) from error
        bringing.write(workspace_id, request.pk)
        with bind(workspace_id):
            done: SkillRequest = SkillRequest.objects.get(pk=request.pk)
        if done.state != State.INSTALLED:
            raise CommandError(str(done.error))
        return done
