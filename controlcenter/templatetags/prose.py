"""{{ text|prose }}, {{ text|document }}: Markdown of people, agents and skills, harmless."""

from collections.abc import Iterable

from django import template
from django.utils.safestring import SafeString

from ..reading import prose as reading

register = template.Library()


@register.filter
def prose(text: object, mentions: Iterable[str] = ()) -> SafeString:
    """Rendered and sanitised Markdown; mentions: the handles to be shown as mentions."""
    return reading.render(str(text or ""), frozenset(handle.lower() for handle in mentions))


@register.filter
def document(text: object) -> SafeString:
    """The same for what stands in a file: its lines flow together into paragraphs."""
    return reading.render(str(text or ""), is_file=True)
