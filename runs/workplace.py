"""Where a run works: the conversation's directory, the agent's own part of it, the checkouts."""

import os
from pathlib import Path

from django.conf import settings

from agents import mirror, paths
from agents.models import Agent
from harness import sandbox
from harness.seam import Root
from repositories import checkouts
from repositories.gateway.environment import environment_of
from repositories.gateway.judge import Origin
from skills import standing
from skills.models import Skill

from .models import Run
from .overlay import Overlay


def prepare(run: Run) -> tuple[tuple[Root, ...], Path]:
    """The checkouts and the working directory stand. Runs git, so never inside a transaction.

    Raises repositories.checkouts.CheckoutFailed, with a sentence, when a checkout cannot be had.
    """
    roots = tuple(
        Root(
            name=place.name,
            path=place.path,
            writable=run.mode == "chat",
            checkout=checkouts.place_of(run.conversation, place.name),
            branch=place.branch,
        )
        for place in checkouts.prepare(run.conversation)
    )
    return roots, _working_directory(run)


def way_to_gateway(run: Run) -> tuple[dict[str, str], Path | None]:
    """How git in the run's shell reaches the push gateway, and the socket to mount for it.

    In the sandbox there is no network but that socket; without one git goes to the gateway's own
    address. The run's token opens its own repositories and nothing else.
    """
    socket = Path(settings.GATEWAY_SOCKET or "/nonexistent")
    sandboxed = sandbox.probe().is_usable and socket.is_socket()
    address = sandbox.GATEWAY_ADDRESS if sandboxed else settings.GATEWAY_URL
    variables = environment_of(origin(run), gateway_url=address)
    return variables, socket if sandboxed else None


def origin(run: Run) -> Origin:
    """The run as the repositories room knows it."""
    return Origin(
        workspace_id=run.workspace_id,
        run_id=run.pk,
        conversation_id=run.conversation_id,
        space_id=run.space_id,
        agent_principal_id=run.agent.principal_id,
        fence=run.fence,
    )


def conversation_directory(run: Run) -> Path:
    return paths.conversation_directory(run.workspace_id, run.space_id, run.conversation_id)


def artefact_directory(run: Run) -> Path:
    """Where output too long for the model is kept."""
    folder = conversation_directory(run) / "artefacts" / str(run.pk)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def skill_directories(agent: Agent) -> tuple[Path, ...]:
    """The directories of the agent's linked skills: readable, never writable."""
    keys = [name.key for name in agent.skill_names.all()]
    slugs = Skill.objects.usable().filter(slug__in=keys).values_list("slug", flat=True)
    found = standing.readable(agent.workspace_id, list(slugs)).files
    return tuple(paths.skill_directory(agent.workspace_id, slug) for slug in sorted(found))


def overlay(run: Run, directory: Path) -> Overlay:
    """What the server lays into the run's own directory; its staging is never mounted."""
    staging = conversation_directory(run) / "overlays" / paths.segment(run.agent.name)
    return Overlay(directory, staging)


def profile(agent: Agent) -> str:
    """Who the agent is, as its own directory says it."""
    return mirror.definition(agent)


def _working_directory(run: Run) -> Path:
    home = conversation_directory(run)
    folder = home / "agents" / paths.segment(run.agent.name)
    folder.mkdir(parents=True, exist_ok=True)
    (home / "repos").mkdir(exist_ok=True)
    _link(folder / "repos", Path("../../repos"))
    _link(folder / ".agents", Path("../../../../../agents") / run.agent.name / ".agents")
    return folder


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    temp = link.with_name(f".{link.name}-{os.getpid()}")
    temp.unlink(missing_ok=True)
    temp.symlink_to(target)
    temp.replace(link)
