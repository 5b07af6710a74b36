"""Which language a page speaks: the person's own choice first, then the browser's."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation


class OwnLanguage:
    """Middleware after authentication: the language that a person chose for themselves holds.

    Without a choice, or with one that this installation does not speak, what LocaleMiddleware
    read from the browser stays.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = spoken(getattr(request.user, "locale", ""))
        if language:
            translation.activate(language)
            request.LANGUAGE_CODE = language
        return self.get_response(request)


def spoken(wanted: str) -> str:
    """The language of ours that fits (`pt` → `pt-pt`); empty when none does."""
    try:
        return translation.get_supported_language_variant(wanted)
    except LookupError:
        return ""
