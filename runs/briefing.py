"""What an agent is told: a run's rows turned into the plain values that an adapter works from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from agents.models import Agent
from harness import catalogue
from harness.errors import Finished
from harness.seam import (
    Colleague,
    GitIdentity,
    Limits,
    PromptInputs,
    ProviderSettings,
    Root,
    RunSpec,
    Said,
    Wake,
)
from outside.sentences import phrase as _
from repositories.reach import guard
from spaces.models import Message
from workspaces.credentials import CannotUnseal, unseal
from workspaces.models import Membership, ModelConnection, Principal

from . import wording, workplace
from .bound import Acting, acting
from .models import Run
from .subagents import Child, child_of

CONVERSATION_CHARACTERS = 50_000


class NoModel(Finished):
    """The workspace has no way to a model yet, or the agent names one that is gone."""


@dataclass(frozen=True, slots=True)
class Brief:
    """Read from rows, before the disk is touched."""

    model: str
    providers: Mapping[str, ProviderSettings]
    identity: GitIdentity
    prompt: PromptInputs
    wake: Wake
    acting: Acting | Child | None = None
    effort: str = ""  # as the model gets it; empty leaves it to the provider


def read(run: Run) -> Brief:
    """The brief of a run whose workspace is bound. Raises NoModel, with what to do."""
    agent = run.agent
    if run.parent_id:
        return _of_child(run)
    model, providers = choose_model(agent)
    bound = acting(run, model=model)
    if bound is not None and bound.model.error:
        raise NoModel(bound.model.error)
    if bound is not None and bound.model.model != model:
        model, providers = choose_model(agent, wanted=bound.model.model)
    wanted = (bound.effort if bound else None) or agent.effort or ""
    effort = _known(wanted, model, providers)
    prompt = _prompt_inputs(run, agent)
    return Brief(model, providers, _identity(run), prompt, _wake(run), bound, effort)


def _of_child(run: Run) -> Brief:
    """What it was started as stands in its row, and so do its model and effort."""
    child = child_of(run)
    model, providers = choose_model(run.agent, wanted=run.model)
    prompt = PromptInputs(workspace_name=run.workspace.name, space_name=run.space.name)
    effort = _known(run.effort, model, providers)
    return Brief(model, providers, _identity(run), prompt, _wake(run), child, effort)


def _known(effort: str, model: str, providers: Mapping[str, ProviderSettings]) -> str:
    """The effort, if it is a word of the model that is asked first."""
    (provider, name), *_fallbacks = catalogue.chain(model)
    found = catalogue.shipped().find(provider, name)
    if not found.is_known and provider in providers:
        found = catalogue.shipped().find(providers[provider].kind, name)
    return found.effort(effort) or ""  # type: ignore[arg-type]


def spec(run: Run, brief: Brief, roots: tuple[Root, ...], directory: Path) -> RunSpec:
    """The run as the adapter gets it. Reads rows of the bound workspace."""
    agent = run.agent
    environment, gateway_socket = workplace.way_to_gateway(run)
    made = RunSpec(
        run_id=str(run.pk),
        workspace_id=str(run.workspace_id),
        agent_id=str(agent.pk),
        agent_name=agent.name,
        agent_title=agent.title,
        model=brief.model,
        providers=brief.providers,
        mode=run.mode,  # type: ignore[arg-type]
        working_directory=directory,
        artefact_directory=workplace.artefact_directory(run),
        roots=roots,
        git_identity=brief.identity,
        wake=brief.wake,
        prompt=brief.prompt,
        effort=brief.effort or None,  # type: ignore[arg-type]
        context_size=agent.context_size,
        limits=Limits(**getattr(settings, "CC_RUN_LIMITS", {})),
        skill_directories=(
            *workplace.skill_directories(agent),
            workplace.overlay(run, directory).folder,
        ),
        environment=environment,
        gateway_socket=gateway_socket,
        sandbox="required" if settings.REQUIRE_SANDBOX else "auto",
    )
    known = wording.values_of(run, made)
    keeps_default = isinstance(brief.acting, Acting) and brief.acting.joins
    is_bound = brief.acting is not None and not keeps_default
    made = wording.apply(run, made, known, is_bound=is_bound)
    return brief.acting.narrow(made, known) if brief.acting else made


def choose_model(agent: Agent, wanted: str = "") -> tuple[str, dict[str, ProviderSettings]]:
    """`connection/model`, or a chain of them, with the ways to the connections that it names."""
    connections = {each.name: each for each in ModelConnection.objects.select_related("credential")}
    model = wanted or agent.model_id or _default_model(connections.values())
    named = [link.strip().partition("/")[0] for link in model.split("|")]
    if named[0] not in connections:
        raise NoModel(
            _("@%(agent)s is set to %(model)s, but this workspace has no such connection.")
            % {"agent": agent.name, "model": model}
        )
    known = [connections[name] for name in named if name in connections]
    try:
        return model, {each.name: provider_settings(each) for each in known}
    except CannotUnseal as error:
        raise NoModel(str(error)) from error


def _default_model(connections: Iterable[ModelConnection]) -> str:
    default = next((each for each in connections if each.is_default), None)
    if default is None:
        raise NoModel(
            _(
                "No model is set up yet. An admin chooses one under Settings → Models; "
                "the demo model needs no key."
            )
        )
    return f"{default.name}/{default.default_model or DEFAULTS[default.provider]}"


DEFAULTS: dict[str, str] = {
    ModelConnection.Provider.ANTHROPIC: settings.DEFAULT_MODEL.partition("/")[2],
    ModelConnection.Provider.OPENAI: "default",
    ModelConnection.Provider.DEMO: "demo",
}


def provider_settings(connection: ModelConnection) -> ProviderSettings:
    """The way to a provider as the harness takes it, its key unsealed."""
    credential = connection.credential
    return ProviderSettings(
        name=connection.name,
        kind=connection.provider,  # type: ignore[arg-type]
        api_key=unseal(credential.sealed) if credential else "",
        base_url=connection.base_url,
        guard=None if connection.is_house_address else guard(),
        timeout_seconds=getattr(settings, "CC_PROVIDER_SECONDS", 300.0),
    )


def _identity(run: Run) -> GitIdentity:
    agent = run.agent
    co_author = ""
    if run.requested_by is not None and not run.requested_by.is_agent:
        user = Membership.objects.select_related("user").get(principal=run.requested_by).user
        co_author = f"{user} <{user.email}>"
    return GitIdentity(
        name=f"{agent.name.capitalize()} (agent)",
        email=f"{agent.pk}@agents.{settings.HOST_NAME}",
        co_author=co_author,
    )


def _prompt_inputs(run: Run, agent: Agent) -> PromptInputs:
    return PromptInputs(
        workspace_name=run.workspace.name,
        space_name=run.space.name,
        system_prompt=agent.system_prompt,
        persona=agent.persona,
        skill_names=tuple(name.display for name in agent.skill_names.all()),
        team=_team(agent),
        reports_to=agent.reports_to.handle if agent.reports_to else "",
        conversation=_said_before(run),
    )


def _team(agent: Agent) -> tuple[Colleague, ...]:
    people = Principal.objects.filter(removed_at=None).exclude(agent__pk=agent.pk)
    titles = dict(Agent.objects.exclude(name="").values_list("principal_id", "title"))
    return tuple(
        Colleague(
            handle=principal.handle,
            title=titles.get(principal.pk, principal.name),
            kind="agent" if principal.is_agent else "person",
        )
        for principal in people
    )


def _said_before(run: Run) -> tuple[Said, ...]:
    """The newest messages before the one that woke the run, whole ones only, up to the window."""
    before = Message.objects.filter(
        conversation=run.conversation, kind=Message.Kind.TEXT
    ).select_related("author")
    if run.message is not None:
        before = before.filter(n__lt=run.message.n)
    said: list[Said] = []
    room = CONVERSATION_CHARACTERS
    for message in before.order_by("-n")[:200]:
        room -= len(message.body)
        if room < 0:
            break
        said.append(Said(message.author.handle if message.author else "", message.body))
    return tuple(reversed(said))


def _wake(run: Run) -> Wake:
    message = run.message
    return Wake(
        reason=run.wake_reason,
        text=message.body if message else "",
        author=message.author.handle if message and message.author else "",
        message_id=str(message.pk) if message else "",
    )
