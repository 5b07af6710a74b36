"""The agent definitions that a run can see, resolved anew each time it looks."""

from collections.abc import Sequence

from django.db import connection

from agents.library import session
from agents.library.loading import Found
from agents.library.places import Scope
from agents.library.scopes import SCOPE_WORDS
from agents.surroundings import Project, library_of
from harness.seam import DefinitionKept, DefinitionLine, DefinitionWish, Root
from repositories.models import Repository
from spaces.models import Conversation
from workspaces.models import Principal
from workspaces.tenancy import bind

from . import defining
from .bound import bound_of
from .models import Run

ORIGINS = SCOPE_WORDS | {Scope.BUILTIN: "built in"}


class Definitions:
    """Those of the run's checkouts, of the member who began its conversation, and of the rest."""

    def __init__(self, run: Run, roots: Sequence[Root]) -> None:
        self._run = run
        self._roots = tuple(roots)

    def definitions(self) -> Sequence[DefinitionLine]:
        """The effective ones by name, with whose they are."""
        with bind(self._run.workspace_id):
            own = session_agents(self._run.conversation)
            library = library_of(member_of(self._run), projects_of(self._roots), session=own)
        connection.close()
        return [
            DefinitionLine(
                name,
                entry.definition.description,
                f"{ORIGINS[entry.found.place.scope]}, {entry.definition.dialect}",
            )
            for name, entry in sorted(library.by_name.items())
            if name == entry.name
        ]

    def keep(self, wish: DefinitionWish) -> DefinitionKept:
        """The file in the library of the member who asked for the run. Raises NotKept."""
        try:
            with bind(self._run.workspace_id):
                return defining.keep(wish, self._run)
        finally:
            connection.close()


def session_agents(conversation: Conversation) -> list[Found]:
    """The definitions that the conversation was begun with."""
    bound = bound_of(conversation)
    if bound is None or not bound.session_agents:
        return []
    return [session.found(each) for each in session.read_agents_json(bound.session_agents)]


def member_of(run: Run) -> Principal | None:
    """Whose home counts: the member who began the conversation."""
    founder = run.conversation.created_by
    return founder if founder is not None and not founder.is_agent else None


def projects_of(roots: Sequence[Root]) -> list[Project]:
    """The run's checkouts, in their order. Reads rows of the bound workspace."""
    known = dict(Repository.objects.values_list("name", "pk"))
    return [Project(root.path, known.get(root.name)) for root in roots]
