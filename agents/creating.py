"""Bringing an agent into a workspace: row, principal, directory, links; twice is once."""

from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from live.publish import publish
from workspaces import audit
from workspaces.handles import RESERVED
from workspaces.models import Principal
from workspaces.tenancy import bind, writable_workspace
from workspaces.turns import take_turn

from . import mirror
from .models import Agent, AgentSkill, is_storable

# Words that mean "everybody" or "I" in a message. The seeded names are reserved for agents.
NO_NAMES = RESERVED - {"ceo", "qa", "architect", "engineer", "librarian"}


@dataclass(frozen=True, slots=True)
class Profile:
    """What an agent is made of."""

    name: str
    title: str = ""
    persona: str = ""
    skills: tuple[str, ...] = ()
    system_prompt: str = ""
    adapter_id: str | None = None
    model_id: str | None = None
    effort: str | None = None
    context_size: int | None = None
    silence_timeout_minutes: int | None = None
    reports_to: Principal | None = None
    unknown_keys: dict[str, object] = field(default_factory=dict)


def create(profile: Profile, *, by: Principal | None = None) -> tuple[Agent, bool]:
    """The agent of this name in the bound workspace, and whether it is new.

    An existing row is left as it is, but its file and links are written again.
    Raises ValidationError for a name that is no slug or that a member has, and NoWorkspaceBound.
    """
    with bind(writable_workspace()):
        take_turn("names")
        agent = Agent.objects.filter(name__iexact=profile.name).exclude(name="").first()
        is_new = agent is None
        if agent is None:
            agent = _make(profile)
        mirror.write(agent)
        if is_new:
            if by is not None:
                audit.record("agent.create", actor=by, subject=str(agent))
            publish(f"w/{agent.workspace_id}/roster", "changed", data={"agent": str(agent.pk)})
        return agent, is_new


def _make(profile: Profile) -> Agent:
    if not profile.name:
        raise ValidationError({"name": _("An agent needs a name, unless it is a draft.")})
    agent = Agent(
        name=profile.name,
        title=profile.title,
        persona=tidy(profile.persona),
        system_prompt=tidy(profile.system_prompt),
        adapter_id=profile.adapter_id,
        model_id=profile.model_id,
        effort=profile.effort,
        context_size=profile.context_size,
        silence_timeout_minutes=profile.silence_timeout_minutes,
        reports_to=profile.reports_to,
        unknown_keys=profile.unknown_keys,
    )
    agent.clean_fields(exclude=["workspace", "principal", "reports_to"])
    agent.principal = claim_handle(profile.name, shown=profile.title or profile.name)
    agent.save()
    hold_skills(agent, profile.skills)
    return agent


def create_draft(*, by: Principal | None = None) -> Agent:
    """A nameless agent: no handle, no directory, no mention, no dispatch until it is named."""
    agent = Agent.objects.create()
    if by is not None:
        audit.record("agent.draft", actor=by, subject=str(agent.pk))
    publish(f"w/{agent.workspace_id}/roster", "changed", data={"agent": str(agent.pk)})
    return agent


def claim_handle(name: str, *, shown: str) -> Principal:
    """A principal for an agent of this name. Raises ValidationError when somebody has it."""
    require_free(name)
    principal = Principal(kind=Principal.Kind.AGENT, handle=name, name=shown)
    principal.clean_fields(exclude=["workspace"])
    try:
        with transaction.atomic():
            principal.save()
    except IntegrityError as error:
        raise ValidationError({"name": _taken()}) from error
    return principal


def require_free(name: str, *, but: Principal | None = None) -> None:
    """Raises ValidationError when a member or an agent has the name, or a message means more."""
    others = Principal.objects.filter(handle__iexact=name)
    if but is not None:
        others = others.exclude(pk=but.pk)
    if others.exists():
        raise ValidationError({"name": _taken()})
    if name in NO_NAMES:
        raise ValidationError({"name": _("@%(name)s has a meaning of its own.") % {"name": name}})


def _taken() -> str:
    return _("Somebody in this workspace is already called that.")


def hold_skills(agent: Agent, names: tuple[str, ...] | list[str]) -> None:
    """The agent holds exactly these skill names; case does not matter, the first spelling stays.

    A comma separates two of them, as on the page.
    """
    wanted: dict[str, str] = {}
    for name in ",".join(names).split(","):
        shown = " ".join(name.split())
        if not is_storable(shown):
            raise ValidationError({"skills": _("A character in it cannot be stored.")})
        if len(shown) > 64:
            raise ValidationError({"skills": _("A skill's name has at most 64 characters.")})
        if shown:
            wanted.setdefault(shown.casefold()[:64], shown)
    agent.skill_names.exclude(key__in=wanted).delete()
    present = {row.key: row for row in agent.skill_names.all()}
    for position, (key, display) in enumerate(wanted.items()):
        row = present.get(key)
        if row is None:
            AgentSkill.objects.create(agent=agent, key=key, display=display, position=position)
        elif (row.position, row.display) != (position, display):
            row.position, row.display = position, display
            row.save(update_fields=["position", "display"])


def tidy(text: str) -> str:
    """LF line ends and no white space at the ends: what the file gives back."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
