"""Pages that belong to no room: health, help, what is left to say when something went wrong."""

import sys
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import DataError, InterfaceError, OperationalError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.decorators.http import require_GET
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as ValkeyError
from redis.exceptions import TimeoutError as ValkeyTimeout

from workspaces.problem import Problem
from workspaces.saying import refusal

HELP = settings.BASE_DIR / "docs"
AWAY = (OperationalError, InterfaceError, BrokerError, ValkeyError, ValkeyTimeout)


@require_GET
def healthz(request: HttpRequest) -> JsonResponse:
    """200 while this process can serve and reach the database; tells nothing else."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


@login_required
@require_GET
def help_show(request: HttpRequest, page: str = "index") -> HttpResponse:
    """A page of `docs/`, in the app and in the reader's language."""
    files = help_pages(get_language() or settings.LANGUAGE_CODE)
    file = next((each for each in files if each.stem == page), None)
    if file is None:
        raise Http404
    pages = [{"slug": each.stem, "title": title_of(each)} for each in files]
    context = {"text": file.read_text(), "page": page, "title": title_of(file), "pages": pages}
    return render(request, "help.html", context)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A page for people, a problem for programs."""
    if _is_for_programs(request):
        return Problem(404, "not-found", _("There is nothing at this address.")).response()
    return defaults.page_not_found(request, exception)


def fault(request: HttpRequest) -> HttpResponse:
    """What is left to say when an exception ended a request: an engine that is away comes back by
    itself, a character that no database keeps was sent; all else is a bug and recorded as such."""
    error = sys.exc_info()[1]
    if isinstance(error, AWAY):
        return _away(request)
    if isinstance(error, DataError) and "NUL" in str(error):
        return _unstorable(request)
    if _is_for_programs(request):
        sentence = _("Something went wrong on the server; nothing was changed. Try again.")
        return Problem(500, "fault", sentence).response()
    return defaults.server_error(request)


def form_too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without the token of this sign-in: from another site, or older than the sign-in."""
    said = _("This page is older than your sign-in, and nothing was changed. Reload it, try again.")
    if request.headers.get("HX-Request"):
        return refusal(said, status=403)
    context = {"text": said}
    return HttpResponse(render_to_string("403.html", context), status=403)


def _away(request: HttpRequest) -> HttpResponse:
    if _is_for_programs(request):
        sentence = _("The server cannot reach its database now; nothing was changed. Try again.")
        response = Problem(503, "away", sentence).response()
    else:
        # Without the request: what pages show around their middle would ask the database.
        response = HttpResponse(render_to_string("503.html"), status=503)
    response["Retry-After"] = "3"
    return response


def _unstorable(request: HttpRequest) -> HttpResponse:
    if _is_for_programs(request):
        sentence = _("It holds a NUL character, which cannot be stored. Nothing was changed.")
        return Problem(400, "invalid", sentence).response()
    return HttpResponse(render_to_string("400.html"), status=400)


def _is_for_programs(request: HttpRequest) -> bool:
    return request.path.startswith("/w/") and request.path.split("/")[3:4] == ["api"]


def help_pages(language: str) -> list[Path]:
    """The help pages, the index first; each in this language where it has been translated."""
    english = sorted(HELP.glob("*.md"), key=lambda file: (file.stem != "index", file.stem))
    translated = HELP / language.partition("-")[0]
    return [own if (own := translated / file.name).is_file() else file for file in english]


def title_of(file: Path) -> str:
    with file.open() as lines:
        return next(lines, "").lstrip("# ").strip() or file.stem
