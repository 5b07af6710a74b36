"""An admin's recorded yes to a held or refused skill of a repository: for exactly its bytes."""

from collections.abc import Collection, Mapping

from django.utils.translation import gettext as _

from live import publish
from spaces import topics as space_topics
from spaces.models import Conversation
from workspaces import audit
from workspaces.models import Principal

from . import topics
from .models import Repository, SkillAcceptance, SkillScan
from .skill_scans import found_in
from .skill_standing import Carrying, Standing, carrying

MOST_SHOWN = 200
MOST_SCANS = 50


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
    _tell(repository)
    return standing


def withdraw(repository: Repository, digest: str, *, by: Principal) -> bool:
    """The yes to these bytes holds no more: from their next turn on agents read the skill only as
    far as rules and verdict let them. False when there was none; twice is once."""
    gone, _rows = SkillAcceptance.objects.filter(repository=repository, digest=digest).delete()
    if not gone:
        return False
    subject = f"{repository.name}:{names_of(repository, [digest]).get(digest, digest)}"
    audit.record("skill.withdraw", actor=by, subject=subject, detail={"digest": digest})
    _tell(repository)
    return True


def acceptances(repository: Repository) -> list[tuple[SkillAcceptance, str, bool]]:
    """Each yes that holds, the newest first, with the skill's name ("" when no known commit has
    these bytes any more) and whether the default branch carries them now."""
    rows = SkillAcceptance.objects.filter(repository=repository).select_related("accepted_by")
    held = list(rows.order_by("-accepted_at", "-pk")[:MOST_SHOWN])
    names = names_of(repository, [row.digest for row in held])
    now = {one.digest for one in carrying(repository, repository.skills_commit).skills}
    return [(row, names.get(row.digest, ""), row.digest in now) for row in held]


def names_of(repository: Repository, digests: Collection[str]) -> Mapping[str, str]:
    """What skills of these bytes are called in the commits that were scanned last."""
    scans = SkillScan.objects.filter(repository=repository).order_by("-scanned_at")
    names: dict[str, str] = {}
    for scan in scans[:MOST_SCANS]:
        for one in found_in(scan):
            if one.digest in digests:
                names.setdefault(one.digest, one.name)
    return names


def _tell(repository: Repository) -> None:
    """Open pages of the repository and of its conversations ask anew."""
    publish(topics.repositories(repository.workspace_id), "repository")
    for conversation in Conversation.objects.filter(
        space__repository_links__repository=repository, archived_at=None
    ).order_by("-last_message_at")[:50]:
        publish(space_topics.conversation(repository.workspace_id, conversation.pk), "now")
