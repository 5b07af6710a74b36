"""Definition files that people keep in the library: a member's own, the workspace's, packages'.

Each write is one act with a batch: it can be undone as long as nobody changed the files since.
Everything happens inside the caller's bound transaction and is put back with it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from workspaces import audit
from workspaces.ids import uuid7
from workspaces.models import Principal
from workspaces.tenancy import writable_workspace
from workspaces.turns import take_turn

from .definitions import DefinitionChange, Shelf
from .folders import Steps
from .library.definition import AgentDefinition, Dialect
from .library.names import slugify
from .paths import workspace_directory

MOST_BYTES = 2 * 1024 * 1024
FOLDERS: Mapping[Dialect, str] = {
    Dialect.JARVIS: ".jarvis-code/agents",
    Dialect.FUXI: ".fuxi/agents",
    Dialect.QWEN: ".qwen/agents",
    Dialect.OPENCODE: ".config/opencode/agent",
    Dialect.COPILOT: ".copilot/agents",
}


class CannotKeep(ValueError):
    """The file cannot be kept here; the text is a sentence for people."""


class ChangedSince(RuntimeError):
    """The file is not what it was when the form was opened; `now` is what it holds, None: gone."""

    def __init__(self, now: bytes | None) -> None:
        super().__init__(_("Somebody changed this file while you were editing it."))
        self.now = now


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose shelf. `principal` is set for a member's home and for nothing else."""

    shelf: Shelf
    workspace_id: UUID
    principal: Principal | None = None

    @property
    def root(self) -> Path:
        top = workspace_directory(self.workspace_id)
        if self.shelf == Shelf.MEMBER:
            assert self.principal is not None
            return home_of(self.workspace_id, self.principal)
        return top / ("packages" if self.shelf == Shelf.PACKAGE else "organisation")


def home_of(workspace_id: UUID, principal: Principal) -> Path:
    """A member's home inside the workspace's data directory: what `~` means in agent files."""
    return workspace_directory(workspace_id) / "homes" / str(principal.pk)


def place_for(definition: AgentDefinition) -> str:
    """Where a definition belongs on a shelf. Raises CannotKeep for one that has no place there."""
    folder = FOLDERS.get(definition.dialect)
    if folder is None:
        raise CannotKeep(_("A file of this dialect is an agent of the roster; adopt it instead."))
    ending = ".agent.md" if definition.dialect is Dialect.COPILOT else ".md"
    return f"{folder}/{definition.slug or slugify(definition.name)}{ending}"


def free_place(owner: Owner, path: str) -> str:
    """The path, or the same with a number behind its name when a file stands there."""
    folder, _slash, name = path.rpartition("/")
    stem, ending = (name[:-9], ".agent.md") if name.endswith(".agent.md") else (name[:-3], ".md")
    number, candidate = 2, path
    while (owner.root / candidate).exists():
        candidate, number = f"{folder}/{stem}-{number}{ending}", number + 1
    return candidate


def read(owner: Owner, path: str) -> bytes | None:
    """What the file holds; None when nothing stands there that could be read."""
    file = _file(owner, path)
    if file.is_symlink() or not file.is_file():
        return None
    with file.open("rb") as opened:
        return opened.read(MOST_BYTES + 1)


def digest(data: bytes | None) -> str:
    """The name of these bytes, "" for none."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def put(
    owner: Owner,
    files: Iterable[tuple[str, bytes | None]],
    *,
    by: Principal,
    expected: Mapping[str, str] | None = None,
) -> UUID:
    """The files hold these bytes (None: are gone), as one act that can be undone by its id.

    `expected` maps paths to digests of what they must hold now. Raises ChangedSince, CannotKeep
    or OSError; then nothing was written.
    """
    take_turn(f"library {owner.root.name}")
    steps, batch = Steps(aside=workspace_directory(owner.workspace_id) / ".removed"), uuid7()
    wanted = list(files)
    for path, data in wanted:
        before = read(owner, path)
        if expected is not None and path in expected and digest(before) != expected[path]:
            raise ChangedSince(before)
        if before != data:
            _write(owner, steps, path, data)
            _note(owner, path, before, data, by=by, batch=batch)
    subject = ", ".join(path for path, _data in wanted[:3])[:200]
    audit.record("definition.change", actor=by, subject=subject, detail={"batch": str(batch)})
    return batch


@dataclass(frozen=True, slots=True)
class Undone:
    """How an undo went: what is as it was again, and what was left since somebody changed it."""

    restored: tuple[str, ...]
    left: tuple[str, ...]


def undo(batch: UUID, *, by: Principal, may_manage: bool) -> Undone:
    """Each file of the act is as it was before, unless it was changed since. Twice is once."""
    take_turn("library undo")
    rows = DefinitionChange.objects.select_for_update().filter(batch=batch, undone_at=None)
    restored, left = [], []
    steps = Steps(aside=workspace_directory(writable_workspace()) / ".removed")
    for row in rows:
        owner = Owner(Shelf(row.shelf), row.workspace_id, row.owner)
        if not may_change(owner, by, may_manage=may_manage):
            continue
        if read(owner, row.path) != _bytes(row.after):
            left.append(row.path)
            continue
        _write(owner, steps, row.path, _bytes(row.before))
        row.undone_at = timezone.now()
        row.save(update_fields=["undone_at"])
        restored.append(row.path)
    if restored:
        subject = ", ".join(restored[:3])[:200]
        audit.record("definition.undo", actor=by, subject=subject, detail={"batch": str(batch)})
    return Undone(tuple(restored), tuple(left))


def may_change(owner: Owner, principal: Principal, *, may_manage: bool) -> bool:
    """Members change what is their own; the workspace's and packages' files are an admin's."""
    if owner.shelf == Shelf.MEMBER:
        return owner.principal == principal
    return may_manage


def _file(owner: Owner, path: str) -> Path:
    """The file of a path below the shelf. Raises CannotKeep for a path that leads elsewhere."""
    parts = path.split("/")
    if len(path) > 400 or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise CannotKeep(_("This is no path in the library."))
    file = owner.root
    for part in ("", *parts):
        file = file / part if part else file
        if file.is_symlink():
            raise CannotKeep(_("A link stands in the way of this path."))
    return file


def _write(owner: Owner, steps: Steps, path: str, data: bytes | None) -> None:
    file = _file(owner, path)
    if data is None:
        if file.exists():
            steps.take_away(file)
        return
    if len(data) > MOST_BYTES:
        raise CannotKeep(_("The file is larger than 2 MB."))
    folder = owner.root
    steps.make_directory(folder)
    for part in path.split("/")[:-1]:
        folder = folder / part
        steps.make_directory(folder)
    steps.put(file, data)


def _note(
    owner: Owner,
    path: str,
    before: bytes | None,
    after: bytes | None,
    *,
    by: Principal,
    batch: UUID,
) -> None:
    DefinitionChange.objects.create(
        batch=batch,
        shelf=owner.shelf,
        owner=owner.principal,
        path=path,
        before=before,
        after=after,
        by=by,
    )


def _bytes(stored: bytes | memoryview | None) -> bytes | None:
    return None if stored is None else bytes(stored)
