"""What the skill commands share: which workspace is meant, and for whom they act."""

from uuid import UUID

from django.core.management.base import CommandError

from workspaces.models import Membership, Principal, Role, Workspace
from workspaces.tenancy import across_workspaces


def workspaces_called(slug: str | None) -> list[tuple[UUID, str]]:
    """Id and slug of the named workspace, or of all. Raises CommandError."""
    with across_workspaces():
        rows = Workspace.objects.order_by("slug")
        found = list((rows.filter(slug=slug) if slug else rows).values_list("id", "slug"))
    if slug and not found:
        raise CommandError(f"There is no workspace {slug!r}.")
    return found


def owner() -> Principal:
    """The owner of the bound workspace: a command acts with the owner's name."""
    row = Membership.objects.select_related("principal").get(role=Role.OWNER, is_active=True)
    found: Principal = row.principal
    return found
