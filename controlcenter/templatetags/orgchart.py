"""{% org_chart roots %}: who reports to whom, left to right, as SVG that the server lays out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from . import states
from .ui import agent_icon, hue, initials, state

register = template.Library()

WIDTH, HEIGHT = 204, 64
COLUMN, ROW = 260, 84
MARGIN = 40

Node = Mapping[str, Any]


@dataclass(frozen=True)
class Placed:
    """A node with its left upper corner, in the chart's own units (px at scale 1)."""

    node: Node
    x: int
    y: float


@dataclass(frozen=True)
class Edge:
    path: str
    lit: bool


@dataclass(frozen=True)
class Chart:
    nodes: list[Placed]
    edges: list[Edge]
    width: int
    height: int

    @property
    def full_width(self) -> int:
        return self.width + 2 * MARGIN

    @property
    def full_height(self) -> int:
        return self.height + 2 * MARGIN

    @property
    def view(self) -> str:
        return f"{-MARGIN} {-MARGIN} {self.full_width} {self.full_height}"

    @property
    def boxes(self) -> SafeString:
        """Every node as SVG; built here, since a thousand template includes cost a second."""
        sprite = static("icons/sprite.svg")
        return format_html_join("", "{}", ((_box(place, sprite),) for place in self.nodes))


def layout(roots: Sequence[Node]) -> Chart:
    """Every leaf has a row of its own; who has reports stands in the middle of them.

    Without recursion: a chain of a thousand is as welcome as a thousand side by side.
    """
    order = list(_walk(roots))
    places: dict[int, Placed] = {}
    row = 0
    for node, depth in reversed(order):
        below = [places[id(child)].y for child in node.get("children") or ()]
        if below:
            y = (min(below) + max(below)) / 2
        else:
            y, row = float(-row * ROW), row + 1
        places[id(node)] = Placed(node, depth * COLUMN, y)
    lift = (row - 1) * ROW
    nodes = [
        Placed(place.node, place.x, place.y + lift)
        for place in (places[id(node)] for node, _depth in order)
    ]
    at = {id(place.node): place for place in nodes}
    lit = _line_above(order)
    edges = [
        Edge(_path(at[id(node)], at[id(child)]), id(child) in lit)
        for node, _depth in order
        for child in node.get("children") or ()
    ]
    edges.sort(key=lambda edge: edge.lit)
    deepest = max((depth for _node, depth in order), default=0)
    return Chart(nodes, edges, deepest * COLUMN + WIDTH, max(0, lift) + HEIGHT)


def _walk(roots: Sequence[Node]) -> Iterator[tuple[Node, int]]:
    """From above, left before right."""
    waiting = [(root, 0) for root in reversed(roots)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in reversed(node.get("children") or ()))


def _line_above(order: list[tuple[Node, int]]) -> set[int]:
    """The selected one and everyone above: their edges are lit."""
    boss = {id(child): node for node, _depth in order for child in node.get("children") or ()}
    lit: set[int] = set()
    at = next((node for node, _depth in order if node.get("current")), None)
    while at is not None:
        lit.add(id(at))
        at = boss.get(id(at))
    return lit


def _path(boss: Placed, report: Placed) -> str:
    """A line with two rounded corners, or a straight one."""
    x1, y1 = boss.x + WIDTH, boss.y + HEIGHT / 2
    x2, y2 = report.x, report.y + HEIGHT / 2
    if abs(y1 - y2) < 1:
        return f"M{x1} {y1:g}H{x2}"
    middle = x1 + (x2 - x1) / 2
    bend = min(6, abs(y2 - y1) / 2) * (1 if y2 > y1 else -1)
    return (
        f"M{x1} {y1:g}H{middle - 6:g}Q{middle:g} {y1:g} {middle:g} {y1 + bend:g}"
        f"V{y2 - bend:g}Q{middle:g} {y2:g} {middle + 6:g} {y2:g}H{x2}"
    )


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
    return {"chart": layout(roots), "roots": roots, "view": view, "outline_url": outline_url}
