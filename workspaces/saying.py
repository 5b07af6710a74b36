"""Saying in words why something was not done."""

from urllib.parse import quote

from django.http import HttpResponse


def refusal(text: str, *, status: int) -> HttpResponse:
    """The sentence as the answer's body, and as the header that the page's script shows."""
    return HttpResponse(
        text,
        status=status,
        content_type="text/plain; charset=utf-8",
        headers={"X-Said": quote(text)},
    )
