"""The library that a member has in a place: every scope, resolved afresh each time it is asked.

Unchanged files cost a look at their times, nothing more.
"""

import json
import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings

from outside.git import folders
from workspaces.models import Principal
from workspaces.tenancy import writable_workspace

from . import packages
from .definitions import AcceptedDefinition, LibrarySetting
from .library import scopes
from .library.definition import AgentDefinition, Dialect
from .library.loading import Found, Loader
from .library.places import Surroundings, places
from .paths import workspace_directory
from .shelves import home_of

LOADER = Loader(remembers=50_000)
MOST_CONFIG_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Project:
    """A checkout whose definitions count. `cwd` is where the work is done, at or below `root`."""

    root: Path
    repository_id: UUID | None = None
    cwd: Path | None = None


def library_of(
    member: Principal | None,
    projects: Sequence[Project] = (),
    *,
    session: Iterable[Found] = (),
    main_dialect: Dialect = Dialect.CC,
) -> scopes.Library:
    """What the bound workspace, this member and these checkouts define, effective or not."""
    where = surroundings_of(member, projects)
    found = (*LOADER.load(places(where)), *session)
    return scopes.resolve(found, main_dialect=main_dialect, caution=caution_of(projects))


def surroundings_of(member: Principal | None, projects: Sequence[Project] = ()) -> Surroundings:
    """The folders in which a member's definitions are looked for. Reads one row of settings."""
    workspace_id, setting = writable_workspace(), settings_of_library()
    top = workspace_directory(workspace_id)
    home = home_of(workspace_id, member) if member is not None else None
    first = projects[0] if projects else None
    return Surroundings(
        cwd=(first.cwd or first.root) if first else None,
        ceiling=first.root if first else None,
        home=home,
        managed=(settings.DATA_DIR / "managed", top / "organisation"),
        added=[project.root for project in projects[1:]],
        extra=(*setting.extra_folders, *_extra_of(home)),
        packages=packages.installed(top / "packages", disabled=setting.disabled_packages),
    )


def caution_of(projects: Sequence[Project]) -> scopes.Caution:
    """Which files of these checkouts an admin has accepted, and whether any may be used."""
    accepted = {
        (row.repository_id, row.path, row.digest)
        for row in AcceptedDefinition.objects.filter(
            repository_id__in=[each.repository_id for each in projects if each.repository_id]
        ).only("repository_id", "path", "digest")
    }
    known = {digest for _repository, _path, digest in accepted}
    owners = [(str(each.root.resolve()), each.repository_id) for each in projects]

    def trusts(found: Found) -> bool:
        if found.definition.digest not in known:  # the usual case, without a look at the disk
            return False
        key = place_in(found, owners)
        return key is not None and (*key, found.definition.digest) in accepted

    return scopes.Caution(trusts=trusts, safe_mode=settings_of_library().safe_mode)


def place_in(found: Found, owners: Iterable[tuple[str, UUID | None]]) -> tuple[UUID, str] | None:
    """The repository of a found file and its path in it, None when it is no repository's."""
    for root, repository_id in owners:
        prefix = f"{root}/"
        whole = os.path.realpath(found.place.folder / found.relative)
        if repository_id is not None and whole.startswith(prefix):
            return repository_id, whole.removeprefix(prefix)
    return None


def settings_of_library() -> LibrarySetting:
    """The bound workspace's settings; unsaved defaults when nobody decided anything."""
    return LibrarySetting.objects.first() or LibrarySetting()


def default_agent(projects: Sequence[Project]) -> str:
    """The `agent` that the settings of the first checkout name for its conversations, "" for none.

    Whether it counts depends on the file that it names.
    """
    for project in projects[:1]:
        for vendor in (".fuxi", ".claude"):
            data = folders.read(project.root, f"{vendor}/settings.json", limit=MOST_CONFIG_BYTES)
            try:
                values = json.loads(data or b"")
            except (ValueError, RecursionError):
                continue
            name = values.get("agent") if isinstance(values, dict) else None
            if isinstance(name, str) and name.strip():
                return name.strip()
    return ""


def is_believed(entry: scopes.Entry, projects: Sequence[Project]) -> bool:
    """The definition is no repository's, or an admin has read its very bytes."""
    found = entry.found
    return not found.place.from_repository or caution_of(projects).trusts(found)


def system_md(member: Principal | None) -> tuple[str | None, str]:
    """The member's SYSTEM.md and what kept it from being read; (None, "") when there is none."""
    if member is None:
        return None, ""
    file = home_of(writable_workspace(), member) / ".jarvis-code" / "SYSTEM.md"
    try:
        return file.read_text(encoding="utf-8"), ""
    except FileNotFoundError:
        return None, ""
    except (OSError, UnicodeDecodeError) as error:
        return None, str(getattr(error, "strerror", None) or error)


def _extra_of(home: Path | None) -> tuple[str, ...]:
    """`extra_agent_dirs` of the member's config.toml; nothing when it cannot be read."""
    if home is None:
        return ()
    try:
        with (home / ".jarvis-code" / "config.toml").open("rb") as file:
            values = tomllib.loads(file.read(MOST_CONFIG_BYTES).decode())
    except (OSError, ValueError):
        return ()
    folders = values.get("extra_agent_dirs")
    return tuple(f for f in folders if isinstance(f, str)) if isinstance(folders, list) else ()


def standing_of(
    file: Path, definition: AgentDefinition, member: Principal | None, projects: Sequence[Project]
) -> scopes.Entry | None:
    """How the definition would stand if that file held it; None when no place has the file."""
    every = places(surroundings_of(member, projects))
    place = next((each for each in every if file.is_relative_to(each.folder)), None)
    if place is None:
        return None
    mine = Found(definition, place, str(file.relative_to(place.folder)))
    others = [found for found in LOADER.load(every) if found.place.folder / found.relative != file]
    library = scopes.resolve((*others, mine), caution=caution_of(projects))
    return next((entry for entry in library.entries if entry.found is mine), None)
