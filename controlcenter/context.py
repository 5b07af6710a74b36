"""What every page's frame needs: the workspace, the member, the counts in the rail."""

from typing import Any

from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, Any]:
    """The member's workspace of this request, when the page stands in one."""
    workspace = getattr(request, "workspace", None)
    if workspace is None:
        return {}
    return {
        "workspace": workspace,
        "membership": request.membership,  # type: ignore[attr-defined]
        "principal": request.principal,  # type: ignore[attr-defined]
    }
