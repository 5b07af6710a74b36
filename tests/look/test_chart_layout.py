"""The org chart's drawing: nobody on top of anybody, and of a shape that fits a screen."""

import re
from itertools import pairwise
from typing import Any

import pytest

from controlcenter.templatetags.chart_layout import HEIGHT, WIDTH, Chart, layout

Card = dict[str, Any]


def card(name: str, *children: Card, **more: Any) -> Card:
    return {"name": name, "children": list(children), **more}


def team(count: int, under: int) -> list[Card]:
    """So many, each with so many below."""
    cards = [card(str(n)) for n in range(count)]
    for n in range(1, count):
        cards[(n - 1) // under]["children"].append(cards[n])
    return cards[:1]


def overlaps(chart: Chart) -> list[tuple[str, str]]:
    """Whose boxes touch, by a look along each row of the same height."""
    found = []
    for one in chart.nodes:
        found += [
            (one.node["name"], other.node["name"])
            for other in chart.nodes
            if other is not one and abs(one.x - other.x) < WIDTH and abs(one.y - other.y) < HEIGHT
        ]
    return found


def through(chart: Chart) -> list[str]:
    """Lines that lead through a box that they do not begin or end at."""
    found = []
    for edge in chart.edges:
        for line in edge.path.split("M")[1:]:
            numbers = [float(each) for each in re.findall(r"-?[\d.]+", line)]
            points = list(zip(numbers[::2], numbers[1::2], strict=True))
            for (x1, y1), (x2, y2) in pairwise(points):
                found += [
                    f"{place.node['name']}: {line}"
                    for place in chart.nodes
                    if max(x1, x2) > place.x
                    and min(x1, x2) < place.x + WIDTH
                    and max(y1, y2) > place.y
                    and min(y1, y2) < place.y + HEIGHT
                ]
    return found


@pytest.mark.req("CC-23")
@pytest.mark.parametrize(
    ("count", "under"), [(1, 1), (2, 1), (7, 6), (40, 1), (60, 8), (150, 3), (150, 149), (150, 30)]
)
def test_boxes_and_lines_keep_clear_of_each_other(count: int, under: int) -> None:
    chart = layout(team(count, under))
    assert len(chart.nodes) == count
    assert overlaps(chart) == []
    assert through(chart) == []
    assert all(0 <= place.x <= chart.width - WIDTH for place in chart.nodes)
    assert all(0 <= place.y <= chart.height - HEIGHT for place in chart.nodes)


@pytest.mark.req("CC-23")
@pytest.mark.parametrize("under", [3, 8, 30, 999])
def test_a_thousand_take_the_shape_of_a_screen(under: int) -> None:
    chart = layout(team(1000, under))
    assert len({(place.x, place.y) for place in chart.nodes}) == 1000
    assert 1 < chart.width / chart.height < 3


def test_a_small_team_stands_in_one_column() -> None:
    chart = layout([card("ceo", *(card(f"a{n}") for n in range(8)))])
    boss, *reports = chart.nodes
    assert {place.x for place in reports} == {WIDTH + 56}
    assert boss.y == (reports[0].y + reports[-1].y) / 2


def test_people_without_reports_fill_rows_too() -> None:
    chart = layout([card(f"a{n}") for n in range(300)])
    assert overlaps(chart) == []
    assert 1 < chart.width / chart.height < 3
    assert chart.edges == []


def test_every_report_has_a_line_from_its_superior() -> None:
    chart = layout(team(60, 8))
    at = {place.node["name"]: place for place in chart.nodes}
    ends = {line.rpartition("L")[2] for edge in chart.edges for line in edge.path.split("M")[1:]}
    expected = {f"{at[str(n)].x:g} {at[str(n)].y + HEIGHT / 2:g}" for n in range(1, 60)}
    assert ends == expected


def test_no_part_of_the_lines_is_drawn_twice() -> None:
    chart = layout(team(300, 299))
    drawn = sum(length(edge.path) for edge in chart.edges)
    assert drawn < 299 * 40 + 3 * (chart.width + chart.height * len(chart.edges))


def length(path: str) -> float:
    total = 0.0
    for line in path.split("M")[1:]:
        numbers = [float(each) for each in re.findall(r"-?[\d.]+", line)]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        total += sum(abs(x1 - x2) + abs(y1 - y2) for (x1, y1), (x2, y2) in pairwise(points))
    return total


def test_the_line_up_from_the_current_one_is_lit() -> None:
    chosen = card("chosen", current=True)
    chart = layout([card("ceo", card("lead", chosen), card("other"))])
    lit = [edge for edge in chart.edges if edge.lit]
    assert [edge.lit for edge in chart.edges] == [False, False, True, True]
    assert len({edge.path for edge in lit}) == 2
    assert all(edge.path in "".join(e.path for e in chart.edges if not e.lit) for edge in lit)
