"""An address that only takes what a form sends, opened as a page: it says so."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


class WrongMethod:
    """Middleware: a refused method that says nothing itself gets our page; its status stays."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.content:
            return response
        page = render(request, "405.html", status=405)
        page.headers["Allow"] = response.headers["Allow"]
        return page
