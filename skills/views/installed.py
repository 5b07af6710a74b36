"""What the workspace holds: the list, and acts on several skills at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F, Q, QuerySet
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from .. import exporting, removing, requests, rescanning, restoring
from ..lockfile import LockMismatch, LockUnreadable, State
from ..models import Skill, SkillRequest, SkillSource
from .frame import drift, frame, holders, look_at

ON_A_PAGE = 100
MOST_NAMED = 12  # in a message
SHOWN = ("all", "used", "updates", "attention")
ORDERS = ("name", "verdict", "source", "agents", "installed")
NOBODY = UUID(int=0)
WEIGHT = {"quarantine": 0, "warn": 1, "pass": 2}


@dataclass(frozen=True, slots=True)
class Row:
    """One installed skill as the list shows it."""

    skill: Skill
    agents: list[str]
    drift: State | None
    waiting: SkillRequest | None

    @property
    def needs_attention(self) -> bool:
        return self.drift is not None or not self.skill.is_usable


@require_GET
@workspace_view()
def skill_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Every skill with its verdict, where it is from, who has it, and what is wrong with it."""
    asked = _asked(request)
    standing = look_at(request)
    rows = _rows(drift(standing))
    found = _ordered([row for row in rows if _fits(row, asked)], asked["sort"])
    place = "updates" if asked["show"] == "updates" else "installed"
    context = frame(request, place) | asked | {
        "page": Paginator(found, ON_A_PAGE).get_page(request.GET.get("page")),
        "chips": _chips(rows, asked),
        "problem": standing.problem,
        "lost": [row for row in rows if row.drift],
        "strays": _strays(drift(standing), rows),
        "here": _query(asked),
        "has_any": bool(rows),
    }  # fmt: skip
    is_part = bool(request.headers.get("HX-Request"))
    return render(request, "skills/_installed.html" if is_part else "skills/list.html", context)


@require_GET
@workspace_view()
def place_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The list pane alone, for an open page."""
    source = None
    if key := request.GET.get("source", ""):
        source = SkillSource.objects.filter(pk=_uuid(key) or NOBODY).first()
    context = frame(request, request.GET.get("place", ""), source=source)
    return render(request, "skills/_places.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def skill_bulk(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Looks for updates of the chosen skills and installs what the gate accepts; what it holds
    waits in the queue. Or scans, brings back as the lock has them, exports or uninstalls them."""
    keys = [key for key in map(_uuid, request.POST.getlist("skill")) if key]
    chosen = list(Skill.objects.filter(pk__in=keys))
    act = request.POST.get("act", "")
    if act not in SEVERAL:
        return HttpResponseBadRequest(_("Nothing was changed: that is no act."))
    if not chosen:
        messages.info(request, _("Nothing was changed: choose skills first."))
        return redirect("skills:skill-list", workspace.slug)
    answer = SEVERAL[act](request, chosen)
    return answer or redirect("skills:skill-list", workspace.slug)


@require_POST
@workspace_view(Role.ADMIN)
def skill_rescan(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    rescanning.ask_rescan(by=request.principal)
    messages.info(
        request,
        _("Everything installed is being scanned again. What fails loses its links at once."),
    )
    next_page = "rules-show" if request.POST.get("next") == "rules" else "skill-list"
    return redirect(f"skills:{next_page}", workspace.slug)


@require_POST
@workspace_view(Role.ADMIN)
def skill_restore(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Everything that is not as the lock says."""
    restoring.ask_restore(by=request.principal)
    messages.info(request, _("What differs from the lock is being brought back."))
    return redirect("skills:skill-list", workspace.slug)


def export(request: MemberRequest, skills: list[Skill]) -> HttpResponse:
    """The skills as a ZIP; nothing leaves that is not as the lock says."""
    try:
        data = exporting.archive([skill.slug for skill in skills])
    except LockUnreadable as error:
        messages.error(
            request,
            _("Nothing was exported: the lock cannot be read (%(why)s).")
            % {"why": error.problems[0]},
        )
        return redirect("skills:skill-list", request.workspace.slug)
    except LockMismatch as error:
        messages.error(
            request,
            _("Nothing was exported: the files of %(name)s are not those of the lock.")
            % {"name": error.name},
        )
        return redirect("skills:skill-list", request.workspace.slug)
    name = skills[0].slug if len(skills) == 1 else f"{request.workspace.slug}-skills"
    return HttpResponse(
        data,
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}.zip"'},
    )


def _restore_several(request: MemberRequest, chosen: list[Skill]) -> None:
    restoring.ask_restore(by=request.principal, names=[skill.slug for skill in chosen])
    messages.info(request, _("They are being brought back as the lock has them."))


def _rescan_several(request: MemberRequest, chosen: list[Skill]) -> None:
    rescanning.ask_rescan(by=request.principal, skills=chosen)
    words = ngettext(
        "%(n)s skill is being scanned again. If it fails, it loses its links at once.",
        "%(n)s skills are being scanned again. What fails loses its links at once.",
        len(chosen),
    )
    messages.info(request, words % {"n": len(chosen)})


def _uninstall_several(request: MemberRequest, chosen: list[Skill]) -> HttpResponse | None:
    """First the question, with who loses what; with the yes all of them go, or none."""
    if request.POST.get("yes") != "1":
        context = frame(request, "installed") | {
            "chosen": chosen,
            "losses": removing.losses(chosen),
        }
        return render(request, "skills/uninstall.html", context)
    try:
        lost = removing.uninstall_all(chosen, by=request.principal)
    except LockUnreadable as error:
        words = _("Nothing was changed: the lock cannot be read (%(why)s).")
        messages.error(request, words % {"why": error.problems[0]})
        return None
    except OSError as error:
        words = _("Nothing was changed: the disk refused (%(why)s).")
        messages.error(request, words % {"why": error.strerror or error})
        return None
    names = _listed([skill.slug for skill in chosen])
    if lost:
        words = _("%(skills)s are gone; they were taken from %(agents)s.")
        agents = _listed([f"@{name}" for name in lost])
        messages.success(request, words % {"skills": names, "agents": agents})
    else:
        messages.success(request, _("%(skill)s is gone.") % {"skill": names})
    return None


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")


def _update_several(request: MemberRequest, chosen: list[Skill]) -> None:
    """Each gets a request that installs at once when nothing stands against it."""
    asked, refused = 0, []
    for skill in chosen:
        try:
            requests.preview_update(skill, by=request.principal, at_once=True)
            asked += 1
        except requests.CannotRequest as error:
            refused.append(f"{skill.slug}: {error}")
    if asked:
        messages.success(
            request,
            ngettext(
                "%(n)s update was asked for. What the gate holds waits for an admin.",
                "%(n)s updates were asked for. What the gate holds waits for an admin.",
                asked,
            )
            % {"n": asked},
        )
    for sentence in refused[:5]:
        messages.warning(request, sentence)


def _rows(drifted: dict[str, State]) -> list[Row]:
    held_by = holders()
    waiting = {each.skill_id: each for each in other_versions().order_by("created_at")}
    return [
        Row(skill, held_by.get(skill.slug, []), drifted.get(skill.slug), waiting.get(skill.pk))
        for skill in Skill.objects.select_related("source")
    ]


def other_versions() -> QuerySet[SkillRequest]:
    """Open requests for skills that are installed, and refused ones for the newest version."""
    refused = Q(state=SkillRequest.State.REFUSED, commit=F("skill__available_commit"))
    return SkillRequest.objects.filter(
        Q(state__in=SkillRequest.OPEN) | refused & ~Q(commit=""), skill__isnull=False
    )


def _strays(drifted: dict[str, State], rows: list[Row]) -> list[str]:
    """Directories and lock entries that no row knows."""
    known = {row.skill.slug for row in rows}
    return sorted(name for name in drifted if name not in known)


def _asked(request: MemberRequest) -> dict[str, Any]:
    show, sort = request.GET.get("show", ""), request.GET.get("sort", "")
    return {
        "wanted": request.GET.get("q", "").strip(),
        "show": show if show in SHOWN else "all",
        "sort": sort if sort in ORDERS else "name",
    }


def _query(asked: dict[str, Any], **changes: str) -> str:
    values = {"q": asked["wanted"], "show": asked["show"], "sort": asked["sort"]} | changes
    plain = {"show": "all", "sort": "name", "q": ""}
    return urlencode({key: value for key, value in values.items() if value != plain[key]})


def _fits(row: Row, asked: dict[str, Any]) -> bool:
    words = (
        f"{row.skill.slug} {row.skill.description} {row.skill.source_name} {' '.join(row.agents)}"
    )
    if not all(word in words.lower() for word in asked["wanted"].lower().split()):
        return False
    return _is_shown(row, asked["show"])


def _is_shown(row: Row, show: str) -> bool:
    return {
        "all": True,
        "used": bool(row.agents),
        "updates": row.skill.has_update,
        "attention": row.needs_attention,
    }[show]


def _ordered(rows: list[Row], order: str) -> list[Row]:
    keys: dict[str, Any] = {
        "name": lambda row: row.skill.slug,
        "verdict": lambda row: (not row.needs_attention, WEIGHT.get(row.skill.verdict, -1)),
        "source": lambda row: (row.skill.origin, row.skill.source_name),
        "agents": lambda row: -len(row.agents),
        "installed": lambda row: -row.skill.installed_at.timestamp(),
    }
    return sorted(sorted(rows, key=keys["name"]), key=keys[order])


def _chips(rows: list[Row], asked: dict[str, Any]) -> list[dict[str, Any]]:
    words = {
        "all": _("All"),
        "used": _("In use"),
        "updates": _("Updates"),
        "attention": _("Need attention"),
    }
    return [
        {
            "word": word,
            "query": _query(asked, show=show),
            "count": sum(_is_shown(row, show) for row in rows),
            "current": asked["show"] == show,
        }
        for show, word in words.items()
    ]


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


SEVERAL: dict[str, Callable[[MemberRequest, list[Skill]], HttpResponse | None]] = {
    "export": export,
    "rescan": _rescan_several,
    "restore": _restore_several,
    "uninstall": _uninstall_several,
    "update": _update_several,
}
