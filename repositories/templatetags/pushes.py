"""Tags about repositories and pushes, for fragments that other rooms include."""

from typing import Any

from django import template

from repositories import showing
from repositories.models import PushRequest, Repository

register = template.Library()


@register.simple_tag
def push_parts(request: PushRequest) -> dict[str, Any]:
    """{% push_parts push_request as push %}: refs, commits, warnings, counts."""
    return showing.parts(request)


@register.simple_tag
def push_diff(request: PushRequest, page: int = 1) -> showing.DiffPage:
    """{% push_diff push_request as shown %}: the first files of its diff."""
    return showing.diff_page(request, page)


@register.filter
def mark_of(row: PushRequest | Repository) -> str:
    """The name under which the look knows the state of a repository or a push."""
    return showing.mark_of(row)
