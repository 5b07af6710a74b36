"""{% org_chart roots %}: who reports to whom, left to right, as SVG that the server lays out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template

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
    def view(self) -> str:
        return f"{-MARGIN} {-MARGIN} {self.width + 2 * MARGIN} {self.height + 2 * MARGIN}"


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


@register.inclusion_tag("ui/org_chart.html")
def org_chart(roots: Sequence[Node], view: str = "tree") -> dict[str, Any]:
    """roots: mappings with name, kind, title, state, url, id, current, children (the same)."""
    return {"chart": layout(roots), "roots": roots, "view": view}
