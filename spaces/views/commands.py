"""Commands that are written like a message and lead to a page."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from workspaces.access import MemberRequest

AGENTS = {
    "": "agents:library-show",
    "manage": "agents:library-show",
    "create": "agents:definition-new",
    "running": "runs:run-list",
}


def page_of(request: MemberRequest, text: str) -> HttpResponse | None:
    """The way to the page that `/agents`, `/agents create` … mean; None for any other text."""
    command, _space, rest = text.strip().partition(" ")
    if command != "/agents" or (name := AGENTS.get(rest.strip())) is None:
        return None
    if not request.headers.get("HX-Request"):
        return redirect(name, request.workspace.slug)
    address = reverse(name, args=[request.workspace.slug])
    return HttpResponse(status=204, headers={"HX-Redirect": address})
