"""The agent as a directory: `AGENTS.md` and its skill links, written together with the row.

Nothing else writes agent directories. Everything here happens inside the caller's bound
transaction; when that fails, also at its commit, the directory is put back as it was.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from skills.models import Skill
from workspaces.tenancy import on_rollback

from .library import cc
from .models import Agent
from .paths import agent_directory, skill_directory

DEFINITION = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference between an agent's row and its directory."""

    agent: Agent
    kind: str  # missing_file | edited_file | missing_link | stray_link | stray_directory
    detail: str


def write(agent: Agent) -> None:
    """Directory, definition and links of a named agent stand as its row says; a draft has none."""
    if agent.is_draft:
        return
    folder = agent_directory(agent.workspace_id, agent.name)
    before = _snapshot(folder)
    on_rollback(lambda: _restore(folder, before))
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / DEFINITION, definition(agent))
    _link(folder, agent.workspace_id, _wanted_links(agent))


def move(agent: Agent, *, old_name: str) -> None:
    """The directory follows a new name; then it is written afresh."""
    old = agent_directory(agent.workspace_id, old_name)
    new = agent_directory(agent.workspace_id, agent.name)
    if old.exists() and not new.exists():
        old.rename(new)

        def back() -> None:
            new.rename(old)

        on_rollback(back)
    write(agent)


def remove(agent: Agent) -> None:
    """The directory of an agent whose row is being deleted is set aside, then goes on commit."""
    if agent.is_draft:
        return
    folder = agent_directory(agent.workspace_id, agent.name)
    if not folder.exists():
        return
    aside = Path(tempfile.mkdtemp(prefix=".removed-", dir=folder.parent))
    folder.rename(aside / folder.name)

    def put_back() -> None:
        (aside / folder.name).rename(folder)
        aside.rmdir()

    on_rollback(put_back)


def clear_removed(workspace_id: UUID) -> None:
    """Deletes directories that were set aside by committed removals."""
    agents = agent_directory(workspace_id, "x").parent
    for aside in agents.glob(".removed-*"):
        shutil.rmtree(aside, ignore_errors=True)


def definition(agent: Agent) -> str:
    """The text of the agent's AGENTS.md."""
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


def drift(agent: Agent) -> list[Drift]:
    """What differs on disk. An edited file is reported, never overwritten here."""
    if agent.is_draft:
        return []
    folder = agent_directory(agent.workspace_id, agent.name)
    file, found = folder / DEFINITION, []
    if not file.is_file():
        found.append(Drift(agent, "missing_file", str(DEFINITION)))
    elif file.read_bytes() != definition(agent).encode():
        found.append(Drift(agent, "edited_file", str(DEFINITION)))
    wanted, present = _wanted_links(agent), _present_links(folder)
    found += [Drift(agent, "missing_link", slug) for slug in sorted(wanted - present)]
    found += [Drift(agent, "stray_link", slug) for slug in sorted(present - wanted)]
    return found


def _wanted_links(agent: Agent) -> set[str]:
    keys = {name.key for name in agent.skill_names.all()}
    usable = Skill.objects.filter(slug__in=keys, verdict__in=["pass", "warn"])
    return {
        slug
        for slug in usable.values_list("slug", flat=True)
        if skill_directory(agent.workspace_id, slug).is_dir()
    }


def _links_folder(folder: Path) -> Path:
    return folder / ".agents" / "skills"


def _present_links(folder: Path) -> set[str]:
    links = _links_folder(folder)
    return {entry.name for entry in links.iterdir()} if links.is_dir() else set()


def _link(folder: Path, workspace_id: UUID, wanted: set[str]) -> None:
    """Reconciles relative links; a link that goes is never followed."""
    links = _links_folder(folder)
    links.mkdir(parents=True, exist_ok=True)
    for entry in list(links.iterdir()):
        target = Path("../../../../skills") / entry.name
        if entry.name in wanted and entry.is_symlink() and entry.readlink() == target:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for slug in sorted(wanted - _present_links(folder)):
        (links / slug).symlink_to(Path("../../../../skills") / slug, target_is_directory=True)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    existed: bool
    text: bytes | None
    links: dict[str, str]


def _snapshot(folder: Path) -> _Snapshot:
    file, links = folder / DEFINITION, _links_folder(folder)
    targets = {
        entry.name: str(entry.readlink())
        for entry in (links.iterdir() if links.is_dir() else ())
        if entry.is_symlink()
    }
    return _Snapshot(folder.exists(), file.read_bytes() if file.is_file() else None, targets)


def _restore(folder: Path, before: _Snapshot) -> None:
    if not before.existed:
        shutil.rmtree(folder, ignore_errors=True)
        return
    if before.text is None:
        (folder / DEFINITION).unlink(missing_ok=True)
    else:
        _replace(folder / DEFINITION, before.text.decode())
    links = _links_folder(folder)
    for name in _present_links(folder):
        if (links / name).is_symlink():
            (links / name).unlink()
    for name, target in before.links.items():
        (links / name).symlink_to(target, target_is_directory=True)


def _replace(file: Path, text: str) -> None:
    """Temp file, fsync, rename: a reader sees the old text or the new one, never a half."""
    descriptor, temp = tempfile.mkstemp(prefix=".AGENTS-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        Path(temp).chmod(0o644)
        Path(temp).replace(file)
    except BaseException:
        Path(temp).unlink(missing_ok=True)
        raise
