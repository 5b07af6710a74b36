"""Writing a skill here: the same gate as for everything from outside, and nothing typed is lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import yaml
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from .. import comparing, local, requests, standing
from ..forms import LONGEST_TEXT, TextForm
from ..lockfile import LockMismatch, LockUnreadable
from ..models import Skill, SkillRequest
from ..scanning import File
from . import reading
from .frame import frame

SKILL_FILE = "SKILL.md"
MOST_FILES = 100
BLANK = """\
---
name: {name}
description: {description}
---

# {title}

"""


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the editor: the name, the version it began with, the files in their order."""

    slug: str
    base: str
    files: Mapping[str, str]

    @property
    def skill_file(self) -> str:
        return self.files.get(SKILL_FILE, "")

    @property
    def others(self) -> list[tuple[str, str]]:
        return [(path, text) for path, text in self.files.items() if path != SKILL_FILE]


@require_http_methods(["GET", "POST"])
@workspace_view(Role.ADMIN)
def skill_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    if request.method == "POST":
        return _save(request, None)
    text = BLANK.format(
        name=_("its-name"), description=_("What it is for, and when to read it."), title=_("Title")
    )
    return _page(request, Draft("", "", {SKILL_FILE: text}), None)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.ADMIN)
def skill_edit(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """A skill of this workspace's own; what came from a source is changed there."""
    row = get_or_404(Skill, skill)
    if row.origin == Skill.Origin.SOURCE:
        raise Http404
    if request.method == "POST":
        return _save(request, row)
    try:
        standing.checked(workspace.pk, row.slug)
    except (LockUnreadable, LockMismatch):
        messages.error(request, _("It cannot be edited while its files are not those of the lock."))
        return redirect("skills:skill-show", workspace.slug, row.pk)
    return _page(request, Draft(row.slug, row.digest, local.text_of(row)), row)


@require_GET
@workspace_view(Role.ADMIN)
def draft_edit(request: MemberRequest, workspace: Workspace, asked: UUID) -> HttpResponse:
    """A text that the gate did not let in, to go on writing."""
    row = get_or_404(SkillRequest.objects.filter(kind=SkillRequest.Kind.LOCAL), asked)
    skill = Skill.objects.filter(slug=row.slug).exclude(origin=Skill.Origin.SOURCE).first()
    draft = Draft(row.slug, skill.digest if skill else "", local.draft(row))
    return _page(request, draft, skill, is_dirty=True)


@require_POST
@workspace_view(Role.ADMIN)
def editor_preview(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """What the text becomes, while one writes. Nothing is stored."""
    draft, _problems = _sent(request, request.POST.get("slug", ""))
    return render(request, "skills/_editor_preview.html", _preview(draft))


def _save(request: MemberRequest, row: Skill | None) -> HttpResponse:
    form = TextForm(request.POST)
    draft, problems = _sent(request, row.slug if row else request.POST.get("slug", "").strip())
    if row is None:
        problems += [str(error) for error in form.errors.get("slug", [])]
    if problems:
        return _page(request, draft, row, problems=problems, status=422)
    if row is not None and row.digest != draft.base:
        return _conflict(request, draft, row)
    try:
        asked = local.save(draft.slug, draft.files, by=request.principal, over=draft.base)
    except (requests.CannotRequest, ValidationError) as error:
        return _page(request, draft, row, problems=[str(error)], status=422)
    return redirect("skills:request-show", request.workspace.slug, asked.pk)


def _conflict(request: MemberRequest, draft: Draft, row: Skill) -> HttpResponse:
    """Somebody saved meanwhile: both texts are compared, and saving again replaces theirs."""
    theirs = {path: File(0o100644, text.encode()) for path, text in local.text_of(row).items()}
    mine = {path: File(0o100644, text.encode()) for path, text in draft.files.items()}
    fresh = Draft(draft.slug, row.digest, draft.files)
    return _page(request, fresh, row, conflict=comparing.unified(theirs, mine), status=409)


def _sent(request: MemberRequest, slug: str) -> tuple[Draft, list[str]]:
    """What was typed, and what is wrong with it before the gate even looks."""
    files: dict[str, str] = {SKILL_FILE: _tidy(request.POST.get("skill_file", ""))}
    problems: list[str] = []
    pairs = zip(request.POST.getlist("path"), request.POST.getlist("text"), strict=False)
    for number, (path, text) in enumerate(pairs, start=1):
        name = path.strip()
        if not name and not text.strip():
            continue
        if problem := _bad_path(name, files):
            problems.append(problem)
            name = name if name and name not in files else _("file-%(n)d.md") % {"n": number}
        files[name] = _tidy(text)
    if len(files) > MOST_FILES:
        problems.append(_("At most %(n)d files are written here.") % {"n": MOST_FILES})
    if sum(len(text.encode()) for text in files.values()) > LONGEST_TEXT:
        problems.append(_("That is more text than a skill holds: at most 1 MB."))
    if any("\0" in text for text in files.values()):
        problems.append(_("There is a NUL character in the text; it cannot be stored."))
    if not files[SKILL_FILE].strip():
        problems.append(_("SKILL.md is empty: write what the skill is for."))
    return Draft(slug, request.POST.get("base", ""), files), problems


def _bad_path(path: str, known: Mapping[str, str]) -> str:
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or "\0" in path:
        return _("“%(path)s” is no path inside the skill.") % {"path": path}
    if any(part in {"", ".", ".."} for part in parts) or len(path) > 255:
        return _("“%(path)s” is no path inside the skill.") % {"path": path}
    if path.lower() in {each.lower() for each in known}:
        return _("“%(path)s” is there already.") % {"path": path}
    return ""


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n")


def _page(
    request: MemberRequest,
    draft: Draft,
    row: Skill | None,
    *,
    problems: list[str] | None = None,
    conflict: str = "",
    is_dirty: bool = False,
    status: int = 200,
) -> HttpResponse:
    context = frame(request, "installed") | _preview(draft) | {
        "draft": draft,
        "skill": row,
        "problems": problems or [],
        "conflict": conflict,
        "is_dirty": is_dirty or status != 200,
        "form": TextForm(initial={"slug": draft.slug, "base": draft.base}),
    }  # fmt: skip
    return render(request, "skills/edit.html", context, status=status)


def _preview(draft: Draft) -> dict[str, Any]:
    text = draft.skill_file
    front = _front_matter(text)
    name = str(front.get("name", "")) if front else ""
    return {
        "body": reading.body_of(text),
        "front": front,
        "name": name,
        "name_differs": bool(name and draft.slug and name != draft.slug),
        "description": str(front.get("description", "")) if front else "",
        "words": len(text.split()),
    }


def _front_matter(text: str) -> dict[str, Any] | None:
    """The keys of the front matter; None where there is none or nobody can read it."""
    if not text.startswith("---\n"):
        return None
    inside, line, _rest = text[4:].partition("\n---")
    if not line or len(inside) > 8192 or "&" in inside or "!" in inside:
        return None
    try:
        found = yaml.safe_load(inside)
    except (yaml.YAMLError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
