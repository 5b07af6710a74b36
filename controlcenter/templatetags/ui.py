"""Template tags of the look: icon, state, avatar, button, field, copy, when, and {% ui %} blocks.

Every tag renders the same bytes for every viewer, so a broadcast fragment may use them all.
Larger components are templates in templates/ui/, each with its parameters in its head.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any
from zlib import crc32

from django import template
from django.forms import (
    BoundField,
    CheckboxInput,
    CheckboxSelectMultiple,
    RadioSelect,
    Select,
    Textarea,
)
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from workspaces.sentences import translated

from . import states

register = template.Library()
register.filter("translated", translated)

HUES = 12
SEEDED_ICONS = {
    "ceo": "compass",
    "qa": "flask-conical",
    "architect": "drafting-compass",
    "engineer": "hammer",
    "librarian": "library",
}
AGENT_ICONS = (
    "anchor", "book-marked", "bug", "cloud", "container", "cpu", "database", "feather", "flag",
    "gauge", "gem", "glasses", "globe", "graduation-cap", "leaf", "lightbulb", "magnet",
    "megaphone", "microscope", "newspaper", "paintbrush", "pen-tool", "puzzle", "rocket", "route",
    "ruler", "satellite", "scale", "ship", "sparkles", "star", "target", "telescope", "umbrella",
    "wrench", "zap",
)  # fmt: skip


# --- Icons, states, people -----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _icon(name: str, size: str, label: str) -> SafeString:
    classes = f"i {size}".strip()
    href = f"{static('icons/sprite.svg')}#{name}"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="{}"/></svg>',
            classes, label, href,
        )  # fmt: skip
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}"/></svg>', classes, href)


@register.simple_tag
def icon(name: str, size: str = "", label: str = "") -> SafeString:
    """One icon of the sprite. size: xs s (16 px) l xl; label gives it an accessible name.

    Without a label it is hidden from screen readers: a word must stand beside it.
    """
    return _icon(name, size, str(label))


@register.simple_tag
def state(value: str, word: str = "", badge: bool = False) -> SafeString:
    """Mark + word + colour of any state that states.WORDS knows; word replaces the usual one."""
    known = states.of(value)
    return format_html(
        '<span class="{} {}">{}{}</span>',
        "badge" if badge else "state", known.tone, mark(value), word or known.word,
    )  # fmt: skip


@register.filter
def state_of(value: str) -> states.State:
    """The state itself, for a template that draws it in its own way: word, tone, icon, dot."""
    return states.of(value)


@register.simple_tag
def badge(word: str, tone: str = "", icon: str = "", title: str = "") -> SafeString:
    """A word with a ground. tone: a state's tone, accent, open or nothing."""
    return format_html(
        '<span class="{}"{}>{}{}</span>',
        f"badge {tone}".strip(),
        format_html(' title="{}"', title) if title else "",
        _icon(icon, "", "") if icon else "",
        word,
    )


@register.simple_tag
def mark(value: str) -> SafeString:
    """A state's mark alone: for places where its word stands beside it already."""
    known = states.of(value)
    if known.icon == "thinking":
        return mark_safe('<span class="thinking" aria-hidden="true"><i></i><i></i><i></i></span>')
    if known.icon:
        return _icon(known.icon, "", "")
    return format_html('<span class="dot {}" aria-hidden="true"></span>', known.dot or known.tone)


@register.filter
def tone(value: str) -> str:
    """The colour class of a state: running blocked failed succeeded idle never."""
    return states.of(value).tone


@register.filter
def state_word(value: str) -> str:
    return str(states.of(value).word)


@register.filter
def hue(name: str) -> int:
    """0..11, always the same for one name: the class hue-N of a person."""
    return crc32(str(name).lower().encode()) % HUES


@register.filter
def initials(name: str) -> str:
    """One or two capitals: of the first and the last word."""
    words = [word for word in str(name).replace("@", " ").split() if word[0].isalnum()]
    if not words:
        return "?"
    ends = words if len(words) == 1 else (words[0], words[-1])
    return "".join(word[0] for word in ends).upper()


@register.filter
def agent_icon(name: str) -> str:
    """The icon of an agent that chose none; its name decides, so it never changes by itself."""
    slug = str(name).lower()
    return SEEDED_ICONS.get(slug) or AGENT_ICONS[crc32(slug.encode()) % len(AGENT_ICONS)]


@register.simple_tag
def avatar(
    name: str, kind: str = "member", size: str = "", presence: str = "", icon: str = ""
) -> SafeString:
    """People round with initials, agents square with an icon; presence adds a dot.

    kind: member or agent. size: xs sm (32 px) lg. The name stands beside it, so it is hidden
    from screen readers and shown on hover.
    """
    agent = str(kind) == "agent"
    classes = ["av", "agent" if agent else f"hue-{hue(name)}", size]
    inside = _icon(icon or agent_icon(name), "", "") if agent else initials(name)
    dot = format_html('<span class="dot {}"></span>', states.dot(presence)) if presence else ""
    return format_html(
        '<span class="{}" title="{}" aria-hidden="true">{}{}</span>',
        " ".join(filter(None, classes)), name, inside, dot,
    )  # fmt: skip


# --- What is clicked -----------------------------------------------------------------------------


def attributes(values: Mapping[str, Any]) -> SafeString:
    """Keyword arguments as attributes: hx_post becomes hx-post, True stands alone, None goes."""
    return format_html_join(
        "", ' {}="{}"',
        (
            (name.rstrip("_").replace("_", "-"), "" if value is True else value)
            for name, value in values.items()
            if value not in (None, False, "")
        ),
    )  # fmt: skip


@register.simple_tag
def button(
    label: str,
    tone: str = "",
    icon: str = "",
    size: str = "",
    key: str = "",
    only_icon: bool = False,
    href: str = "",
    type: str = "button",
    **attrs: Any,
) -> SafeString:
    """A button, or with href a link that looks like one. Its label names its act.

    tone: primary ghost danger "danger solid"; size: sm; key: the key that presses it (shown, and
    read by keys.js); only_icon hides the label from sight; further keywords become attributes
    (hx_post=url → hx-post).
    """
    classes = ["btn", tone, size, "icon" if only_icon else "", str(attrs.pop("cls", ""))]
    attrs["class"] = " ".join(filter(None, classes))
    if key:
        attrs["data_key"] = key.lower()
    if only_icon:
        attrs.setdefault("aria_label", label)
        attrs.setdefault("title", label)
    shown: list[SafeString | str] = [_icon(icon, "s" if size == "sm" else "", "") if icon else ""]
    if type == "submit":
        shown.append(_icon("loader-circle", "spin s" if size == "sm" else "spin", ""))
    shown.append("" if only_icon else label)
    if key and not only_icon:
        shown.append(format_html(" <kbd>{}</kbd>", key.upper()))
    inside = format_html_join("", "{}", ((part,) for part in shown))
    if href:
        return format_html('<a href="{}"{}>{}</a>', href, attributes(attrs), inside)
    return format_html('<button type="{}"{}>{}</button>', type, attributes(attrs), inside)


@register.simple_tag
def copy(value: object, shown: str = "", length: int = 8) -> SafeString:
    """A long id cut to its first characters; a click copies the whole (copy.js)."""
    whole = str(value)
    return format_html(
        '<button type="button" class="copy" data-copy="{}" title="{}">'
        '<span class="cut">{}</span>{}{}<span class="vh">{}</span></button>',
        whole, whole, shown or whole[:length],
        _icon("copy", "xs", ""), _icon("check", "xs done", ""), _("Copy"),
    )  # fmt: skip


# --- Times and amounts ---------------------------------------------------------------------------


@register.simple_tag
def when(moment: datetime | date | None, style: str = "ago", empty: str = "") -> SafeString | str:
    """A <time> that time.js formats in the reader's zone: ago, clock, day or full.

    What stands inside is UTC and is what remains without script.
    """
    if not moment:  # a template gives "" for what it does not have
        return empty
    if not isinstance(moment, datetime):
        return format_html('<time datetime="{}">{}</time>', moment.isoformat(), date_format(moment))
    utc = moment.astimezone(UTC) if timezone.is_aware(moment) else moment
    return format_html(
        '<time datetime="{}" data-when="{}">{}</time>',
        utc.isoformat(timespec="seconds").replace("+00:00", "Z"),
        style,
        date_format(utc, "H:i") if style == "clock" else f"{utc:%Y-%m-%d %H:%M} UTC",
    )


@register.filter
def span(seconds: float | None) -> str:
    """A length of time as people say it: 90 ms, 3.4 s, 1 min 40 s, 2 h 05 min, 3 d 4 h."""
    if seconds is None:
        return "–"
    if 0 < seconds < 1:
        return f"{max(1, round(seconds * 1000))} ms"
    whole = int(seconds)
    if seconds < 10 and seconds != whole:
        return f"{seconds:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


@register.filter
def short(number: float | None) -> str:
    """412, 148 k, 3.1 M: for counts of tokens and bytes where the exact number says no more."""
    if number is None:
        return "–"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            cut = number / size
            return f"{cut:.0f} {letter}" if cut >= 100 else f"{cut:.1f} {letter}"
    return str(int(number))


@register.filter
def money(cents: float | None) -> str:
    """US cents as dollars; below one cent the first figure that says anything."""
    if cents is None:
        return "–"
    dollars = cents / 100
    return f"${dollars:,.2f}" if not 0 < dollars < 0.01 else f"${dollars:.4f}"


# --- Forms ---------------------------------------------------------------------------------------


@register.inclusion_tag("ui/field.html")
def field(bound: BoundField, label: str = "", **attrs: Any) -> dict[str, Any]:
    """A form's field with label, hint, error and our widget; further keywords go to the widget."""
    widget = bound.field.widget
    kind = _widget_kind(bound)
    classes = {"check": "", "options": "", "select": "select", "area": "area"}.get(kind, "input")
    given = {name.rstrip("_").replace("_", "-"): value for name, value in attrs.items()}
    extra = str(given.pop("class", given.pop("cls", "")))
    own = str(widget.attrs.get("class", ""))
    if kind == "area":
        given.setdefault("rows", 4)  # it grows with its text
        classes = "area grows"
    given["class"] = " ".join(filter(None, (classes, own, extra)))
    return {"field": bound, "kind": kind, "label": label or bound.label, "attrs": given}


def _widget_kind(bound: BoundField) -> str:
    widget = bound.field.widget
    if widget.is_hidden:
        return "hidden"
    if isinstance(widget, CheckboxInput):
        return "check"
    if isinstance(widget, RadioSelect | CheckboxSelectMultiple):
        return "options"
    if isinstance(widget, Select):
        return "select"
    return "area" if isinstance(widget, Textarea) else "input"


@register.filter
def with_attrs(bound: BoundField, attrs: dict[str, Any]) -> SafeString:
    """The field's widget with these attributes."""
    return bound.as_widget(attrs={name: value for name, value in attrs.items() if value})


# --- Pieces and blocks ---------------------------------------------------------------------------


def _isolated(context: template.Context, name: str, values: Mapping[str, Any]) -> SafeString:
    """Renders templates/ui/<name>.html with these values and nothing of the page around it.

    A page's own `state`, `name` or `url` would else reach into the component.
    """
    engine = context.template.engine  # type: ignore[union-attr]
    component = engine.get_template(f"ui/{name}.html")
    kept = {key: context.get(key) for key in ("csrf_token", "request") if key in context}
    return component.render(context.new({**kept, **values}))


@register.simple_tag(takes_context=True)
def piece(context: template.Context, component: str, **values: Any) -> SafeString:
    """{% piece "roster_row" agent=agent url=url %}: a component that takes only what it is given.

    Its parameters stand in the head of templates/ui/<name>.html.
    """
    return _isolated(context, component, values)


class UiNode(template.Node):
    """A component around content: it sees {{ body }}, {{ parts.<name> }} and what it was given."""

    child_nodelists = ("content",)  # so that {% block %} works inside

    def __init__(
        self, name: FilterExpression, values: dict[str, FilterExpression], content: NodeList
    ) -> None:
        self.name, self.values, self.content = name, values, content

    def render(self, context: template.Context) -> SafeString:
        values = {key: value.resolve(context) for key, value in self.values.items()}
        parts: dict[str, SafeString] = {}
        with context.push(ui_parts=parts):
            body = self.content.render(context)
        name = str(self.name.resolve(context))
        return _isolated(context, name, {**values, "body": body, "parts": parts})


class PartNode(template.Node):
    child_nodelists = ("content",)

    def __init__(self, name: str, content: NodeList) -> None:
        self.name, self.content = name, content

    def render(self, context: template.Context) -> SafeString:
        context["ui_parts"][self.name] = self.content.render(context)
        return SafeString("")


@register.tag
def ui(parser: Parser, token: Token) -> UiNode:
    """{% ui "card" title=… %} body {% part "foot" %}…{% endpart %} {% endui %}"""
    bits = token.split_contents()[1:]
    name = parser.compile_filter(bits.pop(0))
    values = token_kwargs(bits, parser)
    if bits:
        raise template.TemplateSyntaxError(f"ui: cannot read {bits[0]!r}; write name=value")
    content = parser.parse(("endui",))
    parser.delete_first_token()
    return UiNode(name, values, content)


@register.tag
def part(parser: Parser, token: Token) -> PartNode:
    """A named place of the {% ui %} block around it."""
    _tag, name = token.split_contents()
    content = parser.parse(("endpart",))
    parser.delete_first_token()
    return PartNode(name.strip("\"'"), content)
