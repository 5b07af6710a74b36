"""The org chart as an SVG file that stands alone: nothing in it comes from elsewhere."""

from collections.abc import Iterable
from typing import Any, Protocol
from xml.sax.saxutils import escape, quoteattr

from django.utils.text import Truncator
from django.utils.translation import gettext as _

STYLE = (
    "text{font:600 13px system-ui,sans-serif;fill:#1b2733}.role{font-weight:400;font-size:12px;"
    "fill:#4b5b6b}.box{fill:#fff;stroke:#c3ccd6}.agent{stroke:#3f4c5c}.edge{fill:none;"
    "stroke:#9aa7b4;stroke-width:1.25}"
)


class Placed(Protocol):
    @property
    def node(self) -> Any: ...
    @property
    def x(self) -> int: ...
    @property
    def y(self) -> float: ...


class Edge(Protocol):
    @property
    def path(self) -> str: ...


class Drawn(Protocol):
    """What a layout of the chart gives."""

    @property
    def nodes(self) -> Iterable[Placed]: ...
    @property
    def edges(self) -> Iterable[Edge]: ...
    @property
    def view(self) -> str: ...
    @property
    def full_width(self) -> int: ...
    @property
    def full_height(self) -> int: ...


def render(chart: Drawn) -> str:
    """The file's text. Names are escaped; agents have a square corner, people a round one."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{chart.view}"'
        f' width="{chart.full_width}" height="{chart.full_height}" role="img"'
        f" aria-label={quoteattr(_('Who reports to whom'))}>",
        f"<style>{STYLE}</style>",
        *(f'<path class="edge" d="{edge.path}"/>' for edge in chart.edges),
        *(_box(place) for place in chart.nodes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _box(place: Placed) -> str:
    node = place.node
    is_agent = node.get("kind") == "agent"
    name = escape(Truncator(str(node.get("name", ""))).chars(26))
    title = escape(Truncator(str(node.get("title", ""))).chars(28))
    return (
        f'<g transform="translate({place.x} {place.y:g})">'
        f'<rect class="box{" agent" if is_agent else ""}" width="204" height="64"'
        f' rx="{4 if is_agent else 32}"/>'
        f'<text x="24" y="28">{name}</text><text class="role" x="24" y="46">{title}</text></g>'
    )
