"""Markdown of people, agents and skills as harmless HTML.

The parser knows no raw HTML and no images; what it writes still passes a sanitiser that drops
every attribute it was not told of, hx-* and style among them.
"""

from functools import lru_cache
from re import compile

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from . import unseen

LONGEST_HIGHLIGHTED = 20_000
TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "hr", "p", "pre", "s", "span", "strong"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "ul"),
    *("table", "tbody", "td", "th", "thead", "tr"),
}
ATTRIBUTES = {"*": set[str](), "a": {"href"}, "code": {"class"}, "span": {"class"}, "ol": {"start"}}
MENTION = compile(r"(?<![\w@/.])@([a-z0-9][a-z0-9-]{0,62})(?![\w@])")
BETWEEN_TAGS = compile(r'(<(?:[^>"]|"[^"]*")*>)')


def _code(text: str, language: str, _attrs: str) -> str:
    if not language or len(text) > LONGEST_HIGHLIGHTED:
        return ""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ""
    return str(highlight(text, lexer, HtmlFormatter(nowrap=True)))


def _parser(*, breaks: bool) -> MarkdownIt:
    return (
        MarkdownIt("commonmark", {"html": False, "highlight": _code, "breaks": breaks})
        .enable(["table", "strikethrough"])
        .disable(["image", "html_block", "html_inline"])
    )


_said = _parser(breaks=True)
_written = _parser(breaks=False)


@lru_cache(maxsize=2048)
def render(
    text: str, mentions: frozenset[str] = frozenset(), *, is_file: bool = False
) -> SafeString:
    """HTML of Markdown. Handles in `mentions` (lower case) are shown as mentions.

    A line ends where it was ended in a message; in a file it only was long enough. Characters that
    would not be seen are named, also inside code.
    """
    html = nh3.clean(
        (_written if is_file else _said).render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    # What scrolls sideways must be reachable by keyboard.
    html = html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return mark_safe(_in_text(html, mentions))


def _in_text(html: str, mentions: frozenset[str]) -> str:
    """Works on what stands between tags only, and leaves mentions inside code alone."""
    out, depth = [], 0
    for piece in BETWEEN_TAGS.split(html):
        if piece.startswith("<"):
            depth += piece.startswith(("<code", "<a ")) - piece.startswith(("</code", "</a"))
        elif piece:
            piece = unseen.DECEIVING.sub(unseen.named, piece)
            if mentions and not depth:
                piece = MENTION.sub(
                    lambda found: (
                        f'<span class="at" data-handle="{found[1]}">@{found[1]}</span>'
                        if found[1].lower() in mentions
                        else found[0]
                    ),
                    piece,
                )
        out.append(piece)
    return "".join(out)
