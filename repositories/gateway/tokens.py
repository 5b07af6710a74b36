"""Tokens that let a run's git reach one repository through the gateway, while the run lasts.

A token begins with the public workspace id; the rest is signed, not secret. It is worth nothing
without the run: each use asks whether the run still is with the worker that was given the token.
"""

import base64
import time
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.utils.translation import gettext as _

from .judge import Origin, may_use_git

_ALL_IDS = 5
_SALT = "repositories.gateway.tokens"


class BadToken(RuntimeError):
    """The token opens nothing; the text says why, for whoever reads git's output."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a good token says."""

    origin: Origin
    repository: str
    expires_at: int


def issue(origin: Origin, repository: str) -> str:
    """A token for this run and this repository (by name)."""
    ids = (
        origin.workspace_id,
        origin.run_id,
        origin.conversation_id,
        origin.space_id,
        origin.agent_principal_id,
    )
    expires = int(time.time()) + settings.GATEWAY_TOKEN_HOURS * 3600
    numbers = b"".join(number.to_bytes(8, "big") for number in (origin.fence, expires))
    payload = b"".join(key.bytes for key in ids) + numbers + repository.encode()
    text = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    return _signer().sign(f"{origin.workspace_id.hex}.{text}")


def read(token: str) -> Grant:
    """The grant of a token whose signature and time hold. Raises BadToken."""
    try:
        public, _dot, text = _signer().unsign(token).partition(".")
        payload = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (BadSignature, ValueError):
        raise BadToken(_("This git token is not valid.")) from None
    keys = [UUID(bytes=payload[at * 16 : at * 16 + 16]) for at in range(_ALL_IDS)]
    workspace, run, conversation, space, agent = keys
    rest = payload[_ALL_IDS * 16 :]
    fence, expires = int.from_bytes(rest[:8], "big"), int.from_bytes(rest[8:16], "big")
    origin = Origin(workspace, run, conversation, space, agent, fence)
    grant = Grant(origin, rest[16:].decode(), expires)
    if public != grant.origin.workspace_id.hex:
        raise BadToken(_("This git token is not valid."))
    if grant.expires_at < time.time():
        raise BadToken(_("This git token has expired; a new turn of the run gets a new one."))
    return grant


def require_run(grant: Grant) -> None:
    """Raises BadToken when the token's run has ended, or is with another worker by now."""
    if not may_use_git(grant.origin):
        raise BadToken(_("The run that this git token belongs to has ended."))


def _signer() -> Signer:
    return Signer(salt=_SALT, sep="~")
