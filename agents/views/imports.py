"""Importing agent files: choose where from, look at what would come, confirm, take back."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from outside import git
from repositories.models import Repository
from runs.models import Run
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.background import enqueue
from workspaces.models import Role, Workspace

from .. import importing, shelves, surroundings
from ..definitions import DefinitionImport, Shelf
from ..importing import Candidate, Confirmed
from ..library.places import Scope
from ..models import Agent
from ..shelves import Owner
from . import changes, shelf, words
from .shelf import SCOPES

Kind, State = DefinitionImport.Kind, DefinitionImport.State
MOST_UPLOADS = 200
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!")


@require_POST
@workspace_view(Role.MEMBER)
def import_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Files that were sent can be looked at at once; a folder or a repository is read first."""
    try:
        row = _asked(request)
    except (ValueError, git.GitError) as error:
        messages.error(request, getattr(error, "sentence", None) or str(error))
        return redirect("agents:library-import", workspace.slug)
    return redirect("agents:import-show", workspace.slug, row.pk)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def import_show(request: MemberRequest, workspace: Workspace, entry: UUID) -> HttpResponse:
    """What the import would bring. Nothing is created before it is confirmed here."""
    row = _mine(request, entry)
    if request.method == "POST":
        return _confirm(request, row)
    return render(request, "agents/import_show.html", _context(request, row))


@require_GET
@workspace_view(Role.MEMBER)
def import_now(request: MemberRequest, workspace: Workspace, entry: UUID) -> HttpResponse:
    """The page's part that changes while the files are read."""
    return render(request, "agents/_import.html", _context(request, _mine(request, entry)))


@require_POST
@workspace_view(Role.MEMBER)
def import_again(request: MemberRequest, workspace: Workspace, entry: UUID) -> HttpResponse:
    """Reads a failed or forgotten import once more; one that is being read goes on."""
    row = _mine(request, entry)
    again = row.state == State.FAILED or importing.is_stuck(row)
    if again and row.kind != Kind.UPLOAD:
        DefinitionImport.objects.filter(pk=row.pk).update(
            state=State.QUEUED, error="", begun_at=None
        )
        enqueue(importing.GATHER, row.workspace_id, row.pk, queue="files")
    return redirect("agents:import-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def import_undo(request: MemberRequest, workspace: Workspace, entry: UUID) -> HttpResponse:
    """The agents that the import made are gone, but for those that were changed or have worked."""
    row = _mine(request, entry)
    gone, stay = importing.undo_roster(
        row,
        by=request.principal,
        has_worked=lambda agent: Run.objects.filter(agent=agent).exists(),
    )
    text = ngettext("%(n)s agent is gone again.", "%(n)s agents are gone again.", gone)
    messages.success(request, text % {"n": gone})
    if stay:
        text = ngettext(
            "%(n)s stays: it was changed or has worked.",
            "%(n)s stay: they were changed or have worked.",
            stay,
        )
        messages.warning(request, text % {"n": stay})
    return redirect("agents:agent-list", workspace.slug)


def form_context(request: MemberRequest) -> dict[str, Any]:
    """What the page offers to import from."""
    may_manage = request.membership.may(Role.ADMIN)
    return {
        "repositories": Repository.objects.exclude(state=Repository.State.REMOVING),
        "may_manage": may_manage,
        "folders": [str(path) for path in settings.ALLOW_PATHS] if may_manage else [],
        "recent": DefinitionImport.objects.filter(by=request.principal)[:5],
    }


def _asked(request: MemberRequest) -> DefinitionImport:
    """Raises ValueError or GitError with a sentence for people."""
    kind, by = request.POST.get("kind", ""), request.principal
    if kind == Kind.UPLOAD:
        return importing.upload(_sent(request), by=by)
    ref = request.POST.get("ref", "").strip()[:200]
    if kind == Kind.FOLDER:
        _require_admin(request)
        folder = request.POST.get("folder", "").strip()
        if not folder:
            raise ValueError(_("Give the folder's path."))
        return importing.ask(Kind.FOLDER, by=by, source=folder[:500])
    if kind != Kind.REPOSITORY:
        raise ValueError(_("Choose where the files come from."))
    return _of_repository(request, ref)


def _of_repository(request: MemberRequest, ref: str) -> DefinitionImport:
    chosen, address = request.POST.get("repository", ""), request.POST.get("address", "").strip()
    if address:
        _require_admin(request)
        normal = git.normal(address)
        return importing.ask(Kind.REPOSITORY, by=request.principal, source=normal, ref=ref)
    repository = next((r for r in Repository.objects.all() if str(r.pk) == chosen), None)
    if repository is None:
        raise ValueError(_("Choose a repository, or give its address."))
    return importing.ask(
        Kind.REPOSITORY,
        by=request.principal,
        source=repository.name,
        ref=ref,
        repository_id=repository.pk,
    )


def _sent(request: MemberRequest) -> list[tuple[str, bytes]]:
    """Names and bytes of what was uploaded or pasted. Raises ValueError."""
    files = request.FILES.getlist("files")
    if len(files) > MOST_UPLOADS:
        raise ValueError(_("At most %(n)s files at once, please.") % {"n": MOST_UPLOADS})
    if any((file.size or 0) > shelves.MOST_BYTES for file in files):
        raise ValueError(_("One of the files is larger than 2 MB. Nothing was read."))
    sent = [(str(file.name), file.read()) for file in files]
    if archive := next((name for name, data in sent if data.startswith(_ARCHIVES)), ""):
        sentence = _("%(name)s is an archive. Unpack it and choose its files. Nothing was read.")
        raise ValueError(sentence % {"name": archive})
    text = request.POST.get("text", "").encode()
    if len(text) > shelves.MOST_BYTES:
        raise ValueError(_("The text is longer than 2 MB."))
    if text.strip():
        sent.append((request.POST.get("path", "").strip() or "pasted.md", text))
    if not sent:
        raise ValueError(_("Choose a file or paste its text."))
    return sent


def _mine(request: MemberRequest, entry: UUID) -> DefinitionImport:
    """An import of this member. Raises Http404 for any other."""
    row: DefinitionImport = get_or_404(DefinitionImport.objects.filter(by=request.principal), entry)
    return row


def _require_admin(request: MemberRequest) -> None:
    if not request.membership.may(Role.ADMIN):
        raise PermissionDenied


def _context(request: MemberRequest, row: DefinitionImport) -> dict[str, Any]:
    target = _target(request, row)
    owner = _owner(request, row, target)
    found: list[Candidate] = []
    if row.state == State.READY:
        found = importing.candidates(row, owner, taken=_taken(request, owner))
    return {
        "row": row,
        "is_stuck": importing.is_stuck(row),
        "target": target,
        "targets": _targets(request, row),
        "candidates": found,
        "proposed": sum(each.is_proposed for each in found),
        "bad": sum(not each.is_usable for each in found),
        "passed_over": importing.passed_over(row, found) if found else 0,
        "package": importing.package_of(row) if row.state == State.READY else "",
        "may_manage": request.membership.may(Role.ADMIN),
    }


def _targets(request: MemberRequest, row: DefinitionImport) -> list[tuple[str, str]]:
    """Where the files may go, in words."""
    targets = [("member", _("Your own definitions"))]
    if request.membership.may(Role.ADMIN):
        targets.append(("organisation", _("The organisation's definitions, for everybody")))
        targets.append((importing.ROSTER, _("Agents of the roster, paused at first")))
        if row.state == State.READY and (name := importing.package_of(row)):
            word = _("A package: %(name)s, whole and read-only") % {"name": name}
            targets.append((importing.PACKAGE, word))
    return targets


def _target(request: MemberRequest, row: DefinitionImport) -> str:
    asked = request.POST.get("target") or request.GET.get("target", "")
    known = [key for key, _word in _targets(request, row)]
    return asked if asked in known else known[0]


def _owner(request: MemberRequest, row: DefinitionImport, target: str) -> Owner | None:
    """The shelf of the target; None for the roster."""
    if target == importing.ROSTER:
        return None
    if target == importing.PACKAGE:
        return Owner(Shelf.PACKAGE, row.workspace_id)
    return shelf.owner_named(request, target)


def _taken(request: MemberRequest, owner: Owner | None) -> dict[str, str]:
    """Who is called so already, in words: on the roster by slug, in the library by name."""
    if owner is None:
        names = Agent.objects.exclude(name="").values_list("name", flat=True)
        return {name: f"@{name}" for name in names}
    library = surroundings.library_of(request.principal)
    own = Scope.MEMBER if owner.shelf == Shelf.MEMBER else Scope.MANAGED
    taken: dict[str, str] = {}
    for entry in library.entries:
        place = entry.found.place
        if entry.name and (place.scope is own or entry.is_effective):
            where = f"{entry.found.relative} ({SCOPES[place.scope]})"
            taken.setdefault(entry.name.lower(), where)
    return taken


def _confirm(request: MemberRequest, row: DefinitionImport) -> HttpResponse:
    # One after the other: of two clicks at once the second finds what the first one did.
    row = DefinitionImport.objects.select_for_update().get(pk=row.pk)
    if row.state != State.READY:
        if row.state == State.DONE:  # a second click
            return _after(request, row, Confirmed((), ()))
        return redirect("agents:import-show", request.workspace.slug, row.pk)
    target = _target(request, row)
    owner = _owner(request, row, target)
    chosen = set(request.POST.getlist("file"))
    every = importing.candidates(row, owner, taken=_taken(request, owner))
    picked = [each for each in every if str(each.number) in chosen]
    if not picked and target != importing.PACKAGE:
        messages.error(request, _("Nothing was chosen, so nothing was imported."))
        return redirect("agents:import-show", request.workspace.slug, row.pk)
    try:
        done = _bring(request, row, owner, picked, target)
    except (shelves.CannotKeep, OSError) as error:
        messages.error(request, words.not_written(error))
        return redirect("agents:import-show", request.workspace.slug, row.pk)
    return _after(request, row, done)


def _bring(
    request: MemberRequest,
    row: DefinitionImport,
    owner: Owner | None,
    picked: list[Candidate],
    target: str,
) -> Confirmed:
    if owner is None:
        return importing.to_roster(row, picked, by=request.principal)
    if target == importing.PACKAGE:
        return importing.to_package(row, owner, by=request.principal)
    return importing.to_shelf(row, owner, picked, by=request.principal)


def _after(request: MemberRequest, row: DefinitionImport, done: Confirmed) -> HttpResponse:
    if done.created:
        text = ngettext("%(n)s file was imported.", "%(n)s files were imported.", len(done.created))
        messages.success(request, text % {"n": len(done.created)})
    for path, why in done.refused[:5]:
        messages.warning(request, f"{path}: {why}")
    if row.batch is None:  # agents of the roster, or nothing at all
        return redirect("agents:import-show", request.workspace.slug, row.pk)
    return changes.after(request.workspace, row.batch)
