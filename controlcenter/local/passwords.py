"""The engines' own passwords, so that reaching a socket is not yet being let in."""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from controlcenter.secret_files import kept

Passwords = Mapping[str, str]

NAMES = ("postgres", "cc_owner", "cc_app", "valkey")


def load_or_make(path: Path) -> Passwords:
    """Read the passwords, or make them at the first start (mode 0600)."""
    made = {name: secrets.token_urlsafe(24) for name in NAMES}
    stored: dict[str, str] = json.loads(kept(path, json.dumps(made, indent=1)))
    return stored
