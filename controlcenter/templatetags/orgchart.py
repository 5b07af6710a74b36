"""{% org_chart roots %}: who reports to whom, left to right, as SVG that the server lays out."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from . import states
from .chart_layout import HEIGHT, WIDTH, Node, Placed, layout
from .ui import agent_icon, hue, initials, state

register = template.Library()

BOX = (
    '<a class="node {tone}{more}" href="{url}"{id} data-name="{find}"{current}'
    ' data-stands="{state}">'
    '<g transform="translate({x} {y})"><rect class="box" width="204" height="64" rx="6"/>{plate}'
    '<text class="who" x="56" y="20">{name}</text><text class="role" x="56" y="37">{title}</text>'
    "<g data-standing>{standing}</g></g></a>{fold}"
)
STANDING = '{}<text class="word" x="75" y="54">{}</text>'
FOLD = (
    '<g class="fold" data-fold="{id}" role="button" tabindex="0" aria-expanded="{is_open}"'
    ' aria-label="{label}" transform="translate({x} {y})"><circle r="11"/>'
    '<text y="4">{sign}</text></g>'
)
AGENT = (
    '<rect class="plate-agent" x="12" y="16" width="32" height="32" rx="6"/>'
    '<use class="plate-agent-i" href="{}#{}" x="20" y="24" width="16" height="16"/>'
)
PERSON = (
    '<circle class="plate-person" cx="28" cy="32" r="16"/>'
    '<text class="plate-person-t" x="28" y="36">{}</text>'
)


def boxes(nodes: Iterable[Placed]) -> SafeString:
    """Every node as SVG; built here, since a thousand template includes cost a second."""
    sprite = static("icons/sprite.svg")
    return format_html_join("", "{}", ((_box(place, sprite),) for place in nodes))


def _box(place: Placed, sprite: str) -> SafeString:
    node = place.node
    name, title = str(node.get("name", "")), str(node.get("title", ""))
    known = states.of(node.get("state"))
    is_agent = node.get("kind") == "agent"
    more = " selected" if node.get("current") else ""
    return format_html(
        BOX,
        tone=known.tone,
        more=more if is_agent else f"{more} hue-{hue(name)}",
        url=node.get("url", "#"),
        id=format_html(' id="node-{}"', node["id"]) if node.get("id") else "",
        current=mark_safe(' aria-current="true"') if more else "",
        find=f"{name} {title}".lower(),
        x=place.x,
        y=f"{place.y:g}",
        plate=format_html(AGENT, sprite, agent_icon(name))
        if is_agent
        else format_html(PERSON, initials(name)),
        name=Truncator(name).chars(20),
        title=Truncator(title).chars(24),
        state=node.get("state") or "idle",
        standing=standing(known, sprite),
        fold=_fold(place),
    )


def _fold(place: Placed) -> SafeString | str:
    """How many are below, to be put out of sight and back: nodes with `fold` and `is_closed`."""
    count = place.node.get("fold")
    if not count:
        return ""
    is_closed = bool(place.node.get("is_closed"))
    return format_html(
        FOLD,
        id=place.node["id"],
        is_open="false" if is_closed else "true",
        label=f"{place.node.get('name', '')}: {count}",
        x=place.x + WIDTH,
        y=f"{place.y + HEIGHT / 2:g}",
        sign=count if is_closed else "\u2212",
    )


def standing(known: states.State, sprite: str) -> SafeString:
    """What a box says of a state: its mark and its word."""
    return format_html(STANDING, _mark(known, sprite), known.word)


def looks(words: Iterable[str]) -> dict[str, dict[str, str]]:
    """How each of these states is shown in the drawing and in the outline, for a page that has
    the boxes already."""
    sprite = static("icons/sprite.svg")
    known = {word: states.of(word) for word in words}
    return {
        word: {
            "tone": each.tone,
            "box": standing(each, sprite),
            "leaf": state(word),
        }
        for word, each in known.items()
    }


def _mark(known: states.State, sprite: str) -> SafeString:
    if known.icon and known.icon != "thinking":
        return format_html(
            '<use class="mark-i" href="{}#{}" x="56" y="43" width="14" height="14"/>',
            sprite, known.icon,
        )  # fmt: skip
    hollow = known.dot in {"never", "away", "offline"}
    halo = mark_safe('<circle class="halo" cx="62" cy="50" r="6.5"/>')
    return format_html(
        '{}<circle class="mark {}" cx="62" cy="50" r="{}"/>',
        halo if known.dot == "running" else "", known.dot, "3.25" if hollow else "4",
    )  # fmt: skip


@register.inclusion_tag("ui/org_chart.html")
def org_chart(roots: Sequence[Node], view: str = "tree", outline_url: str = "") -> dict[str, Any]:
    """roots: mappings with name, kind, title, state, url, id, current, children (the same).

    With outline_url the list of the same people (ui/outline.html) is fetched only where it is
    seen: on a phone. Give it when there are hundreds.
    """
    chart = layout(roots)
    return {
        "chart": chart,
        "boxes": boxes(chart.nodes),
        "roots": roots,
        "view": view,
        "outline_url": outline_url,
    }
