"""Agents for programs: the acts of the pages, in JSON. The names are those of AGENTS.md."""

from functools import wraps
from typing import Any, Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from runs.live_state import LiveState
from spaces.models import Space
from workspaces.access import MemberRequest, View, api_view
from workspaces.json_body import read, read_query
from workspaces.models import Principal, Role, Workspace
from workspaces.problem import Problem
from workspaces.sentences import translated

from . import creating, editing, mirror, reporting
from .forms import AgentForm
from .library import exporting, reading
from .library.definition import Dialect
from .models import Agent
from .views.agent import find, is_busy
from .views.mirror import take_file
from .views.preview import preview
from .views.standing import with_states

RUNS_ON = {"adapter_id", "model_id", "effort"}


class Shape(BaseModel):
    """A JSON object with these keys and no others, nothing converted."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, validate_by_alias=True
    )


class Fields(Shape):
    """What of an agent can be given. What is left out stays as it is."""

    name: str = ""
    title: str = ""
    persona: str = ""
    system_prompt: str = ""
    skills: list[str] = Field(default_factory=list, max_length=200)
    adapter_id: str | None = None
    model_id: str | None = None
    effort: str | None = None
    context_size: int | None = None
    silence_timeout_minutes: int | None = None
    reports_to: str | None = None


class Change(Fields):
    """A change of the version that was read."""

    version: int | None = None
    lifecycle: Literal["active", "paused", "archived"] = "active"
    over_file: bool = False


class Taking(Shape):
    """The version into which the file is taken."""

    version: int | None = None


class Settling(Taking):
    """The version that is kept, and whether a file edited by hand is written over."""

    over_file: bool = False


class Several(Shape):
    """A lifecycle for several agents at once."""

    agents: list[str] = Field(max_length=1000)
    lifecycle: Literal["active", "paused", "archived"]


class Move(Shape):
    """Who is to report to whom, by their handles; `under` null for nobody."""

    who: str
    under: str | None


class ListQuery(BaseModel):
    """How the list is narrowed, sorted and cut into pages."""

    model_config = ConfigDict(extra="forbid")

    q: str = Field("", max_length=200)
    state: LiveState | None = None
    lifecycle: Literal["", "active", "paused", "archived"] = ""
    sort: Literal["attention", "name"] = "attention"
    page: int = Field(1, ge=1, le=100_000)
    size: int = Field(50, ge=1, le=200)


class PromptQuery(BaseModel):
    """The mode whose prompt is wanted."""

    model_config = ConfigDict(extra="forbid")

    mode: Literal["chat", "plan", "orchestrate", "review"] = "chat"


def telling(view: View) -> View:
    """The view, with what an act refuses told as a problem."""

    @wraps(view)
    def inside(request: MemberRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except editing.Conflict as conflict:
            current = whole(find(conflict.agent.pk))
            raise Problem(409, "conflict", str(conflict), current=current) from None
        except editing.HandEdited as edit:
            sentence = _("%(what)s Take the file on its page, or send overFile to write over it.")
            words = {"what": edit}
            raise Problem(409, "hand-edited", sentence % words, file=edit.text) from None
        except editing.Busy as busy:
            raise Problem(409, "busy", str(busy)) from None
        except reporting.Circle as circle:
            raise Problem(409, "circle", " ".join(circle.messages)) from None
        except ValidationError as error:
            if not hasattr(error, "error_dict"):
                raise
            errors = {to_camel(name): said for name, said in error.message_dict.items()}
            raise _invalid(errors) from None
        except OSError as error:
            sentence = _("The directory could not be written (%(why)s). Nothing was changed.")
            why = {"why": error.strerror or error}
            raise Problem(507, "not-written", sentence % why) from None

    return inside


@api_view()
def agent_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A page of the agents, without their long texts."""
    asked = read_query(request, ListQuery)
    wanted = asked.q.strip().lower()
    narrow = Agent.objects.defer("persona", "system_prompt", "unknown_keys")
    if asked.lifecycle:
        narrow = narrow.filter(lifecycle=asked.lifecycle)
    rows = with_states(
        narrow.select_related("reports_to").prefetch_related("skill_names").order_by("name", "id")
    )
    rows = [row for row in rows if wanted in _words_of(row)]
    if asked.state is not None:
        rows = [row for row in rows if row.live_state == asked.state]
    if asked.sort == "attention":
        rows.sort(key=lambda row: row.live_order)
    start, end = (asked.page - 1) * asked.size, asked.page * asked.size
    address = reverse("agents:api-agents", args=[workspace.slug])
    following = request.GET.copy()
    following["page"] = str(asked.page + 1)
    return JsonResponse(
        {
            "agents": [brief(row) for row in rows[start:end]],
            "count": len(rows),
            "next": f"{address}?{following.urlencode()}" if end < len(rows) else None,
        }
    )


@api_view(Role.ADMIN)
@telling
def agent_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A draft, or with a name an agent; one of this name that is here stays, its files healed."""
    sent = read(request, Fields)
    row = Agent()
    changes = _changes(row, sent)
    if not sent.name:
        row = creating.create_draft(by=request.principal)
        if changes:
            row = _save(request, row, changes, version=row.version)
        return _answer(request, row, status=201)
    skills = tuple(changes.pop("skills", ()))
    row, is_new = creating.create(creating.Profile(**changes, skills=skills), by=request.principal)
    return _answer(request, row, status=201 if is_new else 200)


@api_view()
def agent_read(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    return _answer(request, find(agent))


@api_view(Role.ADMIN)
@telling
def agent_change(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The fields that are given, if nobody saved since the given version was read."""
    row, sent = find(agent), read(request, Change)
    version = _version_of(request, sent, row)
    changes = _changes(row, sent)
    return _answer(request, _save(request, row, changes, version=version, over_file=sent.over_file))


@api_view(Role.ADMIN)
@telling
def agent_delete(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    editing.delete(find(agent), by=request.principal, is_busy=is_busy)
    return HttpResponse(status=204)


@api_view()
def agent_loss(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """What would go with the agent, what stays, and whether it can go now."""
    row = find(agent)
    reports = row.principal.agent_reports.count() if row.principal else 0
    folder = None if row.is_draft else f"agents/{row.name}"
    return JsonResponse(
        {
            "possible": not is_busy(row),
            "goes": {"runs": row.runs.count(), "directory": folder},
            "stays": {"messages": row.principal.messages.count() if row.principal else 0},
            "passedUp": {"agents": reports, "to": _handle(row.reports_to)},
        }
    )


def lifecycle_view(lifecycle: str) -> View:
    """The act that brings one agent into this lifecycle; twice is once."""

    @api_view(Role.ADMIN)
    def act(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
        editing.set_lifecycle([find(agent)], lifecycle, by=request.principal)
        return _answer(request, find(agent))

    return act


agent_pause = lifecycle_view(Agent.Lifecycle.PAUSED)
agent_resume = lifecycle_view(Agent.Lifecycle.ACTIVE)
agent_archive = lifecycle_view(Agent.Lifecycle.ARCHIVED)


@api_view(Role.ADMIN)
def agents_several(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Pauses, archives or activates; `changed` says what each one was, for the way back."""
    sent = read(request, Several)
    rows = Agent.objects.filter(pk__in=[key for text in sent.agents if (key := _uuid(text))])
    if rows.count() != len(set(sent.agents)):
        raise Problem(422, "invalid", _("Nothing was changed: one of the agents is not here."))
    return JsonResponse(
        {"changed": editing.set_lifecycle(rows, sent.lifecycle, by=request.principal)}
    )


@api_view(Role.ADMIN)
@telling
def chain_move(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Somebody, person or agent, reports to somebody else; `before` is the way back."""
    sent = read(request, Move)
    who, under = _principal(sent.who), _principal(sent.under) if sent.under else None
    if who is None or (sent.under and under is None):
        sentence = _("Nobody here is called @%(handle)s.")
        missing = sent.who if who is None else sent.under
        raise Problem(422, "invalid", sentence % {"handle": missing})
    before = reporting.move(who, under=under, by=request.principal)
    return JsonResponse({"who": who.handle, "under": _handle(under), "before": _handle(before)})


@api_view()
def agent_prompt(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The prompt that a run in this mode would begin with, section by section."""
    row, mode = find(agent), read_query(request, PromptQuery).mode
    if row.is_draft:
        raise Http404
    seen = preview(row, mode=Space.Mode(mode), workspace=workspace)
    sections = [
        {"name": part.name, "tokens": part.tokens, "stable": part.is_stable, "text": part.text}
        for part in seen.parts
    ]
    return JsonResponse({"mode": mode, "tokens": seen.tokens, "sections": sections})


@api_view()
def agent_export(
    request: MemberRequest, workspace: Workspace, agent: UUID, dialect: str
) -> HttpResponse:
    """The agent as a file of another dialect, and what that dialect cannot hold."""
    row = find(agent)
    if row.is_draft or dialect not in set(Dialect) - {Dialect.NONE}:
        raise Http404
    definition = reading.read_text(mirror.definition(row), dialect=Dialect.CC, path="AGENTS.md")
    made = exporting.export(definition, Dialect(dialect))
    lost = [{"code": each.code, "sentence": translated(each.sentence)} for each in made.warnings]
    return JsonResponse({"fileName": made.file_name, "text": made.text, "lost": lost})


@api_view()
def mirror_all(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """Where rows and directories differ, agent by agent, and directories that are nobody's."""
    found = mirror.drift_of_all(workspace.pk)
    rows = {each.agent.pk: each.agent for each in found if each.agent}
    return JsonResponse(
        {
            "differing": [
                side_by_side(row, [each for each in found if each.agent == row])
                for row in rows.values()
            ],
            "strays": [each.detail for each in found if each.agent is None],
        }
    )


@api_view()
def mirror_one(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """The agent's row and its directory, side by side."""
    row = _named(agent)
    answer = JsonResponse(side_by_side(row, mirror.drift(row)))
    answer["ETag"] = f'"{row.version}"'
    return answer


@api_view(Role.ADMIN)
@telling
def mirror_heal(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponseBase:
    """Keeps the row: directory, file and links are written again; over a hand edit when asked."""
    row, sent = _named(agent), read(request, Settling)
    version = _version_of(request, sent, row)
    editing.heal(row, version=version, by=request.principal, over_file=sent.over_file)
    return mirror_one(request, workspace, agent=agent)


@api_view(Role.ADMIN)
@telling
def mirror_take_file(request: MemberRequest, workspace: Workspace, agent: UUID) -> HttpResponse:
    """Takes the file: what AGENTS.md says becomes the row, all of it or nothing."""
    row, sent = _named(agent), read(request, Taking)
    version = _version_of(request, sent, row)
    try:
        take_file(row, version=version, by=request.principal)
    except ValidationError as error:
        if isinstance(error, reporting.Circle):
            raise
        sentence = _("The file was not taken, nothing changed. %(why)s")
        words = {"why": " ".join(error.messages)}
        raise Problem(422, "invalid", sentence % words, errors={"file": error.messages}) from None
    return _answer(request, row)


def side_by_side(row: Agent, drift: list[mirror.Drift]) -> dict[str, Any]:
    """An agent's row and directory; `file` is what stands there when somebody edited it."""
    return {
        "agent": str(row.pk),
        "name": row.name,
        "version": row.version,
        "agrees": not drift,
        "drift": [{"kind": each.kind, "detail": each.detail} for each in drift],
        "file": mirror.hand_edit(row),
        "row": mirror.definition(row),
    }


def brief(row: Any) -> dict[str, Any]:
    """An agent as it stands in a list."""
    return {
        "id": str(row.pk),
        "name": row.name,
        "title": row.title,
        "skills": [name.display for name in row.skill_names.all()],
        "adapterId": row.adapter_id,
        "modelId": row.model_id,
        "effort": row.effort,
        "contextSize": row.context_size,
        "silenceTimeoutMinutes": row.silence_timeout_minutes,
        "reportsTo": _handle(row.reports_to),
        "lifecycle": row.lifecycle,
        "liveState": LiveState(row.live_state).value,
        "lastRunAt": row.last_run_at,
        "version": row.version,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def whole(row: Any) -> dict[str, Any]:
    """An agent with everything; `withoutLink` are its skills that nothing on disk stands behind."""
    return brief(row) | {
        "persona": row.persona,
        "systemPrompt": row.system_prompt,
        "unknownKeys": row.unknown_keys,
        "withoutLink": [
            {"skill": skill, "reason": reason} for skill, reason in mirror.without_link(row)
        ],
    }


def _answer(request: MemberRequest, row: Agent, *, status: int = 200) -> HttpResponse:
    fresh = find(row.pk)
    answer = JsonResponse(whole(fresh), status=status)
    answer["ETag"] = f'"{fresh.version}"'
    if status == 201:
        answer["Location"] = reverse("agents:api-agent", args=[request.workspace.slug, row.pk])
    return answer


def _save(
    request: MemberRequest,
    row: Agent,
    changes: dict[str, Any],
    *,
    version: int,
    over_file: bool = False,
) -> Agent:
    return editing.save(
        row, changes, version=version, by=request.principal, is_busy=is_busy, over_file=over_file
    )


def _changes(row: Agent, sent: Fields) -> dict[str, Any]:
    """What was given, checked as on the page. Raises Problem with a sentence a field."""
    given = {name for name in sent.model_fields_set if name not in {"version", "over_file"}}
    values = {name: getattr(sent, name) for name in given}
    data = _stored(row) | {name: "" if value is None else value for name, value in values.items()}
    errors: dict[str, list[str]] = {}
    if sent.reports_to:
        superior = _principal(sent.reports_to)
        data["reports_to"] = superior.pk if superior else ""
        if superior is None:
            errors["reportsTo"] = [
                _("Nobody here is called @%(handle)s.") % {"handle": sent.reports_to}
            ]
    data["skills"] = ", ".join(data["skills"])
    form = AgentForm(data, instance=row)
    concerned = given | (RUNS_ON if given & RUNS_ON else set())
    for name, said in form.errors.items():
        if name in concerned:
            errors.setdefault(to_camel(name), list(map(str, said)))
    if errors:
        raise _invalid(errors)
    return {name: form.cleaned_data[name] for name in given}


def _invalid(errors: dict[str, list[str]]) -> Problem:
    sentence = _("Nothing was changed. Look at: %(names)s.") % {"names": ", ".join(errors)}
    return Problem(422, "invalid", sentence, errors=errors)


def _stored(row: Agent) -> dict[str, Any]:
    form = AgentForm(instance=row)
    stored = {name: form[name].value() for name in form.fields}
    stored["skills"] = [name.display for name in row.skill_names.all()]
    return {name: "" if value is None else value for name, value in stored.items()}


def _named(agent: UUID) -> Agent:
    """The agent with this id; a draft has no directory, so it is not here. Raises Http404."""
    row: Agent = find(agent)
    if row.is_draft:
        raise Http404
    return row


def _version_of(request: MemberRequest, sent: Any, row: Agent) -> int:
    """The version that the program read, which must be the row's. Raises Problem, Conflict."""
    version: int | None = sent.version if sent.version is not None else _if_match(request)
    if version is None:
        sentence = _("Say which version you change: version in the body, or the header If-Match.")
        raise Problem(428, "version-missing", sentence)
    if version != row.version:
        raise editing.Conflict(row)
    return version


def _if_match(request: MemberRequest) -> int | None:
    text = request.headers.get("If-Match", "").removeprefix("W/").strip().strip('"')
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _words_of(row: Agent) -> str:
    skills = " ".join(name.key for name in row.skill_names.all())
    return f"{row.name} {row.title} {skills}".lower()


def _principal(handle: str) -> Principal | None:
    name = handle.lstrip("@")
    return Principal.objects.filter(handle__iexact=name, removed_at=None).first()


def _handle(principal: Principal | None) -> str | None:
    return principal.handle if principal else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
