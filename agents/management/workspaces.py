"""Finding a workspace by what an operator types."""

from uuid import UUID

from django.core.management.base import CommandError

from workspaces.models import Workspace
from workspaces.tenancy import across_workspaces


def workspace_called(slug: str) -> UUID:
    """The id of the workspace with this slug. Raises CommandError."""
    with across_workspaces():
        found = Workspace.objects.filter(slug=slug).values_list("id", flat=True).first()
    if found is None:
        raise CommandError(f"There is no workspace {slug!r}.")
    return found


def all_workspaces() -> list[tuple[UUID, str]]:
    """Id and slug of every workspace of the instance."""
    with across_workspaces():
        return list(Workspace.objects.order_by("slug").values_list("id", "slug"))
