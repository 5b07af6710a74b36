"""Who may listen to which topic: the same answer that the pages give."""

from collections.abc import Callable
from uuid import UUID

from live import JoinGrant
from runs.models import Run
from spaces.models import Space
from spaces.visibility import visible_conversations, visible_spaces
from workspaces.access import memberships_of
from workspaces.models import Membership, Role
from workspaces.tenancy import bind


def may_join(user_id: str, session_key: str, topic: str) -> JoinGrant | None:
    """The grant for a topic; None alike for what is foreign, forbidden, or not there."""
    kind, _, rest = topic.partition("/")
    if kind == "user":
        return JoinGrant() if rest == user_id else None
    parts = rest.split("/")
    if kind != "w" or len(parts) < 2:
        return None
    workspace_id = _uuid(parts[0])
    membership = next(
        (each for each in memberships_of(UUID(user_id)) if each.workspace_id == workspace_id), None
    )
    rule = RULES.get(parts[1])
    if membership is None or rule is None:
        return None
    with bind(membership.workspace_id):
        return rule(membership, parts[2:])


def _whole_workspace(membership: Membership, rest: list[str]) -> JoinGrant | None:
    return None if rest or not membership.may(Role.VIEWER) else JoinGrant()


def _presence(membership: Membership, rest: list[str]) -> JoinGrant | None:
    if rest or not membership.may(Role.VIEWER):
        return None
    return JoinGrant(str(membership.principal_id), str(membership.workspace_id))


def _inbox(membership: Membership, rest: list[str]) -> JoinGrant | None:
    return None if rest or not membership.may(Role.MEMBER) else JoinGrant()


def _conversation(membership: Membership, rest: list[str]) -> JoinGrant | None:
    found = visible_conversations(membership).filter(pk=_key(rest)).select_related("space").first()
    return _in_space(membership, found.space) if found else None


def _space(membership: Membership, rest: list[str]) -> JoinGrant | None:
    found = visible_spaces(membership).filter(pk=_key(rest)).first()
    return _in_space(membership, found) if found else None


def _run(membership: Membership, rest: list[str]) -> JoinGrant | None:
    found = Run.objects.filter(pk=_key(rest), space__in=visible_spaces(membership)).exists()
    return JoinGrant() if found else None


def _in_space(membership: Membership, space: Space) -> JoinGrant:
    return JoinGrant(
        str(membership.principal_id),
        str(membership.workspace_id),
        is_private=space.visibility == Space.Visibility.PRIVATE,
    )


RULES: dict[str, Callable[[Membership, list[str]], JoinGrant | None]] = {
    "presence": _presence,
    "roster": _whole_workspace,
    "runs": _whole_workspace,
    "repositories": _whole_workspace,
    "skills": _whole_workspace,
    "inbox": _inbox,
    "conversation": _conversation,
    "space": _space,
    "run": _run,
}


NOBODY = UUID(int=0)


def _key(rest: list[str]) -> UUID:
    """The key behind a topic's name; one that no row has when there is none."""
    return (_uuid(rest[0]) if len(rest) == 1 else None) or NOBODY


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
