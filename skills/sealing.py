"""What an unaccepted skill says, kept so that a person can read it: sealed, never in the clear."""

import json
from typing import Any

from workspaces.credentials import CannotUnseal, seal, unseal


def close(value: Any) -> bytes:
    """JSON-like data, encrypted with the instance's key. Nothing of it can be searched or read in
    the database, a backup or a log."""
    return seal(json.dumps(value, ensure_ascii=True))


def open_(sealed: bytes | memoryview) -> Any:
    """The data again; None when there is none, or its key is gone."""
    if not bytes(sealed):
        return None
    try:
        return json.loads(unseal(sealed))
    except CannotUnseal:
        return None
