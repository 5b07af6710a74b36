"""Files on the library's shelves, and what its pages say of them."""

from pathlib import Path
from typing import Any

from agents.definitions import Shelf
from agents.paths import conversation_directory
from agents.shelves import Owner
from repositories.models import Repository
from tests.cast import Cast
from workspaces.models import Membership

LIBRARY = "agents/library/"
KEPT = """---
# written by hand
name: reviewer
x-team: [a, b]   # ours
description: Reviews changes.
tools: Read, Grep   # narrow
model: sonnet
---

You review.

"""


def shelf_of(cast: Cast, who: Membership | None = None) -> Owner:
    if who is None:
        return Owner(Shelf.ORGANISATION, cast.workspace.pk)
    return Owner(Shelf.MEMBER, cast.workspace.pk, who.principal)


def put(cast: Cast, path: str, text: str, who: Membership | None = None) -> Path:
    file = shelf_of(cast, who).root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def checkout(cast: Cast, name: str = "engine") -> Path:
    with cast.bound():
        Repository.objects.get_or_create(
            name=name, defaults={"address": f"https://example.org/{name}.git"}
        )
    home = conversation_directory(cast.workspace.pk, cast.space.pk, cast.conversation.pk)
    place = home / "repos" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / ".git").write_text(f"gitdir: ../../git/{name}\n")
    return place


def library(client: Any, cast: Cast, **query: str) -> Any:
    return client.get(cast.path(LIBRARY), query)


def standing(page: Any) -> dict[str, str]:
    """Each file of the page: scope and path → how it stands."""
    return {
        f"{line.entry.found.place.scope.name.lower()} {line.entry.found.relative}": line.entry.code
        for group in page.context["groups"]
        for line in group.lines
    }


def filled(**fields: str) -> dict[str, str]:
    """The form of a definition as it is sent."""
    return {"shelf": "member", "dialect": "fuxi", "by": "fields"} | {
        key if key in ("body", "shelf", "dialect", "act", "text", "by", "path", "digest", "like")
        else f"f.{key}": value
        for key, value in fields.items()
    }  # fmt: skip
