"""What a workspace decides about its library, and what a member keeps for every agent."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from workspaces import audit
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from .. import packages, shelves, surroundings
from ..definitions import Shelf
from ..library import frontmatter
from ..paths import workspace_directory
from ..shelves import CannotKeep, ChangedSince, Owner
from . import changes, words

MOST_FOLDERS = 20
SYSTEM_MD = ".jarvis-code/SYSTEM.md"
AGENTS_MD = ".jarvis-code/AGENTS.md"


@require_http_methods(["GET", "POST"])
@workspace_view(Role.ADMIN)
def library_settings(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Extra folders, safe mode, and which packages are switched on."""
    setting = surroundings.settings_of_library()
    context: dict[str, Any] = {"setting": setting, "folders": "\n".join(setting.extra_folders)}
    every = packages.installed(workspace_directory(workspace.pk) / "packages")
    if request.method == "POST":
        folders = [line.strip() for line in request.POST.get("folders", "").splitlines()]
        folders = [folder for folder in folders if folder]
        problem = _problem(folders)
        if not problem:
            setting.extra_folders = folders
            setting.safe_mode = "safe_mode" in request.POST
            setting.asks_to_delegate = "asks_to_delegate" in request.POST
            on = set(request.POST.getlist("package"))
            setting.disabled_packages = [each.name for each in every if each.name not in on]
            setting.save()
            audit.record("library.settings", actor=request.principal, subject=workspace.slug)
            messages.success(request, _("The library's settings are saved."))
            return redirect("agents:library-settings", workspace.slug)
        context |= {"problem": problem, "folders": request.POST.get("folders", "")}
    off = set(setting.disabled_packages)
    context["packages"] = [(each.name, each.dialect.value, each.name not in off) for each in every]
    status = 422 if context.get("problem") else 200
    return render(request, "agents/library_settings.html", context, status=status)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def library_prompt(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A member's SYSTEM.md, in place of the default prompt, and AGENTS.md, told beside it."""
    owner = Owner(Shelf.MEMBER, workspace.pk, request.principal)
    stored = {path: shelves.read(owner, path) for path in (SYSTEM_MD, AGENTS_MD)}
    shown = {path: (data or b"").decode("utf-8", "replace") for path, data in stored.items()}
    problem, status = "", 200
    if request.method == "POST":
        wanted = {
            SYSTEM_MD: frontmatter.normalise(request.POST.get("system", "")),
            AGENTS_MD: frontmatter.normalise(request.POST.get("agents", "")),
        }
        files = [
            (path, text.encode() if text.strip() else None)
            for path, text in wanted.items()
            if text != frontmatter.normalise(shown[path])
        ]
        expected = {path: request.POST.get(f"digest.{path}", "") for path, _data in files}
        try:
            if files:
                batch = shelves.put(owner, files, by=request.principal, expected=expected)
                return changes.after(workspace, batch)
            return redirect("agents:library-prompt", workspace.slug)
        except ChangedSince as changed:
            problem, status = " ".join([str(changed), _("Nothing was written.")]), 409
        except (CannotKeep, OSError) as error:
            problem, status = words.not_written(error), 422
        shown = wanted
    context = {
        "system": shown[SYSTEM_MD],
        "agents": shown[AGENTS_MD],
        "digests": {path: shelves.digest(data) for path, data in stored.items()}.items(),
        "problem": problem,
    }
    return render(request, "agents/library_prompt.html", context, status=status)


def _problem(folders: list[str]) -> str:
    if len(folders) > MOST_FOLDERS:
        return _("At most %(n)s folders, please.") % {"n": MOST_FOLDERS}
    for folder in folders:
        if folder.startswith("/") or ".." in folder.split("/") or "\0" in folder:
            return _("%(folder)s leads out of the checkout and of the member's home.") % {
                "folder": folder[:100]
            }
    return ""
