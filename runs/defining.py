"""A definition that somebody asked an agent to write: a file in that member's own library.

The member is the one who asked for the run, whoever began the conversation. Such a file brings no
posture, hooks, servers or executor along, and passes the scan that a repository's files pass.
"""

from agents import shelves
from agents.definitions import Shelf
from agents.inspecting import refusal_of
from agents.library import authoring, reading
from agents.library.definition import AgentDefinition, Dialect
from agents.library.places import Scope
from agents.shelves import CannotKeep, ChangedSince, Owner
from agents.surroundings import library_of, standing_of
from harness.seam import DefinitionKept, DefinitionWish, NotKept
from workspaces.models import Principal

from .models import Run


def keep(wish: DefinitionWish, run: Run) -> DefinitionKept:
    """The file stands there, and the library can undo it. Raises NotKept."""
    member = _who_asked(run)
    owner = Owner(Shelf.MEMBER, run.workspace_id, member)
    data = _text(wish).encode("utf-8", errors="replace")
    path = f"{shelves.FOLDERS[Dialect.FUXI]}/{wish.name}.md"
    definition = _read(data, str(owner.root / path))
    _require_only_one(wish.name, path, owner, member)
    before = shelves.read(owner, path)
    if before is not None and before != data and not wish.replaces:
        raise NotKept(f"@{member.handle} has a file ~/{path} already; set replace if it is meant.")
    try:
        shelves.put(
            owner,
            [(path, data)],
            by=run.agent.principal or member,
            expected={path: shelves.digest(before)},
        )
    except (CannotKeep, ChangedSince, OSError) as error:
        raise NotKept(str(error)) from error
    remarks = tuple(each.sentence for each in definition.loud_warnings)
    entry = standing_of(owner.root / path, definition, member, ())
    reason = (entry.reason,) if entry is not None and not entry.is_effective else ()
    return DefinitionKept(path, member.handle, before, data, (*remarks, *reason))


def _who_asked(run: Run) -> Principal:
    asker: Principal | None = run.requested_by
    if asker is None or asker.is_agent or asker.removed_at is not None:
        raise NotKept("No member asked for this run, so there is no library to write into.")
    return asker


def _text(wish: DefinitionWish) -> str:
    filled = {
        "name": wish.name,
        "description": wish.description,
        "tools": "" if wish.tools is None else ", ".join(wish.tools) or "[]",
        "disallowedTools": ", ".join(wish.disallowed_tools),
        "model": wish.model,
    }
    return authoring.written(Dialect.FUXI, filled, wish.prompt)


def _read(data: bytes, path: str) -> AgentDefinition:
    """What the file says. Raises NotKept for one that could not be used."""
    definition = reading.read_bytes(data, path=path, dialect=Dialect.FUXI)
    if not definition.is_usable:
        said = " ".join(each.sentence for each in definition.loud_warnings)
        raise NotKept(said or "The file could not be used.")
    if refusal := refusal_of(definition):
        raise NotKept(refusal)
    return definition


def _require_only_one(name: str, path: str, owner: Owner, member: Principal) -> None:
    """Raises NotKept when another file of the member's own bears that name."""
    for entry in library_of(member).entries:
        found = entry.found
        file = found.place.folder / found.relative
        is_theirs = found.place.scope is Scope.MEMBER and entry.definition.name == name
        if is_theirs and file != owner.root / path:
            shown = file.relative_to(owner.root)
            raise NotKept(f"@{member.handle} has an agent {name} already, in ~/{shown}.")
