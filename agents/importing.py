"""Bringing agent files in from elsewhere: gathered, shown, and created once they are confirmed."""

import base64
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from outside.sentences import joined
from workspaces import audit
from workspaces.background import enqueue
from workspaces.models import Principal
from workspaces.sentences import translated
from workspaces.tenancy import bind

from . import editing, packages, shelves
from .creating import Profile, create
from .definitions import DefinitionImport, Shelf
from .library import adopting, detect, names, reading
from .library.definition import AgentDefinition, Dialect
from .library.loading import agent_files
from .models import Agent
from .shelves import CannotKeep, Owner

GATHER = "agents.tasks.gather_import"
MOST_FILES = 500
MOST_BYTES = 12 * 1024 * 1024  # of all files together
MOST_REASONS = 200
KEPT_HOURS = 24
STUCK_SECONDS = 180
State = DefinitionImport.State
_VENDORED = frozenset({"node_modules", ".git", "vendor", "__pycache__", ".venv", "dist"})
_HOMES = frozenset({"agents", "agent", "chatmodes", "subagents"})
ROSTER, PACKAGE = "roster", "package"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One gathered file: what it would become, and what stands in its way."""

    number: int
    path: str
    data: bytes
    definition: AgentDefinition
    twin: str = ""  # an earlier file of this import with the same name
    namesake: str = ""  # what is called so already, in words
    is_there: bool = False  # the very same bytes stand on the shelf

    @property
    def is_usable(self) -> bool:
        return self.definition.is_usable

    @property
    def is_proposed(self) -> bool:
        """It can be created without taking anything's place."""
        return self.is_usable and not (self.twin or self.namesake or self.is_there)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What came of a confirmed import."""

    created: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]  # path and why


def ask(
    kind: str,
    *,
    by: Principal,
    source: str = "",
    ref: str = "",
    repository_id: UUID | None = None,
) -> DefinitionImport:
    """An import whose files are gathered in the background."""
    clear_old()
    row: DefinitionImport = DefinitionImport.objects.create(
        kind=kind, source=source, ref=ref, repository_id=repository_id, by=by
    )
    enqueue(GATHER, row.workspace_id, row.pk, queue="files")
    return row


def upload(files: Iterable[tuple[str, bytes]], *, by: Principal) -> DefinitionImport:
    """An import of files that somebody sent; they are here already."""
    clear_old()
    row = DefinitionImport(kind=DefinitionImport.Kind.UPLOAD, by=by)
    keep(row, dict(_once(files)), left_out=[])
    return row


def keep(
    row: DefinitionImport, files: Mapping[str, bytes], *, left_out: list[dict[str, str]]
) -> None:
    """The gathered files wait in the row until they are confirmed."""
    kept: list[dict[str, str]] = []
    size = 0
    left_out = [{**each, "path": names.readable(each["path"])} for each in left_out]
    for path, data in files.items():
        if names.readable(path) != path:
            why = _("Its name is no UTF-8. Rename it and read again.")
            left_out.append({"path": names.readable(path), "why": why})
            continue
        size += len(data)
        if len(kept) >= MOST_FILES or size > MOST_BYTES:
            why = _("An import has at most %(n)s files and 12 MB.") % {"n": MOST_FILES}
            left_out.append({"path": path, "why": why})
            continue
        kept.append({"path": path[-400:], "data": base64.b64encode(data).decode()})
    row.files, row.left_out, row.state = kept, left_out[:MOST_REASONS], State.READY
    row.save()


def fail(row: DefinitionImport, sentence: str) -> None:
    """Nothing was gathered, and this says why and what to do."""
    row.state, row.error = State.FAILED, sentence[:500]
    row.save(update_fields=["state", "error"])


def is_stuck(row: DefinitionImport) -> bool:
    """Nobody has gathered it for so long that nobody will."""
    since = row.begun_at or row.created_at
    waiting = row.state in (State.QUEUED, State.READING)
    return waiting and timezone.now() - since > timedelta(seconds=STUCK_SECONDS)


def clear_old() -> None:
    """What nobody confirmed within a day is gone; what was confirmed stays as long for its undo."""
    old = timezone.now() - timedelta(hours=KEPT_HOURS)
    DefinitionImport.objects.filter(created_at__lt=old).delete()


def choose(paths: Iterable[str], *, below: str = "") -> list[str]:
    """The paths of a tree that may be agent files, and its manifest.

    Files in the places of agents count; a tree without such places gives all its Markdown files.
    """
    every = sorted(path for path in paths if _is_below(path, below) and not _is_vendored(path))
    texts = [path for path in every if path.lower().endswith(".md")]
    homes = [path for path in texts if is_at_home(path)]
    manifest = packages.manifest_of(every)
    return [*(homes or texts), *([manifest] if manifest else [])]


def is_at_home(path: str) -> bool:
    """The path is a place of agent files, or is named as one."""
    if path.rsplit("/", 1)[-1].upper() in ("README.MD", "SKILL.MD"):
        return False
    if path.lower().endswith((".agent.md", ".chatmode.md")) or detect.by_place(path):
        return True
    return any(part.lower().lstrip(".") in _HOMES for part in path.split("/")[:-1])


def gather_folder(folder: Path) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    """The agent files of a folder on this server. Links that lead out of it are not followed."""
    found = dict(agent_files(folder))
    manifests = [name for name in packages.MANIFESTS if (folder / name).is_file()]
    chosen = choose([*found, *manifests])
    files: dict[str, bytes] = {}
    left_out: list[dict[str, str]] = []
    for path in chosen[: MOST_FILES + 1]:
        try:
            files[path] = _bytes_in(folder, path)
        except CannotKeep as error:
            left_out.append({"path": path, "why": str(error)})
        except OSError as error:
            left_out.append({"path": path, "why": error.strerror or str(error)})
    return files, left_out


def _bytes_in(folder: Path, path: str) -> bytes:
    """The bytes of a file of the folder. Raises CannotKeep or OSError."""
    real = Path(os.path.realpath(folder / path))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise CannotKeep(_("A link that leads out of its folder."))
    if not real.is_file():
        raise CannotKeep(_("This is no plain file."))
    if real.stat().st_size > shelves.MOST_BYTES:
        raise CannotKeep(_("The file is larger than 2 MB."))
    return real.read_bytes()


def candidates(
    row: DefinitionImport, owner: Owner | None, *, taken: Mapping[str, str]
) -> list[Candidate]:
    """Each gathered file as it would be read. `owner` is the shelf it would stand on (None: the
    roster); `taken` says in words who has a name already.
    """
    found: list[Candidate] = []
    seen: dict[str, str] = {}
    for number, (path, data) in enumerate(files_of(row).items()):
        if packages.manifest_of([path]):
            continue
        definition = reading.read_bytes(data, path=path)
        if definition.dialect is Dialect.NONE:
            continue
        name = _key(definition, owner)
        candidate = Candidate(number, path, data, definition)
        if definition.is_usable:
            there = _there(owner, definition)
            candidate = replace(
                candidate,
                twin=seen.get(name, ""),
                namesake="" if there == data else taken.get(name, ""),
                is_there=there == data,
            )
            seen.setdefault(name, path)
        found.append(candidate)
    return found


def files_of(row: DefinitionImport) -> dict[str, bytes]:
    """The gathered bytes by path."""
    return {each["path"]: base64.b64decode(each["data"]) for each in row.files}


def passed_over(row: DefinitionImport, shown: Collection[Candidate]) -> int:
    """How many gathered files are no agent files at all."""
    return len(row.files) - len(shown) - bool(packages.manifest_of(files_of(row)))


def package_of(row: DefinitionImport) -> str:
    """The name of the package that the gathered files are, "" when they are none."""
    files = files_of(row)
    path = packages.manifest_of(files)
    read = packages.read_manifest(path, files[path]) if path else None
    return read[0] if read else ""


def to_shelf(
    row: DefinitionImport, owner: Owner, chosen: Iterable[Candidate], *, by: Principal
) -> Confirmed:
    """The chosen files stand on the shelf, byte for byte, as one act that can be undone."""
    files: dict[str, bytes] = {}
    refused: list[tuple[str, str]] = []
    for each in chosen:
        try:
            if not each.is_usable:
                raise CannotKeep(translated(_words(each.definition)))
            place = shelves.place_for(each.definition)
            if place in files:
                raise CannotKeep(_("Another chosen file has the same name."))
            files[place] = each.data
        except CannotKeep as error:
            refused.append((each.path, str(error)))
    return _finish(row, owner, files, refused, by=by)


def to_package(row: DefinitionImport, owner: Owner, *, by: Principal) -> Confirmed:
    """The package with its manifest and agent files, nothing else of it, as one undoable act."""
    files, name = files_of(row), package_of(row)
    root = _root_of(packages.manifest_of(files))
    inside = {
        f"{name}/{path.removeprefix(root)}": data
        for path, data in files.items()
        if path.startswith(root)
    }
    return _finish(row, owner, inside, [], by=by)


def to_roster(row: DefinitionImport, chosen: Iterable[Candidate], *, by: Principal) -> Confirmed:
    """A paused agent of the workspace for each chosen file that can become one. When none can,
    the import waits as before.
    """
    created: list[str] = []
    ids: list[str] = []
    refused: list[tuple[str, str]] = []
    for each in chosen:
        try:
            agent = adopt(each.definition, by=by)
        except ValidationError as error:
            refused.append((each.path, " ".join(error.messages)))
        except OSError as error:
            refused.append((each.path, error.strerror or str(error)))
        else:
            created.append(agent.name)
            ids.append(str(agent.pk))
    row.created, row.state = ids, State.DONE if ids else State.READY
    row.save(update_fields=["created", "state"])
    return Confirmed(tuple(created), tuple(refused))


def adopt(
    definition: AgentDefinition,
    *,
    by: Principal,
    name: str = "",
    model_id: str | None = None,
    effort: str | None = None,
) -> Agent:
    """A paused agent made of the definition. Raises ValidationError, then nothing was created."""
    if not definition.is_usable:
        raise ValidationError(_("This file holds no usable definition."))
    adopted = adopting.adopt(definition)
    name = name or adopted.name
    if Agent.objects.filter(name__iexact=name).exists():
        raise ValidationError(
            _("There is an agent @%(name)s already; choose another name.") % {"name": name}
        )
    profile = Profile(
        name=name,
        title=adopted.title,
        persona=adopted.persona,
        skills=adopted.skills,
        model_id=model_id,
        effort=effort,
        unknown_keys=dict(adopted.extra),
    )
    with bind(by.workspace_id):
        agent, _is_new = create(profile, by=by)
        editing.set_lifecycle([agent], Agent.Lifecycle.PAUSED, by=by)
    return agent


def undo_roster(
    row: DefinitionImport, *, by: Principal, has_worked: Callable[[Agent], bool]
) -> tuple[int, int]:
    """How many of the created agents are gone again, and how many stay since they were changed or
    have worked.
    """
    agents = list(Agent.objects.filter(pk__in=row.created).select_related("principal"))
    gone = 0
    for agent in agents:
        untouched = agent.lifecycle == Agent.Lifecycle.PAUSED and agent.version <= 2
        if untouched and not has_worked(agent):
            editing.delete(agent, by=by, is_busy=lambda _agent: False)
            gone += 1
    row.created = []
    row.save(update_fields=["created"])
    return gone, len(agents) - gone


def _finish(
    row: DefinitionImport,
    owner: Owner,
    files: Mapping[str, bytes],
    refused: list[tuple[str, str]],
    *,
    by: Principal,
) -> Confirmed:
    if not files:  # it waits as before
        return Confirmed((), tuple(refused))
    row.batch, row.state = shelves.put(owner, files.items(), by=by), State.DONE
    row.save(update_fields=["batch", "state"])
    audit.record(
        "definition.import",
        actor=by,
        subject=(row.source or row.get_kind_display())[:200],
        detail={"files": len(files), "commit": row.commit},
    )
    return Confirmed(tuple(files), tuple(refused))


def _there(owner: Owner | None, definition: AgentDefinition) -> bytes | None:
    if owner is None or owner.shelf == Shelf.PACKAGE:
        return None
    try:
        return shelves.read(owner, shelves.place_for(definition))
    except CannotKeep:
        return None


def _key(definition: AgentDefinition, owner: Owner | None) -> str:
    return definition.slug if owner is None else definition.name.lower()


def _words(definition: AgentDefinition) -> str:
    return joined([warning.sentence for warning in definition.loud_warnings])


def _root_of(manifest: str) -> str:
    """The folder of a package, with its slash, "" at the root of the tree."""
    name = next((name for name in packages.MANIFESTS if manifest.endswith(name)), manifest)
    return manifest.removesuffix(name)


def _is_below(path: str, below: str) -> bool:
    folder = below.strip("/")
    return not folder or path.startswith(f"{folder}/") or path == folder


def _is_vendored(path: str) -> bool:
    return bool(_VENDORED.intersection(path.split("/")))


def _once(files: Iterable[tuple[str, bytes]]) -> Iterable[tuple[str, bytes]]:
    """The files, a name that comes again with a number."""
    counts: Counter[str] = Counter()
    for path, data in files:
        counts[path] += 1
        number = counts[path]
        yield (path if number == 1 else f"{number}/{path}"), data
