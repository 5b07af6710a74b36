"""The folders in which agent files are looked for, from the highest scope to the lowest."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from agents.library.definition import Dialect

BUILTIN_FOLDER = Path(__file__).parent / "builtin"


class Scope(IntEnum):
    """Who stands behind a definition; a lower number wins (requirements 6.1)."""

    MANAGED = 0
    SESSION = 1
    PROJECT = 2
    EXTRA = 3
    MEMBER = 4
    PLUGIN = 5
    BUILTIN = 6


@dataclass(frozen=True, slots=True)
class Place:
    """One folder to search. `distance` counts folders up from the working directory, so the
    nearest wins; `generic` folders (`.agents/agents`) come after a vendor's own.

    Links may lead nowhere outside `root`. `from_repository` files need trust to replace anything.
    """

    scope: Scope
    folder: Path
    root: Path
    dialect: Dialect | None = None
    distance: int = 0
    generic: bool = False
    package: str = ""
    from_repository: bool = False


@dataclass(frozen=True, slots=True)
class Package:
    """An installed plugin or extension. `folders` are those of its manifest, relative to
    `folder`; empty means `agents/`.
    """

    name: str
    folder: Path
    dialect: Dialect
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a conversation stands. `ceiling` is the space's checkout: no search climbs above it.
    `home` is the member's home inside the workspace's data directory.
    """

    cwd: Path | None = None
    ceiling: Path | None = None
    home: Path | None = None
    jarvis_home: Path | None = None  # default: `.jarvis-code` in `home`
    managed: Sequence[Path] = ()  # the instance's first, then the workspace's own
    added: Sequence[Path] = ()
    extra: Sequence[str] = ()
    packages: Sequence[Package] = ()
    builtin: Path = field(default=BUILTIN_FOLDER)


def places(where: Surroundings) -> tuple[Place, ...]:
    """Every folder that may hold agent files, whether it exists or not."""
    return (
        *_managed(where),
        *_project(where),
        *_extra(where),
        *_member(where),
        *_packages(where),
        *_builtin(where),
    )


def project_root(cwd: Path, *, ceiling: Path | None = None) -> Path | None:
    """The nearest folder from `cwd` upwards that holds `.git` (folder or file), or None."""
    return next((folder for folder in _upwards(cwd, ceiling) if (folder / ".git").exists()), None)


def refused_extra(where: Surroundings) -> tuple[str, ...]:
    """The configured extra folders that lead out of the checkout and the member's home."""
    return tuple(text for text in where.extra if _extra_folder(text, where) is None)


def _upwards(cwd: Path, ceiling: Path | None) -> Iterator[Path]:
    for folder in (cwd, *cwd.parents):
        yield folder
        if folder == ceiling:
            return


# Where a person's or an organisation's own files of a dialect lie, below their folder.
OWN_FOLDERS = (
    (".jarvis-code/agents", Dialect.JARVIS, False),
    (".agents/agents", Dialect.JARVIS, True),
    (".fuxi/agents", Dialect.FUXI, False),
    (".claude/agents", Dialect.FUXI, False),
    (".qwen/agents", Dialect.QWEN, False),
    (".config/opencode/agent", Dialect.OPENCODE, False),
    (".copilot/agents", Dialect.COPILOT, False),
)


def _managed(where: Surroundings) -> Iterator[Place]:
    for distance, root in enumerate(where.managed):
        for name, dialect, generic in OWN_FOLDERS:
            yield Place(Scope.MANAGED, root / name, root, dialect, distance, generic)


def _project(where: Surroundings) -> Iterator[Place]:
    root = project_root(where.cwd, ceiling=where.ceiling) if where.cwd else None
    if where.cwd is None or root is None:
        return
    distance = 0
    for distance, folder in enumerate(_upwards(where.cwd, root)):
        yield from _fuxi_folders(folder, root, distance)
    yield from _root_folders(root, distance)
    for number, added in enumerate(where.added, distance + 1):
        yield from _fuxi_folders(added, added, number)
        yield from _root_folders(added, number)


def _root_folders(root: Path, distance: int) -> Iterator[Place]:
    """The folders of the dialects that look at the root of a checkout only."""
    for name, dialect, generic in (
        (".jarvis-code/agents", Dialect.JARVIS, False),
        (".agents/agents", Dialect.JARVIS, True),
        (".qwen/agents", Dialect.QWEN, False),
        (".opencode/agent", Dialect.OPENCODE, False),
        (".opencode/agents", Dialect.OPENCODE, False),
        (".github/agents", None, True),
        (".github/chatmodes", Dialect.COPILOT, True),
    ):
        folder = root / name
        yield Place(Scope.PROJECT, folder, root, dialect, distance, generic, from_repository=True)


def _fuxi_folders(folder: Path, root: Path, distance: int) -> Iterator[Place]:
    for vendor in (".fuxi", ".claude"):
        agents = folder / vendor / "agents"
        yield Place(Scope.PROJECT, agents, root, Dialect.FUXI, distance, from_repository=True)


def _extra(where: Surroundings) -> Iterator[Place]:
    root = project_root(where.cwd, ceiling=where.ceiling) if where.cwd else None
    for number, text in enumerate(where.extra):
        folder = _extra_folder(text, where)
        if folder is None:
            continue
        inside = root is not None and folder.is_relative_to(root)
        limit = root if inside and root is not None else where.home or folder
        yield Place(Scope.EXTRA, folder, limit, Dialect.JARVIS, number, from_repository=inside)


def _extra_folder(text: str, where: Surroundings) -> Path | None:
    """The folder that a configured text means, None when it leads out of checkout and home."""
    root = project_root(where.cwd, ceiling=where.ceiling) if where.cwd else None
    if text == "~" or text.startswith("~/"):
        base, rest = where.home, text[2:]
    else:
        base, rest = root, text
    if base is None:
        return None
    folder = _real(base / rest)
    limits = [_real(limit) for limit in (root, where.home) if limit is not None]
    return folder if any(folder.is_relative_to(limit) for limit in limits) else None


def _real(path: Path) -> Path:
    """The path with its links resolved; one that goes in circles stays as it stands."""
    return Path(os.path.realpath(path))


def _member(where: Surroundings) -> Iterator[Place]:
    home = where.home
    if home is None:
        return
    jarvis_home = where.jarvis_home or home / ".jarvis-code"
    for name, dialect, generic in OWN_FOLDERS:
        if name.startswith(".jarvis-code/"):
            yield Place(Scope.MEMBER, jarvis_home / "agents", jarvis_home, dialect)
        else:
            yield Place(Scope.MEMBER, home / name, home, dialect, generic=generic)


def _builtin(where: Surroundings) -> Iterator[Place]:
    for dialect in (Dialect.JARVIS, Dialect.FUXI, Dialect.QWEN):
        folder = where.builtin / dialect
        yield Place(Scope.BUILTIN, folder, where.builtin, dialect)


def _packages(where: Surroundings) -> Iterator[Place]:
    for package in where.packages:
        for name in package.folders or ("agents",):
            folder = package.folder / name
            if _real(folder).is_relative_to(_real(package.folder)):
                yield Place(
                    Scope.PLUGIN, folder, package.folder, package.dialect, package=package.name
                )
