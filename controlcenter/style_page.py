"""/style/: every component in every state, for those who build pages and for the look's tests."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from . import style_samples


@require_GET
def show(request: HttpRequest) -> HttpResponse:
    """The sheet, where DEBUG is on or for an instance admin; for all others it is not there."""
    is_admin = bool(getattr(request.user, "is_instance_admin", False))
    if not (settings.DEBUG or is_admin):
        raise Http404
    return render(request, "style.html", style_samples.context())
