"""What the library's pages share: whose library, from where, and what each file is to a person."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from repositories.models import Repository
from spaces.models import Conversation
from spaces.visibility import visible_conversations
from workspaces.access import MemberRequest
from workspaces.models import Role

from .. import surroundings
from ..definitions import Shelf
from ..library import scopes, session
from ..library.definition import AgentDefinition, Dialect
from ..library.loading import Found
from ..library.places import Scope
from ..paths import conversation_directory, segment
from ..shelves import Owner, home_of
from ..surroundings import Project

RECENT_CONVERSATIONS = 50
DIALECTS = [dialect for dialect in Dialect if dialect is not Dialect.NONE]
SCOPES = {
    Scope.MANAGED: _("The organisation's"),
    Scope.SESSION: _("The conversation's"),
    Scope.PROJECT: _("The repository's"),
    Scope.EXTRA: _("Extra folders"),
    Scope.MEMBER: _("Your own"),
    Scope.PLUGIN: _("Packages"),
    Scope.BUILTIN: _("Built in"),
}

STANDINGS = {
    "effective": _("effective"),
    "shadowed": _("shadowed"),
    "duplicate": _("duplicate"),
    "invalid": _("invalid"),
    "disabled": _("switched off"),
    "ambiguous": _("ambiguous"),
    "needs-override": _("needs override"),
    "not-trusted": _("not read yet"),
    "safe-mode": _("left out"),
    "quarantined": _("refused"),
}


@dataclass(frozen=True, slots=True)
class Source:
    """A place whose definitions make one library; without projects the workspace itself."""

    key: str
    word: str
    projects: tuple[Project, ...] = ()
    session: tuple[Found, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One file of the library with what a person may do to it."""

    key: str
    entry: scopes.Entry
    owner: Owner | None = None  # of a file that can be changed here
    path: str = ""  # below the owner's shelf
    accepted: bool = False  # an admin trusts this repository's file
    repository: tuple[UUID, str] | None = None

    @property
    def definition(self) -> AgentDefinition:
        return self.entry.definition

    @property
    def title(self) -> str:
        return self.entry.name or self.entry.found.relative

    @property
    def standing(self) -> str:
        return str(STANDINGS.get(self.entry.code, self.entry.code))

    @property
    def scope_word(self) -> str:
        return str(SCOPES[self.entry.found.place.scope])

    @property
    def warnings(self) -> int:
        return len(self.entry.definition.loud_warnings)

    @property
    def needs_review(self) -> bool:
        """It comes from a repository and asks for more than an unread file may have."""
        if self.accepted or self.repository is None:
            return False
        stripped = any(w.code == "field-stripped" for w in self.definition.warnings)
        return stripped or self.entry.code == "not-trusted"


@dataclass(frozen=True, slots=True)
class Group:
    """A scope with its files, in the order in which they count."""

    scope: Scope
    word: str
    lines: tuple[Line, ...]


@dataclass(slots=True)
class Bookcase:
    """The library of one source as its page shows it."""

    request: MemberRequest
    source: Source
    library: scopes.Library
    lines: list[Line] = field(default_factory=list)

    @property
    def groups(self) -> list[Group]:
        """All seven scopes, also those that hold nothing."""
        return group(self.lines)

    def find(self, key: str) -> Line:
        """Raises Http404 for a file that is not there (any more)."""
        line = next((each for each in self.lines if each.key == key), None)
        if line is None:
            raise Http404
        return line


def group(lines: Iterable[Line]) -> list[Group]:
    """The lines by scope, in the order of precedence."""
    found: dict[Scope, list[Line]] = {scope: [] for scope in Scope}
    for line in lines:
        found[line.entry.found.place.scope].append(line)
    return [Group(scope, str(SCOPES[scope]), tuple(found[scope])) for scope in Scope]


def bookcase(request: MemberRequest, key: str | None = None) -> Bookcase:
    """The library of the source that the request asks for, else of the first one."""
    sources = sources_of(request)
    wanted = request.GET.get("from") if key is None else key
    source = next((each for each in sources if each.key == wanted), sources[0])
    library = surroundings.library_of(request.principal, source.projects, session=source.session)
    case = Bookcase(request, source, library)
    owners = [(str(each.root.resolve()), each.repository_id) for each in source.projects]
    trusts = surroundings.caution_of(source.projects).trusts
    case.lines = [_line(request, entry, owners, trusts) for entry in library.entries]
    return case


def sources_of(request: MemberRequest) -> list[Source]:
    """Each repository by its newest checkout that can be seen, and the workspace by itself."""
    found: dict[str, Source] = {}
    recent = list(
        visible_conversations(request.membership)
        .select_related("bound")
        .order_by("-last_message_at")[:RECENT_CONVERSATIONS]
    )
    known = list(Repository.objects.values_list("name", "pk"))
    for conversation in recent:
        for name, key in known:
            place = checkout_of(conversation, name)
            if name not in found and place.is_dir():
                found[name] = Source(name, name, (Project(place, key),))
    own = [source for each in recent if (source := _of_conversation(each, known)) is not None]
    return [*found.values(), Source("", gettext("No repository")), *own]


def _of_conversation(
    conversation: Conversation, known: Iterable[tuple[str, UUID]]
) -> Source | None:
    """A conversation that brought definitions of its own, with its checkouts; None for others."""
    bound = getattr(conversation, "bound", None)
    if bound is None or not bound.session_agents:
        return None
    try:
        brought = session.read_agents_json(bound.session_agents)
    except session.AgentsJsonError:
        return None
    places = [(checkout_of(conversation, name), key) for name, key in known]
    return Source(
        str(conversation.pk),
        gettext("Conversation: %(title)s") % {"title": conversation},
        tuple(Project(place, key) for place, key in places if place.is_dir()),
        tuple(session.found(each) for each in brought),
    )


def checkout_of(conversation: Conversation, name: str) -> Path:
    """Where the conversation's checkout of a repository lies, whether it stands or not."""
    home = conversation_directory(conversation.workspace_id, conversation.space_id, conversation.pk)
    return home / "repos" / segment(name)


def key_of(found: Found) -> str:
    """A name for the file that stays as long as it lies where it lies."""
    place = f"{found.place.scope}|{found.place.folder}|{found.relative}"
    return hashlib.sha256(place.encode(errors="replace")).hexdigest()[:20]


def own_shelves(request: MemberRequest) -> list[Owner]:
    """The shelves that this member may write to."""
    owners = [Owner(Shelf.MEMBER, request.workspace.pk, request.principal)]
    if request.membership.may(Role.ADMIN):
        owners.append(Owner(Shelf.ORGANISATION, request.workspace.pk))
    return owners if request.membership.may(Role.MEMBER) else []


def owner_named(request: MemberRequest, shelf: str) -> Owner:
    """The shelf of this name. Raises Http404 when the member may not write to it."""
    owner = next((each for each in own_shelves(request) if each.shelf == shelf), None)
    if owner is None:
        raise Http404
    return owner


def _line(
    request: MemberRequest,
    entry: scopes.Entry,
    owners: list[tuple[str, UUID | None]],
    trusts: object,
) -> Line:
    found = entry.found
    owner, path = _shelf_of(request, found)
    repository = surroundings.place_in(found, owners) if found.place.from_repository else None
    accepted = repository is not None and callable(trusts) and bool(trusts(found))
    return Line(key_of(found), entry, owner, path, accepted, repository)


def _shelf_of(request: MemberRequest, found: Found) -> tuple[Owner | None, str]:
    """Whose shelf a file stands on, when the member may change it, and its path there."""
    for owner in own_shelves(request):
        root = (
            home_of(request.workspace.pk, request.principal)
            if owner.shelf == Shelf.MEMBER
            else owner.root
        )
        scope = Scope.MEMBER if owner.shelf == Shelf.MEMBER else Scope.MANAGED
        whole = found.place.folder / found.relative
        if found.place.scope is scope and whole.is_relative_to(root):
            return owner, str(whole.relative_to(root))
    return None, ""
