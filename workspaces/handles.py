"""Choosing a free handle. Members and agents of a workspace share one name space."""

import re
import unicodedata

from .models import Principal

# The seeded team takes its names a moment after the workspace is made; the rest mean "everybody".
RESERVED = frozenset(
    {"ceo", "qa", "architect", "engineer", "librarian"}
    | {"all", "here", "channel", "everyone", "system", "agent", "agents", "me"}
)


def slug(text: str, *, fallback: str = "", limit: int = 63) -> str:
    """ASCII letters, digits and single hyphens of the text, or the fallback when none is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:limit].strip("-") or fallback


def free_handle(wanted: str) -> str:
    """The wanted handle, or the first numbered one that nobody in the bound workspace has."""
    base = slug(wanted, fallback="member", limit=58)
    taken = {
        handle.lower()
        for handle in Principal.objects.filter(handle__istartswith=base).values_list(
            "handle", flat=True
        )
    } | RESERVED
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}-{number}", number + 1
    return candidate
