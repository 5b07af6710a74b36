"""The repository that an agent works in: one at a time in a conversation, inferred from writes."""

from django.utils import timezone

from agents.models import Agent
from live import publish
from spaces import topics as space_topics
from spaces.models import Conversation
from workspaces import audit
from workspaces.models import Principal

from .models import ActiveRepository, Repository, SpaceRepository


def linked(conversation: Conversation) -> list[Repository]:
    """The repositories of the conversation's space, by name."""
    links = SpaceRepository.objects.filter(space_id=conversation.space_id)
    rows = Repository.objects.filter(pk__in=links.values("repository_id"))
    return list(rows.exclude(state=Repository.State.REMOVING).order_by("name"))


def current(conversation: Conversation, agent: Agent) -> Repository | None:
    """What the agent works in: what it wrote in last or a person chose, the only one there is, or
    none yet."""
    repositories = linked(conversation)
    if len(repositories) == 1:
        return repositories[0]
    row = ActiveRepository.objects.filter(conversation=conversation, agent=agent).first()
    return next((one for one in repositories if row and one.pk == row.repository_id), None)


def infer(conversation: Conversation, agent: Agent, name: str) -> bool:
    """The agent has written in that repository: it is the active one. Whether that is news."""
    return _set(conversation, agent, name, by=None)


def choose(conversation: Conversation, agent: Agent, name: str, *, by: Principal) -> bool:
    """A person says which repository the agent works in. Raises Repository.DoesNotExist."""
    is_new = _set(conversation, agent, name, by=by)
    if is_new:
        audit.record("conversation.repository", actor=by, subject=f"@{agent.name}: {name}")
    return is_new


def _set(conversation: Conversation, agent: Agent, name: str, *, by: Principal | None) -> bool:
    repository = next((one for one in linked(conversation) if one.name == name), None)
    if repository is None:
        raise Repository.DoesNotExist(name)
    before = current(conversation, agent)
    if before == repository:
        return False
    ActiveRepository.objects.update_or_create(
        conversation=conversation,
        agent=agent,
        defaults={"repository": repository, "chosen_by": by, "changed_at": timezone.now()},
    )
    announce(conversation)
    return True


def announce(conversation: Conversation) -> None:
    """Every tab on the conversation asks which agent works where."""
    publish(space_topics.conversation(conversation.workspace_id, conversation.pk), "now")
