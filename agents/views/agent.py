"""One agent: its settings, and its deletion."""

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from runs.adapters import registry
from runs.live_state import say_who_waits, with_live_state
from runs.models import Run
from skills.models import Skill
from workspaces.access import MemberRequest, get_or_404, require, workspace_view
from workspaces.models import Role, Workspace

from .. import abilities, editing, merging, mirror
from ..forms import AgentForm
from ..models import Agent
from .roster import roster_context


@require_http_methods(["GET", "POST"])
@workspace_view()
def agent_show(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The settings of an agent. A POST saves all of them at once."""
    row = find(agent)
    if request.method != "POST":
        return _settings(request, row, AgentForm(instance=row))
    require(request.membership, Role.ADMIN)
    form = AgentForm(_chosen(request.POST, row), instance=row)
    if not form.is_valid():
        return _settings(request, row, form, status=422)
    try:
        saved = editing.save(
            row,
            {key: value for key, value in form.cleaned_data.items() if key in WRITTEN},
            version=form.cleaned_data["version"],
            by=request.principal,
            is_busy=is_busy,
            over_file="over_file" in request.POST,
        )
    except editing.Conflict:
        return _conflict(request, form)
    except editing.HandEdited as edit:
        return _settings(request, row, form, status=409, hand_edit=edit)
    except editing.Busy as busy:
        form.add_error("name", str(busy))
        return _settings(request, row, form, status=409)
    except ValidationError as error:
        form.add_error(None, error)
        return _settings(request, row, form, status=422)
    except OSError as error:
        form.add_error(None, _not_written(error))
        return _settings(request, row, form, status=507)
    messages.success(request, _("%(agent)s is saved.") % {"agent": saved})
    return redirect("agents:agent-show", workspace.slug, row.pk)


WRITTEN = {*editing.FIELDS, "skills"}


@require_GET
@workspace_view()
def agent_runs_on(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """Adapter, model and effort again, for what is chosen at the moment; nothing is stored."""
    row = find(agent)
    asked = request.GET.copy()
    first = AgentForm(asked, instance=row)
    for name in ("model_id", "effort"):
        choices: Any = first.fields[name]
        if asked.get(name, "") not in {str(key) for key, _word in choices.choices}:
            asked[name] = ""
    context = {"agent": row, "form": AgentForm(asked, instance=row), **_adapters()}
    return render(request, "agents/_runs_on.html", context)


@require_POST
@workspace_view(Role.ADMIN)
def agent_delete(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    row = Agent.objects.filter(pk=agent).select_related("principal").first()
    if row is None:
        return redirect("agents:agent-list", workspace.slug)
    try:
        editing.delete(row, by=request.principal, is_busy=is_busy)
    except editing.Busy as busy:
        messages.error(request, str(busy))
        return redirect("agents:agent-show", workspace.slug, agent)
    messages.success(request, _("%(agent)s is deleted.") % {"agent": row})
    return redirect("agents:agent-list", workspace.slug)


def is_busy(agent: Agent) -> bool:
    """Whether a run of the agent is queued, at work or waiting."""
    return Run.objects.filter(agent=agent, state__in=Run.OPEN).exists()


def find(key: UUID) -> Agent:
    rows: Any = with_live_state(Agent.objects.select_related("principal", "reports_to"))
    found: Agent = get_or_404(rows.prefetch_related("skill_names"), key)
    say_who_waits([found])
    return found


def page(request: MemberRequest, row: Agent, tab: str) -> dict[str, Any]:
    """What every tab of an agent's page is rendered from."""
    return roster_context(request) | {"agent": row, "tab": tab}


def _settings(
    request: MemberRequest, row: Agent, form: AgentForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = page(request, row, "settings") | _adapters() | {"form": form} | more
    if request.membership.may(Role.ADMIN):
        context |= {
            "run_count": row.runs.count(),
            "reports_count": row.principal.agent_reports.count() if row.principal else 0,
        }
    context["without_link"] = mirror.without_link(row)
    context["known_skills"] = Skill.objects.only("slug", "description", "verdict", "decision")
    return render(request, "agents/settings.html", context, status=status)


def _adapters() -> dict[str, Any]:
    known = {key: each.capabilities for key, each in registry().items()}
    options = [
        {
            "value": "" if key == "cc-harness" else key,
            "word": each.title,
            "honesty": abilities.honesty(each.capabilities),
        }
        for key, each in registry().items()
    ]
    names = [each.title for each in registry().values()]
    return {"options": options, "adapter_names": names, "matrix": abilities.matrix(known)}


def _chosen(post: QueryDict, row: Agent) -> QueryDict:
    """The posted values, with the stored one where a clash was settled for the other's."""
    data, stored = post.copy(), AgentForm(instance=row)
    for name in stored.fields:
        if post.get(f"choose-{name}") == "theirs":
            data[name] = stored.text_of(name)
    return data


def _conflict(request: MemberRequest, form: AgentForm) -> HttpResponse:
    """Both values of each field that both changed; what only the other changed is taken over."""
    row = find(form.instance.pk)
    stored = AgentForm(instance=row)
    base, now, mine = _base(form), stored.digests(), form.digests()
    merged = merging.merge(
        {name: form.text_of(name) for name in now},
        {name: stored.text_of(name) for name in now},
        i_changed={name: mine[name] != base[name] for name in now if name in base},
        they_changed={name: now[name] != base[name] for name in now if name in base},
    )
    data = QueryDict(mutable=True)
    data.update({**merged.values, "version": str(row.version), "base": json.dumps(now)})
    again = AgentForm(data, instance=row)
    conflict = {
        "clashes": [
            {"label": stored[each.name].label, "name": each.name,
             "theirs": _word(stored, each.name, each.theirs),
             "mine": _word(stored, each.name, each.mine)}
            for each in merged.clashes
        ],
        "taken": [stored[name].label for name in merged.taken],
    }  # fmt: skip
    return _settings(request, row, again, status=409, conflict=conflict)


def _word(form: AgentForm, name: str, value: str) -> str:
    """What a person reads for a value: of a choice its word."""
    choices: Any = getattr(form.fields[name], "choices", ())
    words = {str(getattr(key, "value", key)): str(word) for key, word in choices}
    return words.get(value, value)


def _base(form: AgentForm) -> dict[str, str]:
    try:
        found = json.loads(form.cleaned_data.get("base") or "{}")
    except ValueError:
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _not_written(error: OSError) -> str:
    return _("The directory could not be written (%(reason)s). Nothing was changed.") % {
        "reason": error.strerror or error
    }
