"""Bringing an agent into a workspace: row, principal, directory, links; twice is once."""

from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from workspaces.models import Principal

from . import mirror
from .models import Agent, AgentSkill


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
    reports_to: Principal | None = None
    unknown_keys: dict[str, object] = field(default_factory=dict)


def create(profile: Profile) -> tuple[Agent, bool]:
    """The agent of this name in the bound workspace, and whether it is new.

    An existing row is left as it is, but its file and links are written again.
    Raises ValidationError for a name that is no slug or that a member has.
    """
    agent = Agent.objects.filter(name__iexact=profile.name).first()
    is_new = agent is None
    if agent is None:
        agent = Agent(
            name=profile.name,
            title=profile.title,
            persona=profile.persona,
            system_prompt=profile.system_prompt,
            adapter_id=profile.adapter_id,
            model_id=profile.model_id,
            reports_to=profile.reports_to,
            unknown_keys=profile.unknown_keys,
        )
        agent.principal = claim_handle(profile.name, shown=profile.title or profile.name)
        agent.full_clean(exclude=["workspace", "principal", "reports_to"])
        agent.save()
        hold_skills(agent, profile.skills)
    mirror.write(agent)
    return agent, is_new


def create_draft() -> Agent:
    """A nameless agent: no handle, no directory, no mention, no dispatch until it is named."""
    return Agent.objects.create()


def claim_handle(name: str, *, shown: str) -> Principal:
    """A principal for an agent of this name. Raises ValidationError when somebody has it."""
    if Principal.objects.filter(handle__iexact=name).exists():
        raise ValidationError({"name": _("Somebody in this workspace is already called that.")})
    principal = Principal(kind=Principal.Kind.AGENT, handle=name, name=shown)
    principal.clean_fields(exclude=["workspace"])
    principal.save()
    return principal


def hold_skills(agent: Agent, names: tuple[str, ...] | list[str]) -> None:
    """The agent holds exactly these skill names; case does not matter, the first spelling stays."""
    wanted: dict[str, str] = {}
    for name in names:
        if name.strip():
            wanted.setdefault(name.strip().casefold()[:64], name.strip()[:64])
    agent.skill_names.exclude(key__in=wanted).delete()
    present = {row.key: row for row in agent.skill_names.all()}
    for position, (key, display) in enumerate(wanted.items()):
        row = present.get(key)
        if row is None:
            AgentSkill.objects.create(agent=agent, key=key, display=display, position=position)
        elif (row.position, row.display) != (position, display):
            row.position, row.display = position, display
            row.save(update_fields=["position", "display"])
