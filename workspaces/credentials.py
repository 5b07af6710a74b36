"""Secrets that the server holds: encrypted at rest with keys that rotate."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from outside.sentences import phrase

from .models import Credential, Principal


class CannotUnseal(RuntimeError):
    """The secret was sealed with a key that this instance no longer has."""


def seal(value: str) -> bytes:
    """The value encrypted with the newest key."""
    return _box().encrypt(value.encode())


def unseal(sealed: bytes | memoryview) -> str:
    """The value again. Raises CannotUnseal when its key is gone."""
    try:
        return _box().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise CannotUnseal(
            phrase(
                "A stored secret cannot be read: the encryption key of this instance is another "
                "one. Put the old key back, or enter the secret again."
            )
        ) from None


def keep(kind: str, secret: str, *, label: str, by: Principal, username: str = "") -> Credential:
    """Stores the secret for the bound workspace; its last four characters serve as a hint."""
    return Credential.objects.create(
        kind=kind,
        label=label,
        username=username,
        sealed=seal(secret),
        hint=secret[-4:] if len(secret) >= 16 else "",
        created_by=by,
    )


def forget(credential: Credential | None) -> None:
    """The secret, if there is one, is stored no more."""
    if credential is not None:
        credential.delete()


def _box() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.SECRETS.encryption_keys])
