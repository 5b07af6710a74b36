"""One installed skill: what it says, its files, what was found, who has it, what happened to it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from agents import editing
from agents.models import Agent
from runs.models import Run
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

from .. import comparing, holds, removing, requests, rescanning, restoring, standing
from ..lockfile import LockMismatch, LockUnreadable, State
from ..models import Skill, SkillRequest
from ..scanning import File, Finding
from . import reading
from .frame import drift, frame, look_at, reason_of
from .guardrails import said
from .installed import Row, export, other_versions

HISTORY = 50


@require_GET
@workspace_view()
def skill_show(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """What the skill tells an agent, as it stands on disk and in the lock."""
    row = get_or_404(Skill, skill)
    context = _page(request, row, "skill")
    files = context["files"]
    text = next((f.text for f in files if f.path.lower() == "skill.md"), None) or ""
    context |= {
        "body": reading.body_of(text),
        "capabilities": comparing.capabilities((), row.capabilities, {}),
        "guardrails": said(),
    }
    return render(request, "skills/show.html", context)


@require_GET
@workspace_view()
def skill_files(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    row = get_or_404(Skill, skill)
    context = _page(request, row, "files")
    opened = reading.opened(context["files"], context["findings"], request.GET.get("path", ""))
    if opened is None and request.GET.get("path"):
        raise Http404
    return render(request, "skills/files.html", context | {"opened": opened})


@require_GET
@workspace_view()
def skill_findings(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    row = get_or_404(Skill, skill)
    return render(request, "skills/findings.html", _page(request, row, "findings"))


@require_GET
@workspace_view()
def skill_agents(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """Who has it, and everybody who could."""
    row = get_or_404(Skill, skill)
    everybody = Agent.objects.exclude(name="").order_by("name")
    held = set(everybody.filter(skill_names__key=row.slug).values_list("pk", flat=True))
    context = _page(request, row, "agents")
    context["agents"] = [{"agent": agent, "has_it": agent.pk in held} for agent in everybody]
    is_part = bool(request.headers.get("HX-Request"))
    return render(request, "skills/_agents.html" if is_part else "skills/agents.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def skill_link(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """One agent gets the skill or loses it, with its file and its links."""
    row = get_or_404(Skill, skill)
    agent = get_or_404(Agent, _key(request.POST.get("agent", "")))
    names = [name.display for name in agent.skill_names.all() if name.key != row.slug]
    if request.POST.get("link") == "on":
        names.append(row.slug)
    try:
        editing.save(
            agent, {"skills": names}, version=agent.version, by=request.principal, is_busy=_is_busy
        )
    except editing.Conflict:
        messages.warning(
            request, _("Somebody changed @%(name)s just now; look again.") % {"name": agent}
        )
    except editing.HandEdited:
        messages.error(
            request,
            _("The file of @%(name)s was edited by hand. Settle that on its page first.")
            % {"name": agent},
        )
    except (ValidationError, OSError) as error:
        messages.error(request, str(error))
    return redirect("skills:skill-agents", workspace.slug, row.pk)


@require_GET
@workspace_view()
def skill_history(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """Everything that was asked about it, with who decided what and why."""
    row = get_or_404(Skill, skill)
    rows = SkillRequest.objects.filter(skill=row).select_related("requested_by", "decided_by")
    context = _page(request, row, "history") | {"history": rows[:HISTORY]}
    return render(request, "skills/history.html", context)


@require_GET
@workspace_view()
def skill_export(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    return export(request, [get_or_404(Skill, skill)])


@require_POST
@workspace_view(Role.ADMIN)
def skill_uninstall(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """Gone with its links. Twice is harmless."""
    row = Skill.objects.filter(pk=skill).first()
    if row is None:
        return redirect("skills:skill-list", workspace.slug)
    try:
        lost = removing.uninstall(row, by=request.principal)
    except LockUnreadable as error:
        messages.error(
            request,
            _("Nothing was changed: the lock cannot be read (%(why)s).")
            % {"why": error.problems[0]},
        )
        return redirect("skills:skill-show", workspace.slug, row.pk)
    if lost:
        messages.success(
            request,
            _("%(skill)s is gone; %(agents)s no longer have it.")
            % {"skill": row.slug, "agents": ", ".join(f"@{name}" for name in lost)},
        )
    else:
        messages.success(request, _("%(skill)s is gone.") % {"skill": row.slug})
    return redirect("skills:skill-list", workspace.slug)


@require_POST
@workspace_view(Role.ADMIN)
def skill_update(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """The newest version is fetched and scanned; its page shows what would change."""
    row = get_or_404(Skill, skill)
    try:
        asked = requests.preview_update(row, by=request.principal)
    except requests.CannotRequest as error:
        messages.error(request, str(error))
        return redirect("skills:skill-show", workspace.slug, row.pk)
    return redirect("skills:request-show", workspace.slug, asked.pk)


@require_POST
@workspace_view(Role.ADMIN)
def skill_bring_back(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    row = get_or_404(Skill, skill)
    restoring.ask_restore(by=request.principal, names=[row.slug])
    messages.info(request, _("%(name)s is being brought back as the lock has it.") % {"name": row})
    return redirect("skills:skill-show", workspace.slug, row.pk)


@require_POST
@workspace_view(Role.ADMIN)
def skill_accept(request: MemberRequest, workspace: Workspace, skill: UUID) -> HttpResponse:
    """An admin lets an installed skill that newer rules hold or refuse go on, with a reason."""
    row = get_or_404(Skill, skill)
    note = reason_of(request)
    if request.POST.get("confirm", "") != row.slug or not note:
        messages.error(request, _("Nothing was accepted: type the skill's name and a reason."))
        return redirect("skills:skill-show", workspace.slug, row.pk)
    try:
        rescanning.accept(row, by=request.principal, note=note)
    except holds.CannotDecide as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("%(name)s is linked again.") % {"name": row})
    return redirect("skills:skill-show", workspace.slug, row.pk)


def _page(request: MemberRequest, row: Skill, tab: str) -> dict[str, Any]:
    """What every tab is drawn from: the row, its files while they are the locked ones, holders."""
    files, problem = _files(request, row)
    held_by = list(removing.losers(row))
    state = drift(look_at(request)).get(row.slug)
    waiting = other_versions().filter(skill=row).first()
    findings = [Finding.from_json(one) for one in row.findings]
    shown = reading.shown(files)
    return frame(request, "installed") | {
        "skill": row,
        "row": Row(row, held_by, state, waiting),
        "tab": tab,
        "files": shown,
        "listed": reading.listed(shown, findings),
        "problem": problem,
        "findings": findings,
        "is_acceptable": all(one.acceptable for one in findings),
        "held_by": held_by,
    }


def _files(request: MemberRequest, row: Skill) -> tuple[Mapping[str, File], str]:
    """The files, or why nobody may read them."""
    try:
        return standing.checked(request.workspace.pk, row.slug), ""
    except LockUnreadable as error:
        return {}, _("The lock cannot be read (%(why)s), so no skill is shown or read.") % {
            "why": error.problems[0]
        }
    except LockMismatch as error:
        return {}, _drifted(error.state)


def _drifted(state: State) -> str:
    if state is State.MISSING:
        return _("Its files are missing, so no agent reads it.")
    if state is State.UNLISTED:
        return _("It is not in the lock, so no agent reads it.")
    return _("Its files were changed by hand, so no agent reads it and nothing of it is shown.")


def _is_busy(agent: Agent) -> bool:
    return Run.objects.filter(agent=agent, state__in=Run.OPEN).exists()


def _key(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
