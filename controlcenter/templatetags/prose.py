"""{{ text|prose }}: Markdown of people, agents and skills as harmless HTML."""

from collections.abc import Iterable

from django import template
from django.utils.safestring import SafeString

from ..reading import prose as reading

register = template.Library()


@register.filter
def prose(text: object, mentions: Iterable[str] = ()) -> SafeString:
    """Rendered and sanitised Markdown; mentions: the handles to be shown as mentions."""
    return reading.render(str(text or ""), frozenset(handle.lower() for handle in mentions))
