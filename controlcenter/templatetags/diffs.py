"""{% diff text %}: a unified diff as people read it, with what cannot be seen made visible."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from ..reading import unified, unseen

register = template.Library()


@register.inclusion_tag("ui/diffs.html")
def diff(
    text: str, lines: int = 400, files: int = 60, more_url: str = "", folded: bool = False,
    bound: bool = False, sides: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Every file of a unified diff, with line numbers.

    At most `lines` lines a file and `files` files are shown; what is not is said, and more_url
    leads to the whole. bound: an answer covers all of it, which the note then says. sides: before
    and after stand beside one another.
    """
    change = unified.read(text or "", line_limit=lines, file_limit=files)
    return {
        "change": change, "more_url": more_url, "folded": folded, "bound": bound, "sides": sides,
    }  # fmt: skip


@register.inclusion_tag("ui/delta.html")
def delta(added: int | None, removed: int | None) -> dict[str, Any]:
    """+23 −7, tabular, each with its sign."""
    return {"added": added, "removed": removed}


@register.filter
def visible(text: object) -> SafeString:
    """Escaped text in which invisible and direction-changing characters are named."""
    return unseen.show(str(text))
