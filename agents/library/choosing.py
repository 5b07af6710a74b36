"""Which definition leads a new conversation (requirements 6.17). Bound once, never switched."""

from collections.abc import Mapping
from dataclasses import dataclass

from agents.library.definition import AgentDefinition
from agents.library.places import Scope
from agents.library.scopes import Entry, Library
from outside.sentences import joined
from outside.sentences import phrase as _


class ChoiceError(Exception):
    """The choice cannot be made; nothing may be created. `available` names what could be chosen."""

    def __init__(self, sentence: str, *, available: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.available = available


@dataclass(frozen=True, slots=True)
class Choice:
    """The leading definition; `entry` None when it was given as a file of its own."""

    definition: AgentDefinition
    entry: Entry | None = None


def choose(
    library: Library,
    *,
    agent: str | None = None,
    agent_file: AgentDefinition | None = None,
    default: str | None = None,
    is_new: bool = True,
) -> Choice | None:
    """The definition that was asked for, the configured default, or None for no definition.

    Raises ChoiceError: both ways at once, on an existing conversation, an unknown or ambiguous
    name, or a file that is not valid.
    """
    if agent and agent_file is not None:
        raise ChoiceError(_("Name an agent or give a file, not both."))
    if (agent or agent_file is not None) and not is_new:
        raise ChoiceError(_("The agent of a conversation is bound when it is created."))
    if agent_file is not None:
        return Choice(_valid(agent_file))
    name = agent or default
    return _named(library, name) if name else None


def system_prompt_file_counts(library: Library, *, chosen: Choice | None) -> bool:
    """SYSTEM.md makes the default main agent's prompt: no agent was chosen, and no `agent` file
    of the conversation, the repository or an extra folder stands before it.
    """
    if chosen is not None:
        return False
    entry = library.find("agent")
    return entry is None or entry.found.place.scope >= Scope.MEMBER


def _named(library: Library, name: str) -> Choice:
    entry = library.find(name)
    if entry is not None:
        return Choice(entry.definition, entry)
    available = tuple(sorted(_choosable(library.by_name)))
    several = library.candidates(name) or _namesakes(library, name)
    if several:
        sentence = _("Several agents are called `%(name)s`: %(names)s.") % {
            "name": name,
            "names": ", ".join(several),
        }
        raise ChoiceError(sentence, available=several)
    listed = ", ".join(available) or _("none")
    raise ChoiceError(
        _("No agent is called `%(name)s`. Available: %(listed)s.")
        % {"name": name, "listed": listed},
        available=available,
    )


def _namesakes(library: Library, name: str) -> tuple[str, ...]:
    """Scoped names that end in the wanted name."""
    ending = f":{name}"
    return tuple(sorted(key for key in library.by_name if key.endswith(ending)))


def _choosable(by_name: Mapping[str, Entry]) -> set[str]:
    return {entry.bare or entry.name for entry in by_name.values()}


def _valid(definition: AgentDefinition) -> AgentDefinition:
    if definition.is_usable:
        return definition
    reasons = joined([warning.sentence for warning in definition.loud_warnings])
    raise ChoiceError(_("The agent file is not valid. %(reasons)s") % {"reasons": reasons})
