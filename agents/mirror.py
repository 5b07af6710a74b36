"""The agent as a directory: `AGENTS.md` and its skill links, written together with the row.

Nothing else writes agent directories. Everything here happens inside the caller's bound
transaction; when that fails, also at its commit, the directory is put back as it was.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from skills.models import Skill

from .folders import Steps
from .library import cc
from .models import Agent
from .paths import agent_directory, skill_directory, workspace_directory

DEFINITION = "AGENTS.md"
MOST_BYTES = 4 * 1024 * 1024
ABOVE_LINKS = Path("../../../../skills")  # from a link's folder to the workspace's skills


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference between an agent's row and its directory; without an agent, a stray one."""

    agent: Agent | None
    kind: str  # missing_file edited_file missing_link stray_link stray_directory
    detail: str


def write(agent: Agent) -> None:
    """Directory, definition and links of a named agent stand as its row says; a draft has none."""
    if agent.is_draft:
        return
    steps, folder = _steps(agent), directory(agent)
    steps.make_directory(folder)
    steps.put(folder / DEFINITION, definition(agent).encode())
    _link(steps, folder, _wanted_links(agent, usable_skills(agent.workspace_id)))


def relink(slugs: Collection[str]) -> None:
    """Agents of the bound workspace that hold one of these skills have the links that its verdict
    allows now: a quarantined skill loses its link and gets it back when it is cleared."""
    holders = Agent.objects.exclude(name="").filter(skill_names__key__in=slugs).distinct()
    for agent in holders.prefetch_related("skill_names"):
        steps, folder = _steps(agent), directory(agent)
        steps.make_directory(folder)
        _link(steps, folder, _wanted_links(agent, usable_skills(agent.workspace_id)))


def move(agent: Agent, *, old_name: str) -> None:
    """The directory follows a new name; then it is written afresh."""
    old = agent_directory(agent.workspace_id, old_name)
    if old.is_dir() and not old.is_symlink():
        _steps(agent).move(old, directory(agent))
    write(agent)


def remove(agent: Agent) -> None:
    """The directory of an agent whose row is being deleted is gone with the commit."""
    if not agent.is_draft and (directory(agent).is_symlink() or directory(agent).exists()):
        _steps(agent).take_away(directory(agent))


def _steps(agent: Agent) -> Steps:
    return Steps(aside=workspace_directory(agent.workspace_id) / ".removed")


def directory(agent: Agent) -> Path:
    return agent_directory(agent.workspace_id, agent.name)


def definition(agent: Agent) -> str:
    """The text of the agent's AGENTS.md, as its row says."""
    return cc.render(
        {
            "name": agent.name,
            "title": agent.title or None,
            "skills": [name.display for name in agent.skill_names.all()] or None,
            "adapterId": agent.adapter_id,
            "modelId": agent.model_id,
            "effort": agent.effort,
            "contextSize": agent.context_size,
            "silenceTimeoutMinutes": agent.silence_timeout_minutes,
            "reportsTo": agent.reports_to.handle if agent.reports_to else None,
            "systemPrompt": agent.system_prompt or None,
            **agent.unknown_keys,
        },
        agent.persona,
    )


def hand_edit(agent: Agent) -> str | None:
    """What stands in the agent's file, when somebody wrote there what the row does not say.

    None when there is no file, or when row and file agree. Also None for what is no plain file.
    Empty for a file that cannot be read.
    """
    if agent.is_draft:
        return None
    try:
        data = on_disk(agent)
    except OSError:
        return ""
    if data is None:
        return None
    text = data[:MOST_BYTES].decode("utf-8", "replace")
    return None if text == definition(agent) else text


def on_disk(agent: Agent) -> bytes | None:
    """The bytes of a named agent's file, one more than `MOST_BYTES` at most; None for what is no
    plain file. Raises OSError.
    """
    file = directory(agent) / DEFINITION
    if file.is_symlink() or not file.is_file():
        return None
    with file.open("rb") as opened:
        return opened.read(MOST_BYTES + 1)


def drift(agent: Agent, usable: Collection[str] | None = None) -> list[Drift]:
    """What differs on disk. An edited file is reported, never overwritten here."""
    if agent.is_draft:
        return []
    if usable is None:
        usable = usable_skills(agent.workspace_id)
    folder, found = directory(agent), []
    file = folder / DEFINITION
    if folder.is_symlink() or file.is_symlink() or not file.is_file():
        found.append(Drift(agent, "missing_file", DEFINITION))
    elif hand_edit(agent) is not None:
        found.append(Drift(agent, "edited_file", DEFINITION))
    wanted, present = _wanted_links(agent, usable), _present_links(folder)
    found += [Drift(agent, "missing_link", slug) for slug in sorted(wanted - present)]
    found += [Drift(agent, "stray_link", slug) for slug in sorted(present - wanted)]
    return found


def drift_of_all(workspace_id: UUID) -> list[Drift]:
    """What differs anywhere in the bound workspace, in a constant number of queries."""
    agents = list(
        Agent.objects.exclude(name="")
        .select_related("reports_to")
        .prefetch_related("skill_names")
        .order_by("name")
    )
    usable = usable_skills(workspace_id)
    found = [each for agent in agents for each in drift(agent, usable)]
    root, names = workspace_directory(workspace_id) / "agents", {agent.name for agent in agents}
    strays = sorted(entry.name for entry in root.iterdir()) if root.is_dir() else []
    return found + [Drift(None, "stray_directory", name) for name in strays if name not in names]


def without_link(agent: Agent, usable: Collection[str] | None = None) -> list[tuple[str, str]]:
    """The skill names of the agent that nothing on disk stands behind, with the reason:
    `quarantined` or `missing`. They are listed in the prompt and inject nothing else."""
    if usable is None:
        usable = usable_skills(agent.workspace_id)
    held = [name for name in agent.skill_names.all() if name.key not in usable]
    rows = Skill.objects.filter(slug__in=[name.key for name in held])
    known = {row.slug for row in rows if not row.is_usable}
    return [(name.display, "quarantined" if name.key in known else "missing") for name in held]


def usable_skills(workspace_id: UUID) -> frozenset[str]:
    """The skills of the bound workspace with a verdict that allows a link, and a directory."""
    slugs = Skill.objects.usable().values_list("slug", flat=True)
    return frozenset(slug for slug in slugs if skill_directory(workspace_id, slug).is_dir())


def _wanted_links(agent: Agent, usable: Iterable[str]) -> set[str]:
    return {name.key for name in agent.skill_names.all()}.intersection(usable)


def _present_links(folder: Path) -> set[str]:
    """Names in the links' folder; right ones are links that lead to the workspace's skills."""
    links = _links_folder(folder)
    if folder.is_symlink() or links.parent.is_symlink() or links.is_symlink():
        return set()
    if not links.is_dir():
        return set()
    return {
        entry.name if _is_right(entry) else f"{entry.name} (no link of ours)"
        for entry in links.iterdir()
    }


def _links_folder(folder: Path) -> Path:
    return folder / ".agents" / "skills"


def _is_right(entry: Path) -> bool:
    return entry.is_symlink() and entry.readlink() == ABOVE_LINKS / entry.name


def _link(steps: Steps, folder: Path, wanted: set[str]) -> None:
    """Reconciles relative links; what goes is never followed, and comes back with a roll-back."""
    links = _links_folder(folder)
    steps.make_directory(links.parent)
    steps.make_directory(links)
    for entry in list(links.iterdir()):
        if not (entry.name in wanted and _is_right(entry)):
            steps.take_away(entry)
    for slug in sorted(wanted - _present_links(folder)):
        steps.link(links / slug, ABOVE_LINKS / slug)
