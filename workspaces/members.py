"""Who belongs to a workspace: founding, joining, changing roles, leaving."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from live.publish import recheck

from . import audit
from .handles import free_handle, slug
from .models import Membership, Principal, Role, User, Workspace
from .tenancy import across_workspaces, bind
from .turns import take_turn


class CannotChangeMember(PermissionDenied):
    """The change would leave the workspace without its one owner, or the actor has too little."""


def create_workspace(user: User, name: str) -> Workspace:
    """A workspace with the user as its owner; its address is made from its name."""
    base = slug(name, fallback="workspace", limit=48)
    for number in range(1, 1000):
        candidate = base if number == 1 else f"{base}-{number}"
        workspace = Workspace(name=name.strip()[:120], slug=candidate, created_by=user)
        try:
            with bind(workspace.id), transaction.atomic():
                workspace.save(force_insert=True)
                membership = _join(user, Role.OWNER)
                audit.record("workspace.create", actor=membership.principal, subject=name)
        except IntegrityError as error:
            if "slug" not in str(error):
                raise
            continue
        return workspace
    raise IntegrityError(f"No free address is left for {base!r}.")


def join(user: User, role: str) -> Membership:
    """The user as an active member of the bound workspace; joining again changes nothing."""
    existing = Membership.objects.select_related("principal").filter(user=user).first()
    if existing is None:
        return _join(user, role)
    if not existing.is_active:
        existing.is_active, existing.role = True, role
        existing.save(update_fields=["is_active", "role"])
        Principal.objects.filter(pk=existing.principal_id).update(removed_at=None)
    return existing


def _join(user: User, role: str) -> Membership:
    take_turn("names")
    principal = Principal.objects.create(
        kind=Principal.Kind.MEMBER,
        handle=free_handle(user.get_short_name()),
        name=str(user)[:120],
    )
    return Membership.objects.create(principal=principal, user=user, role=role)


def change_role(membership: Membership, role: str, *, by: Membership) -> None:
    """Gives another role below owner. Raises CannotChangeMember."""
    if not by.may(Role.ADMIN):
        raise CannotChangeMember(_("Only an admin changes roles."))
    if role == Role.OWNER or not _below_owner(membership).update(role=role):
        raise CannotChangeMember(_("Ownership is only passed on by the owner, by a transfer."))
    audit.record(
        "member.role", actor=by.principal, subject=str(membership.user), detail={"role": role}
    )
    _tell(membership.user_id)


def transfer_ownership(to: Membership, *, by: Membership) -> None:
    """Makes another member the owner and the old owner an admin, in one step of the bound
    transaction. Raises CannotChangeMember."""
    owner = Membership.objects.filter(pk=by.pk, role=Role.OWNER)
    heir = Membership.objects.filter(pk=to.pk, is_active=True)
    if to.pk == by.pk or not (owner.update(role=Role.ADMIN) and heir.update(role=Role.OWNER)):
        raise CannotChangeMember(_("Only the owner passes ownership on, to another active member."))
    audit.record("workspace.transfer", actor=by.principal, subject=str(to.user))
    _tell(by.user_id, to.user_id)


def remove(membership: Membership, *, by: Membership) -> None:
    """Ends a membership; what the person wrote stays. Raises CannotChangeMember for the owner."""
    if not by.may(Role.ADMIN) and by.pk != membership.pk:
        raise CannotChangeMember(_("Only an admin removes other members."))
    if not _below_owner(membership).update(is_active=False):
        raise CannotChangeMember(_("The owner can leave only after passing ownership on."))
    Principal.objects.filter(pk=membership.principal_id).update(removed_at=timezone.now())
    audit.record("member.remove", actor=by.principal, subject=str(membership.user))
    _tell(membership.user_id)


def _below_owner(membership: Membership) -> QuerySet[Membership]:
    """The membership as it is when it is written, unless it owns the workspace by then."""
    return Membership.objects.filter(pk=membership.pk).exclude(role=Role.OWNER)


def instance_is_empty() -> bool:
    """Whether nobody has an account here yet."""
    with across_workspaces():
        return not User.objects.exists()


def _tell(*users: UUID) -> None:
    """Open sockets of these people check again what they may see."""
    for user_id in users:
        recheck(str(user_id))
