"""Personal access tokens: what a program shows instead of a person's session."""

import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from . import audit
from .models import ApiToken, Membership
from .tenancy import bind

SHAPE = re.compile(r"\Acct_([0-9a-f]{32})_([A-Za-z0-9_-]{43})\Z")
READ, WRITE = "read", "write"
TOUCH_AFTER = timedelta(minutes=1)
MOST_OPEN = 50  # of one member in one workspace


class TooMany(RuntimeError):
    """The member has as many tokens as one may have."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who shows a token: its row, and the membership whose rights it borrows."""

    token: ApiToken
    membership: Membership

    @property
    def may_write(self) -> bool:
        return WRITE in self.token.scopes


def issue(
    membership: Membership, *, name: str, may_write: bool, days: int | None
) -> tuple[ApiToken, str]:
    """A new token of the member in the bound workspace, and its text, which nobody sees again.

    It begins with the workspace's public id, so that the server knows where to look for it.
    Raises TooMany.
    """
    if open_ones().filter(user=membership.user).count() >= MOST_OPEN:
        raise TooMany
    secret = secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=membership.user,
        name=name,
        prefix=secret[:6],
        secret_hash=_hash(secret),
        scopes=[READ, WRITE] if may_write else [READ],
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    audit.record(
        "token.create",
        actor=membership.principal,
        subject=name,
        detail={"token": str(token.pk), "scopes": token.scopes, "days": days},
    )
    return token, f"cct_{membership.workspace_id.hex}_{secret}"


def find(text: str) -> Holder | None:
    """Whose token this is; None for a text that is none, or for one that works no more."""
    shape = SHAPE.match(text)
    if shape is None:
        return None
    with bind(UUID(shape[1])):
        token = open_ones().filter(secret_hash=_hash(shape[2])).first()
        if token is None:
            return None
        membership = (
            Membership.objects.select_related("workspace", "user", "principal")
            .filter(user=token.user_id, is_active=True, user__is_active=True)
            .first()
        )
        if membership is None:
            return None
        _touch(token)
        return Holder(token, membership)


def open_ones() -> QuerySet[ApiToken]:
    """The tokens of the bound workspace that work."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiToken.objects.filter(lasting, revoked_at=None)


def revoke(token: ApiToken, *, by: Membership) -> None:
    """The token works no more, from the next request on. Twice is once."""
    if not ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        return
    audit.record(
        "token.revoke", actor=by.principal, subject=token.name, detail={"token": str(token.pk)}
    )


def _touch(token: ApiToken) -> None:
    """Notes the use, at most once a minute."""
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - TOUCH_AFTER:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
