"""An admin's recorded yes to a held or refused skill of a repository: for exactly its bytes."""

from django.utils.translation import gettext as _

from live import publish
from spaces import topics as space_topics
from spaces.models import Conversation
from workspaces import audit
from workspaces.models import Principal

from . import topics
from .models import Repository, SkillAcceptance
from .skill_standing import Carrying, Standing


class CannotAccept(RuntimeError):
    """The skill cannot be accepted; the text is a sentence for people."""


def accept(repository: Repository, carrying: Carrying, digest: str, *, by: Principal) -> Standing:
    """Agents may read these bytes from their next turn on. Twice is once. Raises CannotAccept."""
    standing = next((one for one in carrying.skills if one.digest == digest), None)
    if standing is None:
        raise CannotAccept(
            _("This is not what the repository carries any more. Look at the list again.")
        )
    if standing.is_accepted:
        return standing
    if not standing.is_acceptable:
        raise CannotAccept(
            _("The scan found a fault that nobody can accept. Mend the skill and commit it.")
        )
    SkillAcceptance.objects.get_or_create(
        repository=repository, digest=digest, defaults={"accepted_by": by}
    )
    audit.record(
        "skill.accept",
        actor=by,
        subject=standing.full_name,
        detail={
            "digest": digest,
            "decision": standing.decision.value,
            "rules": sorted({str(one["rule"]) for one in standing.findings}),
        },
    )
    publish(topics.repositories(repository.workspace_id), "repository")
    for conversation in Conversation.objects.filter(
        space__repository_links__repository=repository, archived_at=None
    ).order_by("-last_message_at")[:50]:
        publish(space_topics.conversation(repository.workspace_id, conversation.pk), "now")
    return standing
