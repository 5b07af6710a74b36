"""The keys of an instance: files of mode 0600 made at the first start, or the environment."""

import os
import secrets
from functools import cached_property
from pathlib import Path

from cryptography.fernet import Fernet


class Secrets:
    """Reads each key from `CC_…` or from `<data>/secrets/`; makes the file when it is missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def django_key(self) -> str:
        return self._read("CC_SECRET_KEY", "django.key", secrets.token_urlsafe(50))

    @cached_property
    def encryption_keys(self) -> list[str]:
        """Newest first, so that old values can still be read after a rotation."""
        value = self._read("CC_ENCRYPTION_KEYS", "encryption.keys", Fernet.generate_key().decode())
        return value.replace(",", "\n").split()

    @cached_property
    def audit_key(self) -> str:
        return self._read("CC_AUDIT_KEY", "audit.key", secrets.token_hex(32))

    def _read(self, variable: str, name: str, fresh: str) -> str:
        given = os.environ.get(variable, "").strip()
        if given:
            return given
        file = self._folder / name
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return file.read_text().strip()
        with os.fdopen(descriptor, "w") as out:
            out.write(fresh + "\n")
        return fresh
