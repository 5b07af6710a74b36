"""Making and changing an agent file in the library: fill in, preview, save."""

import difflib
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from outside.sentences import joined
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace
from workspaces.sentences import translated

from .. import shelves, surroundings
from ..library import authoring, exporting, frontmatter, reading, surface, toolnames
from ..library.definition import AgentDefinition, Dialect
from ..library.warning import LoadWarning
from ..library.yamlread import FrontMatterError
from ..shelves import CannotKeep, ChangedSince, Owner
from . import changes, shelf, words

WRITABLE = tuple(authoring.FIELDS)
EXAMPLE = "example:"


@dataclass(slots=True)
class Draft:
    """A file as it is being written. `path` is empty as long as it stands nowhere."""

    owner: Owner
    dialect: Dialect
    path: str = ""
    base: AgentDefinition | None = None  # the file that is changed or copied
    like: str = ""
    source: str = ""
    digest: str = ""
    filled: dict[str, str] = field(default_factory=dict)
    body: str = ""
    text: str = ""  # the whole file, when it is written as text
    by_text: bool = False
    problem: str = ""
    conflict: bool = False
    losses: tuple[LoadWarning, ...] = ()

    @property
    def before(self) -> str:
        return self.base.raw if self.base is not None and self.path else ""

    def made(self) -> str:
        """The text of the file. Raises FrontMatterError when it cannot be changed by fields."""
        if self.by_text:
            return _like(self.text, self.base.raw if self.base else "")
        if self.base is not None:
            return authoring.rewritten(self.base, self.filled, self.body)
        return authoring.written(self.dialect, self.filled, self.body)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def definition_new(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A new file of a dialect, from nothing or as a copy; nothing is written before it is saved."""
    asked = request.POST if request.method == "POST" else request.GET
    owner = shelf.owner_named(request, asked.get("shelf") or "member")
    draft = Draft(owner, _dialect(asked.get("dialect", "")))
    draft.like, draft.source = asked.get("like", ""), asked.get("from", "")
    if draft.like:
        _copy(draft, _original(request, draft), asked.get("dialect", ""))
    return _answer(request, draft)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.MEMBER)
def definition_edit(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A file of the member's own or the workspace's. Refused when somebody changed it meanwhile."""
    asked = request.POST if request.method == "POST" else request.GET
    owner = shelf.owner_named(request, asked.get("shelf", ""))
    draft = Draft(owner, Dialect.FUXI, path=asked.get("path", ""))
    data = _data(draft)
    draft.base = _read(owner, draft.path, data)
    draft.dialect = draft.base.dialect
    draft.digest = shelves.digest(data)
    return _answer(request, draft)


@require_POST
@workspace_view(Role.MEMBER)
def definition_remove(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The file is gone; the library offers the way back. Twice is once."""
    owner = shelf.owner_named(request, request.POST.get("shelf", ""))
    path, expected = request.POST.get("path", ""), request.POST.get("digest", "")
    try:
        if shelves.read(owner, path) is None:
            return redirect("agents:library-show", workspace.slug)
        batch = shelves.put(owner, [(path, None)], by=request.principal, expected={path: expected})
    except ChangedSince as changed:
        messages.error(request, " ".join([str(changed), _("It was not deleted.")]))
        return redirect("agents:library-show", workspace.slug)
    except (CannotKeep, OSError) as error:
        messages.error(request, words.not_written(error))
        return redirect("agents:library-show", workspace.slug)
    return changes.after(workspace, batch)


def _original(request: MemberRequest, draft: Draft) -> AgentDefinition:
    """The example or the library's file that the new one is like. Raises Http404."""
    name = draft.like.removeprefix(EXAMPLE)
    if name == draft.like:
        return shelf.bookcase(request, draft.source).find(name).entry.found.definition
    found = next((each for each in words.examples() if each.name == name), None)
    if found is None:
        raise Http404
    return found


def _copy(draft: Draft, original: AgentDefinition, dialect: str) -> None:
    """The new file begins as the original, said in another dialect when one was asked for."""
    draft.dialect = _dialect(dialect or original.dialect)
    draft.base = original
    if draft.dialect is not original.dialect:
        made = exporting.export(original, draft.dialect)
        draft.base, draft.losses = (
            reading.read_text(made.text, path=made.file_name, dialect=draft.dialect),
            made.warnings,
        )


def _answer(request: MemberRequest, draft: Draft) -> HttpResponse:
    if request.method != "POST":
        _fill_from_base(draft)
        draft.by_text = "text" in request.GET or _is_unreadable(draft)
        return _page(request, draft)
    _fill_from_form(request, draft)
    preview = _preview(request, draft)
    if request.POST.get("act") == "text":
        draft.by_text, draft.text = True, frontmatter.normalise(preview["text"])
    if request.POST.get("act") != "save" or draft.problem:
        return _page(request, draft, preview, status=422 if draft.problem else 200)
    if draft.path and request.POST.get("digest", "") != draft.digest:
        draft.conflict = True
        return _page(request, draft, preview, status=409)
    return _save(request, draft, preview)


def _save(request: MemberRequest, draft: Draft, preview: dict[str, Any]) -> HttpResponse:
    data = preview["text"].encode("utf-8", errors="replace")
    try:
        path = draft.path or _new_place(draft, preview["definition"], data)
        batch = shelves.put(
            draft.owner,
            [(path, data)],
            by=request.principal,
            expected={path: _expected(draft, path)},
        )
    except ChangedSince as changed:
        draft.conflict, draft.digest = True, shelves.digest(changed.now)
        return _page(request, draft, preview, status=409)
    except (CannotKeep, OSError) as error:
        draft.problem = words.not_written(error)
        return _page(request, draft, preview, status=422)
    return changes.after(request.workspace, batch)


def _expected(draft: Draft, path: str) -> str:
    return draft.digest if draft.path else shelves.digest(shelves.read(draft.owner, path))


def _new_place(draft: Draft, definition: AgentDefinition, data: bytes) -> str:
    """Raises CannotKeep when another file stands there already."""
    path = shelves.place_for(definition)
    there = shelves.read(draft.owner, path)
    if there is not None and there != data:
        raise CannotKeep(
            _("A file of this name stands on that shelf. Choose another name, or edit that file.")
        )
    return path


def _preview(request: MemberRequest, draft: Draft) -> dict[str, Any]:
    """What the file would be and do. Sets the draft's problem when it could not be used."""
    try:
        text = draft.made()
    except FrontMatterError as fault:
        draft.problem = _("The file's head cannot be changed field by field: %(why)s") % {
            "why": translated(fault.sentence)
        }
        draft.by_text, draft.text = True, draft.text or draft.before
        text = draft.text
    data = text.encode("utf-8", errors="replace")
    where = draft.owner.root / (draft.path or f"{shelves.FOLDERS[draft.dialect]}/new.md")
    definition = reading.read_bytes(data, path=str(where), dialect=draft.dialect)
    if not definition.is_usable and not draft.problem:
        draft.problem = joined([each.sentence for each in definition.loud_warnings])
    seen = surface.resolve(definition, sorted(toolnames.CANONICAL), as_main=False)
    return {
        "text": text,
        "definition": definition,
        "warnings": [*draft.losses, *definition.warnings, *seen.warnings],
        "verdicts": seen.verdicts,
        "allowed": sum(each.allowed for each in seen.verdicts),
        "standing": surroundings.standing_of(where, definition, request.principal, ()),
        "diff": unified(draft.before, text),
        "is_same": bool(draft.path) and text == draft.before,
    }


def _page(
    request: MemberRequest, draft: Draft, preview: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    rows = [words.row(each, draft.filled.get(each.key, "")) for each in _fields(draft)]
    context = {
        "draft": draft,
        "rows": rows,
        "preview": preview,
        "other_keys": authoring.other_keys(draft.base) if draft.base else (),
        "shelves": shelf.own_shelves(request),
        "dialects": [(each.value, words.DIALECTS[each]) for each in WRITABLE],
        "can_fill_in": not _is_unreadable(draft),
        "examples": words.examples() if not draft.path else (),
        "uses": words.USES.get(draft.like.removeprefix(EXAMPLE), ()),
    }
    return render(request, "agents/definition.html", context, status=status)


def _fields(draft: Draft) -> tuple[authoring.Field, ...]:
    return authoring.FIELDS.get(draft.dialect, ())


def _fill_from_base(draft: Draft) -> None:
    if draft.base is not None:
        draft.filled = authoring.shown(draft.base)
        draft.body, draft.text = draft.base.body, draft.base.raw


def _fill_from_form(request: MemberRequest, draft: Draft) -> None:
    draft.by_text = request.POST.get("by") == "text"
    draft.filled = {
        each.key: frontmatter.normalise(request.POST.get(f"f.{each.key}", ""))
        for each in _fields(draft)
    }
    draft.body = frontmatter.normalise(request.POST.get("body", ""))
    draft.text = frontmatter.normalise(request.POST.get("text", ""))


def _is_unreadable(draft: Draft) -> bool:
    return draft.base is not None and not draft.base.values


def _data(draft: Draft) -> bytes:
    """Raises Http404 for a file that is not there."""
    try:
        data = shelves.read(draft.owner, draft.path)
    except CannotKeep as error:
        raise Http404 from error
    if data is None:
        raise Http404
    return data


def _read(owner: Owner, path: str, data: bytes) -> AgentDefinition:
    dialect = next((d for d, f in shelves.FOLDERS.items() if path.startswith(f"{f}/")), None)
    return reading.read_bytes(data, path=str(owner.root / path), dialect=dialect)


def _dialect(word: str) -> Dialect:
    return next((each for each in WRITABLE if each == word), Dialect.FUXI)


def _like(text: str, raw: str) -> str:
    """The text with the line ends and the byte order mark of the file it came from."""
    text = text.removeprefix("\ufeff")
    if "\r\n" in raw:
        text = text.replace("\n", "\r\n")
    return f"\ufeff{text}" if raw.startswith("\ufeff") else text


def unified(before: str, after: str) -> str:
    """A unified diff of the two texts, as the diff component reads it."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "a/agent.md", "b/agent.md", lineterm="", n=3
    )
    body = "\n".join(lines)
    return f"diff --git a/agent.md b/agent.md\n{body}\n" if body else ""
