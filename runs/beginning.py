"""Beginning a conversation: who leads it and by which definition, for its whole life."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from agents.inspecting import refusal_of
from agents.library import choosing, session
from agents.library.choosing import Choice, ChoiceError
from agents.library.definition import Dialect
from agents.library.loading import Found
from agents.library.places import Scope
from agents.library.scopes import Library
from agents.models import BUILT_IN, Agent, is_storable
from agents.paths import conversation_directory
from agents.surroundings import Project, default_agent, is_believed, library_of
from outside.sentences import joined
from repositories.models import SpaceRepository
from spaces.creating import start_conversation
from spaces.models import BoundDefinition, Conversation, Space
from workspaces import audit
from workspaces.models import Principal

MOST_CHARACTERS = 2 * 1024 * 1024
MOST_APPENDED = 20_000
LOOK_BACK = 20  # conversations whose checkouts are looked for


@dataclass(frozen=True, slots=True)
class File:
    """A definition that was uploaded or pasted."""

    name: str
    text: str
    dialect: Dialect | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was chosen. `agent` names a definition, `agents` is JSON of further ones;
    `joins`: the definition is added to the lead's prompt and does not stand in its place;
    `subagent_prompt` ends the system prompt of each subagent."""

    lead: Agent | None = None
    agent: str = ""
    file: File | None = None
    agents: str = ""
    joins: bool = False
    subagent_prompt: str = ""

    @property
    def has_definition(self) -> bool:
        return bool(self.agent or self.file)


def begin(space: Space, *, by: Principal, wanted: Wanted, title: str = "") -> Conversation:
    """A conversation led by the agent, bound to the definition.

    A definition needs a lead: the one given, else the space's only agent. Raises ChoiceError with
    what could be chosen; then nothing was created.
    """
    own = _session_agents(wanted.agents)
    choice = _choice(wanted, choices(space, by=by, session=own))
    if not wanted.has_definition:
        choice = _default(space, by=by, lead=wanted.lead)
    lead = wanted.lead or (_only_agent(space) if choice else None)
    if lead is not None:
        _require_fit(lead, choice)
    elif choice:
        raise ChoiceError(
            _("A definition needs an agent that acts by it. Choose who leads."),
            available=tuple(_names_of_agents()),
        )
    conversation = start_conversation(space, by=by, title=title, lead=lead)
    if choice or own or wanted.subagent_prompt.strip():
        _bind(conversation, choice, wanted)
    return conversation


def choices(space: Space, *, by: Principal, session: Iterable[Found] = ()) -> Library:
    """The definitions that this member can choose from for a new conversation in the space.

    A repository's are those of its newest checkout here: a new conversation has none yet.
    """
    return library_of(by, _projects(space), session=session)


def _projects(space: Space) -> list[Project]:
    """The newest checkout of each of the space's repositories."""
    recent = list(space.conversations.order_by("-last_message_at")[:LOOK_BACK])
    folders = [
        conversation_directory(each.workspace_id, each.space_id, each.pk) / "repos"
        for each in recent
    ]
    linked = SpaceRepository.objects.filter(space=space).select_related("repository")
    found: list[Project] = []
    for row in linked.order_by("repository__name"):
        places = (folder / row.repository.name for folder in folders)
        newest = next((place for place in places if place.is_dir()), None)
        if newest is not None:
            found.append(Project(newest, row.repository_id))
    return found


def _session_agents(text: str) -> list[Found]:
    """The definitions in the JSON. Raises ChoiceError when one of them cannot be used."""
    if not text.strip():
        return []
    try:
        own = session.read_agents_json(text)
    except session.AgentsJsonError as error:
        raise ChoiceError(str(error)) from None
    for definition in own:
        if not definition.is_usable:
            said = joined([each.sentence for each in definition.loud_warnings])
            raise ChoiceError(said or _("One of the agents cannot be used."))
    return [session.found(definition) for definition in own]


def _choice(wanted: Wanted, library: Library) -> Choice | None:
    if not wanted.has_definition:
        return None
    definition = None
    if wanted.file is not None:
        if len(wanted.file.text) > MOST_CHARACTERS:
            raise ChoiceError(_("The file is larger than 2 MB."))
        if not is_storable(wanted.file.text):
            raise ChoiceError(_("A character in the file cannot be stored."))
        read = session.read_agent_file(
            wanted.file.text, file_name=wanted.file.name, dialect=wanted.file.dialect
        )
        definition = read.definition
    choice = choosing.choose(library, agent=wanted.agent or None, agent_file=definition)
    entry = choice.entry if choice else None
    refusal = ""
    if entry is not None and entry.found.place.from_repository:
        refusal = refusal_of(entry.found.definition)
    if refusal:
        raise ChoiceError(refusal)
    return choice


def _default(space: Space, *, by: Principal, lead: Agent | None) -> Choice | None:
    """The definition that the repository's settings name, when it may be believed and somebody can
    act by it; a setting that means nothing is no error."""
    projects = _projects(space)
    name = default_agent(projects)
    leader = lead or (_only_agent(space) if name else None)
    if not name or leader is None or leader.adapter != BUILT_IN:
        return None
    entry = library_of(by, projects).find(name)
    if entry is None or not is_believed(entry, projects):
        return None
    return Choice(entry.definition, entry)


def _only_agent(space: Space) -> Agent | None:
    agents = Agent.objects.filter(principal__participations__space=space)
    found = list(agents.exclude(lifecycle=Agent.Lifecycle.ARCHIVED)[:2])
    return found[0] if len(found) == 1 else None


def _names_of_agents() -> list[str]:
    named = Agent.objects.exclude(name="").exclude(lifecycle=Agent.Lifecycle.ARCHIVED)
    return list(named.values_list("name", flat=True))


def _require_fit(lead: Agent, choice: Choice | None) -> None:
    if lead.is_draft or lead.lifecycle == Agent.Lifecycle.ARCHIVED:
        raise ChoiceError(_("A draft or an archived agent cannot lead a conversation."))
    if choice is not None and lead.adapter != BUILT_IN:
        sentence = _("@%(name)s runs on %(adapter)s; definitions act on the built-in loop only.")
        raise ChoiceError(sentence % {"name": lead.name, "adapter": lead.adapter})


def _bind(conversation: Conversation, choice: Choice | None, wanted: Wanted) -> None:
    bound = BoundDefinition(
        conversation=conversation,
        session_agents=wanted.agents.strip(),
        subagent_prompt=_storable(wanted.subagent_prompt),
    )
    if choice is not None:
        definition = choice.definition
        bound.name = (choice.entry.name if choice.entry else definition.name)[:200]
        bound.dialect = definition.dialect.value
        bound.path = (choice.entry.found.relative if choice.entry else definition.path)[-400:]
        bound.text = definition.raw  # none for one of `agents`, which are kept as they came
        bound.standing = _standing(choice)
        bound.joins = wanted.joins
    bound.save()
    audit.record(
        "conversation.bind",
        actor=conversation.created_by,
        subject=bound.name,
        detail={"conversation": str(conversation.pk), "dialect": bound.dialect},
    )


def _storable(text: str) -> str:
    """Raises ChoiceError for a text that cannot be kept."""
    if len(text) > MOST_APPENDED:
        raise ChoiceError(_("What is appended to each subagent's prompt is too long."))
    if not is_storable(text):
        raise ChoiceError(_("A character of what is appended cannot be stored."))
    return text.strip()


def _standing(choice: Choice) -> str:
    """What the definition's origin took from it."""
    if choice.entry is None or choice.entry.definition == choice.entry.found.definition:
        return ""
    return "packaged" if choice.entry.found.place.scope is Scope.PLUGIN else "untrusted"
