"""No browser keeps a page: Back asks anew, so that nobody acts on what was true before."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

DYNAMIC = ("text/html", "application/json")


class KeepNothing:
    """Middleware: pages and their parts are stored nowhere, also not after a sign-out."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.get("Content-Type", "").startswith(DYNAMIC):
            response.headers.setdefault("Cache-Control", "no-store, private")
        return response
