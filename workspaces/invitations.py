"""Inviting a person: a link that works once, for seven days, of which only a hash is kept."""

import hmac
import secrets
from hashlib import sha256
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from . import audit
from .members import join
from .models import Invitation, Membership, Principal, User, Workspace
from .tenancy import bind
from .turns import take_turn


class AlreadyHere(ValueError):
    """The address is a member's; the text is a sentence for people."""


def invite(*, email: str, role: str, by: Principal) -> tuple[Invitation, str]:
    """An open invitation to the bound workspace, and the token that the link carries, once.

    It takes the place of an open one to the same address. Raises AlreadyHere for a member's.
    """
    email = email.lower()
    take_turn("invitations")
    if Membership.objects.filter(user__email__iexact=email, is_active=True).exists():
        raise AlreadyHere(_("%(email)s is a member already.") % {"email": email})
    earlier = Invitation.objects.filter(email=email, accepted_at=None, revoked_at=None)
    earlier.update(revoked_at=timezone.now())
    secret = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        email=email, role=role, secret_hash=_hash(secret), invited_by=by
    )
    audit.record("member.invite", actor=by, subject=email, detail={"role": role})
    return invitation, f"{invitation.workspace_id.hex}.{invitation.id.hex}.{secret}"


def find(token: str) -> tuple[Workspace, Invitation] | None:
    """The open invitation that the token belongs to; None for anything else."""
    try:
        workspace_hex, invitation_hex, secret = token.split(".", 2)
        workspace_id, invitation_id = UUID(workspace_hex), UUID(invitation_hex)
    except ValueError:
        return None
    with bind(workspace_id):
        invitation = Invitation.objects.filter(pk=invitation_id).first()
        if invitation is None or not invitation.is_open:
            return None
        if not hmac.compare_digest(invitation.secret_hash, _hash(secret)):
            return None
        return Workspace.objects.get(pk=workspace_id), invitation


def accept(token: str, user: User) -> Membership | None:
    """Uses the invitation up and joins; None when it was used, revoked or too old meanwhile."""
    found = find(token)
    if found is None:
        return None
    workspace, invitation = found
    with bind(workspace):
        open_ones = Invitation.objects.filter(
            pk=invitation.pk,
            accepted_at=None,
            revoked_at=None,
            expires_at__gt=timezone.now(),
        )
        if not open_ones.update(accepted_at=timezone.now()):
            return None
        membership = join(user, invitation.role)
        audit.record("member.join", actor=membership.principal, subject=str(user))
        return membership


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
