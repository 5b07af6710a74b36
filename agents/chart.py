"""Who reports to whom, as a forest. Pure: rows in, a tree out, whatever the rows say."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Person:
    """A principal, whom it reports to, and the row that is shown for it."""

    id: UUID
    reports_to: UUID | None
    row: Any


@dataclass(slots=True)
class Node:
    """A place in the chart. `depth` counts from 0 at a root."""

    person: Person
    depth: int = 0
    children: list["Node"] = field(default_factory=list)


def tree(people: Iterable[Person]) -> list[Node]:
    """The roots in the order given. Nobody is lost: a superior who is not there, or a circle,
    makes its first member a root."""
    nodes = {person.id: Node(person) for person in people}
    placed: set[UUID] = set()
    roots = []
    for node in nodes.values():
        superior = node.person.reports_to
        if superior is None or superior not in nodes:
            roots.append(node)
        else:
            nodes[superior].children.append(node)
    for root in roots:
        _place(root, 0, placed)
    for node in nodes.values():
        if node.person.id not in placed:
            superior = node.person.reports_to
            if superior is not None and node in nodes[superior].children:
                nodes[superior].children.remove(node)
            roots.append(node)
            _place(node, 0, placed)
    return roots


def _place(root: Node, depth: int, placed: set[UUID]) -> None:
    waiting = [(root, depth)]
    while waiting:
        node, level = waiting.pop()
        node.depth = level
        placed.add(node.person.id)
        waiting += [(child, level + 1) for child in node.children if child.person.id not in placed]


def drawn(roots: Iterable[Node], draw: Callable[[Person], dict[str, Any]]) -> list[dict[str, Any]]:
    """The forest as mappings with `children`, each made by `draw`; a chain may be any length."""
    shown: list[dict[str, Any]] = []
    waiting = [(root, shown) for root in roots]
    while waiting:
        node, place = waiting.pop(0)
        card = draw(node.person) | {"children": []}
        place.append(card)
        waiting += [(child, card["children"]) for child in node.children]
    return shown


def folded(roots: list[dict[str, Any]], closed: Collection[UUID]) -> list[dict[str, Any]]:
    """The same with the closed ones' reports out of sight, and of each group those first who have
    reports. `fold` is how many are below a card, at any depth; `is_closed` whether they are out of
    sight."""
    order: list[dict[str, Any]] = []
    waiting = list(roots)
    while waiting:
        card = waiting.pop()
        order.append(card)
        waiting += card["children"]
    for card in reversed(order):
        card["fold"] = sum(1 + child["fold"] for child in card["children"])
        card["children"].sort(key=_is_leaf)
    for card in order:
        card["is_closed"] = card["id"] in closed and bool(card["children"])
        if card["is_closed"]:
            card["children"] = []
    return sorted(roots, key=_is_leaf)


def _is_leaf(card: dict[str, Any]) -> bool:
    return not card["fold"]
