"""Pages that belong to no room: health, help, the style page."""

from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.decorators.http import require_GET

from workspaces.problem import Problem

HELP = settings.BASE_DIR / "docs"


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
    """What is left to say when a bug ended a request; it has been recorded as such."""
    if _is_for_programs(request):
        sentence = _("Something went wrong on the server; nothing was changed. Try again.")
        return Problem(500, "fault", sentence).response()
    return defaults.server_error(request)


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
