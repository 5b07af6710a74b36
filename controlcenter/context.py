"""What every page's frame needs: the workspace, the member, the counts in the rail."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

import live
from guardrails import inbox, topics
from workspaces import tenancy
from workspaces.models import Membership


def frame(request: HttpRequest) -> dict[str, Any]:
    """The member's workspace of this request, when the page stands in one."""
    workspace = getattr(request, "workspace", None)
    if workspace is None:
        return {}
    membership = request.membership  # type: ignore[attr-defined]
    return {
        "workspace": workspace,
        "membership": membership,
        "principal": request.principal,  # type: ignore[attr-defined]
        "counts": SimpleLazyObject(lambda: _counts(request.membership)),  # type: ignore[attr-defined]
    }


def _counts(membership: Membership) -> dict[str, Any]:
    """The numbers in the rail; none on an error page, which is drawn after the binding ended."""
    if tenancy.bound() is None:
        return {}
    cursor = live.cursor(topics.inbox(membership.workspace_id))
    return {"inbox": inbox.waiting_count(membership), "inbox_after": cursor}
