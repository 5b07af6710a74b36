"""Everybody is drawn exactly once, whatever the rows say."""

from uuid import UUID

import pytest

from agents.chart import Node, Person, drawn, folded, tree

IDS = [UUID(int=number) for number in range(10)]


def people(**reports: str) -> list[Person]:
    """a="b": a reports to b; "" to nobody."""
    key = {name: IDS[number] for number, name in enumerate(sorted(set("abcdefgh")))}
    return [Person(key[who], key.get(to), who) for who, to in reports.items()]


def shape(roots: list[Node]) -> str:
    """a(b c(d)) e"""

    def one(node: Node) -> str:
        inside = " ".join(map(one, node.children))
        return f"{node.person.row}({inside})" if inside else str(node.person.row)

    return " ".join(map(one, roots))


@pytest.mark.req("CC-23")
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({}, ""),
        ({"a": "", "b": "a", "c": "a"}, "a(b c)"),
        ({"b": "a", "a": ""}, "a(b)"),
        ({"a": "h", "b": "a"}, "a(b)"),  # the superior is archived or gone
        ({"a": "a"}, "a"),
        ({"a": "b", "b": "a"}, "a(b)"),
        ({"a": "c", "b": "a", "c": "b"}, "a(b(c))"),
        ({"d": "", "a": "b", "b": "a", "c": "a"}, "d a(b c)"),
    ],
)
def test_tree(rows: dict[str, str], expected: str) -> None:
    assert shape(tree(people(**rows))) == expected


def test_a_chain_of_two_thousand_is_drawn() -> None:
    chain = [
        Person(UUID(int=number + 1), UUID(int=number) if number else None, number)
        for number in range(2000)
    ]
    cards = drawn(tree(chain), lambda person: {"row": person.row})
    depth = 0
    while cards:
        assert len(cards) == 1
        cards, depth = cards[0]["children"], depth + 1
    assert depth == 2000


def test_who_has_reports_comes_first_at_each_level() -> None:
    rows = people(a="", b="a", c="a", d="c", e="")
    cards = folded(drawn(tree(rows), lambda person: {"id": person.id, "row": person.row}), ())
    assert [card["row"] for card in cards] == ["a", "e"]
    assert [card["row"] for card in cards[0]["children"]] == ["c", "b"]
    assert [card["fold"] for card in cards] == [3, 0]
