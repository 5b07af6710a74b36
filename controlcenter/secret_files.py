"""The keys of an instance: files of mode 0600 made at the first start, or the environment."""

import os
import secrets
import tempfile
from contextlib import suppress
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
        return os.environ.get(variable, "").strip() or kept(self._folder / name, fresh)


def kept(file: Path, fresh: str) -> str:
    """What the file holds, made with `fresh` (mode 0600) when it is not there.

    It is there whole or not at all, also for who reads while another process makes it.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not file.exists():
        descriptor, temp = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(descriptor, "w") as out:
                out.write(fresh + "\n")
                out.flush()
                os.fsync(out.fileno())
            with suppress(FileExistsError):
                os.link(temp, file)
        finally:
            Path(temp).unlink()
    return file.read_text().strip()
