"""Where each box of the org chart stands: left to right, those who report behind their superior.

A chart that fits a screen keeps them in one column. A larger one puts them in as many columns as
bring its own shape nearest to a screen's, at each level: a star of a thousand is as readable as
a deep tree. Nothing here calls itself: a chain may be any length.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 204, 64
BEHIND = 56  # from a box to those who report to it
BESIDE = 44  # from one of their columns to the next
BELOW, APART = 16, 32  # from box to box, and from one with reports to the next
ABOVE = 20  # for the line that reaches the further columns
MARGIN = 40
ASPECT = 1.7  # of a screen's place for it
ONE_COLUMN = 900  # as high as a chart may be that wraps nowhere
MOST_COLUMNS = 48
CORNER = 6

Node = Mapping[str, Any]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """A node with its left upper corner, in the chart's own units (px at scale 1)."""

    node: Node
    x: int
    y: float


@dataclass(frozen=True, slots=True)
class Edge:
    """The lines from one superior to a column; `lit` is one of them, drawn again."""

    path: str
    lit: bool


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class _Block:
    """Somebody with everybody below, as a rectangle: its columns by their left edges, with the
    upper edge of each block in them, and how far down the own box stands."""

    node: Node
    width: int = WIDTH
    height: int = HEIGHT
    box: int = 0
    columns: "tuple[_Column, ...]" = ()

    @property
    def is_leaf(self) -> bool:
        return not self.columns


@dataclass(frozen=True, slots=True)
class _Column:
    x: int
    blocks: tuple[tuple[int, _Block], ...]

    @property
    def width(self) -> int:
        return max(block.width for _y, block in self.blocks)

    @property
    def height(self) -> int:
        y, last = self.blocks[-1]
        return y + last.height


def layout(roots: Sequence[Node]) -> Chart:
    """Everybody placed once, with the lines between them; the line up from the current one lit."""
    order = list(_walk(roots))
    columns = _columns_of(order, roots, wraps=False)
    if max((column.height for column in columns), default=0) > ONE_COLUMN:
        columns = _columns_of(order, roots, wraps=True)
    return _drawn(columns, _line_above(order))


def _walk(roots: Sequence[Node]) -> Iterator[Node]:
    """From above, left before right."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.get("children") or ()))


def _columns_of(
    order: Sequence[Node], roots: Sequence[Node], *, wraps: bool
) -> tuple[_Column, ...]:
    blocks: dict[int, _Block] = {}
    for node in reversed(order):
        below = [blocks.pop(id(child)) for child in node.get("children") or ()]
        blocks[id(node)] = _block(node, below, wraps=wraps)
    return _packed([blocks[id(root)] for root in roots], before=0, wraps=wraps)


def _block(node: Node, below: Sequence[_Block], *, wraps: bool) -> _Block:
    if not below:
        return _Block(node)
    columns = _packed(below, before=WIDTH + BEHIND, wraps=wraps)
    (first_y, first), (last_y, last) = columns[0].blocks[0], columns[0].blocks[-1]
    middle = (first_y + first.box + last_y + last.box) // 2
    width, height = _size(columns)
    return _Block(node, width, height, middle, columns)


def _size(columns: Sequence[_Column]) -> tuple[int, int]:
    return columns[-1].x + columns[-1].width, max(column.height for column in columns)


def _packed(blocks: Sequence[_Block], *, before: int, wraps: bool) -> tuple[_Column, ...]:
    """The blocks in the number of columns that leaves them the largest when all are seen at once.
    `before` is what stands left of them."""
    best = _filled(blocks, sum(_need(blocks, n) for n in range(len(blocks))), before=before)
    if not wraps:
        return best
    total = best[0].height if best else 0
    tallest = max((block.height for block in blocks), default=0)
    for count in range(2, min(len(blocks), MOST_COLUMNS) + 1):
        found = _filled(blocks, max(tallest, -(-total // count)), before=before)
        if _cost(found) < _cost(best):
            best = found
        elif _size(found)[0] / ASPECT > _cost(best):
            break
    return best


def _need(blocks: Sequence[_Block], n: int) -> int:
    """The height of a block with what parts it from the one above."""
    if n == 0:
        return blocks[n].height
    are_leaves = blocks[n].is_leaf and blocks[n - 1].is_leaf
    return blocks[n].height + (BELOW if are_leaves else APART)


def _cost(columns: Sequence[_Column]) -> float:
    width, height = _size(columns)
    return max(width / ASPECT, height)


def _filled(blocks: Sequence[_Block], most: int, *, before: int) -> tuple[_Column, ...]:
    """Columns no higher than that, filled one after the other in the order given."""
    groups: list[list[tuple[int, _Block]]] = []
    end = most
    for n, block in enumerate(blocks):
        need = _need(blocks, n)
        if not groups or end + need > most:
            groups.append([])
            end, need = 0, block.height
        groups[-1].append((end + need - block.height, block))
        end += need
    return _set_up(groups, before=before)


def _set_up(groups: Sequence[Sequence[tuple[int, _Block]]], *, before: int) -> tuple[_Column, ...]:
    drop = ABOVE if before and len(groups) > 1 else 0
    columns, x = [], before
    for group in groups:
        column = _Column(x, tuple((y + drop, block) for y, block in group))
        columns.append(column)
        x += column.width + BESIDE
    return tuple(columns)


def _drawn(columns: tuple[_Column, ...], lit: frozenset[int]) -> Chart:
    """The same with every place counted from the chart's corner."""
    nodes: list[Placed] = []
    edges: list[Edge] = []
    waiting = list(reversed([(0, 0, *each) for each in _inside(columns)]))
    while waiting:
        left, top, x, y, block = waiting.pop()
        left, top = left + x, top + y
        nodes.append(Placed(block.node, left, top + block.box))
        edges += _edges(block, left, top, lit)
        waiting += reversed([(left, top, *each) for each in _inside(block.columns)])
    edges.sort(key=lambda edge: edge.lit)
    width, height = _size(columns) if columns else (WIDTH, HEIGHT)
    return Chart(nodes, edges, width, height)


def _inside(columns: Sequence[_Column]) -> Iterator[tuple[int, int, _Block]]:
    for column in columns:
        for y, block in column.blocks:
            yield column.x, y, block


def _edges(block: _Block, left: int, top: int, lit: frozenset[int]) -> Iterator[Edge]:
    """One for each column, no part drawn twice: an overlap would look darker."""
    branch: Point | None = None
    for n in range(len(block.columns)):
        lines = list(_lines(block, n, left, top))
        yield Edge("".join(map(_rounded, _once([line for _below, line in lines], branch))), False)
        for below, line in lines:
            if id(below.node) in lit:
                yield Edge(_rounded(line), lit=True)
        branch = _branch(lines[0][1], is_first=n == 0)


def _lines(block: _Block, n: int, left: int, top: int) -> Iterator[tuple[_Block, list[Point]]]:
    """To each report of a column: behind the superior, above the columns before, down beside it."""
    column = block.columns[n]
    start = (left + WIDTH, top + block.box + HEIGHT / 2)
    trunk, rail, across = start[0] + BEHIND / 2, left + column.x - BESIDE / 2, top + ABOVE / 4
    for y, below in column.blocks:
        end = (left + column.x, top + y + below.box + HEIGHT / 2)
        around = [(trunk, across), (rail, across), (rail, end[1])] if n else [(trunk, end[1])]
        yield below, [start, (trunk, start[1]), *around, end]


def _once(lines: Sequence[list[Point]], branch: Point | None) -> Iterator[list[Point]]:
    """The lines of a column without what they share: the outermost goes the whole way, from where
    it leaves the column before, and the others begin at it."""
    for n, line in enumerate(lines):
        before, corner, end = line[-3:]
        down = _step(corner[1] - before[1])
        if down and n != (len(lines) - 1 if down > 0 else 0):
            yield [(corner[0], corner[1] - 2 * CORNER * down), corner, end]
        else:
            yield [branch, *(at for at in line[-4:] if at[0] >= branch[0])] if branch else line


def _branch(line: list[Point], *, is_first: bool) -> Point | None:
    """Where the lines to the next column leave this one's uppermost."""
    if not is_first:
        return line[-3][0] - CORNER, line[-3][1]
    start, corner = line[0], line[-2]
    return (corner[0], corner[1] + CORNER) if corner[1] < start[1] else None


def _rounded(points: Sequence[Point]) -> str:
    """A line with right angles, its corners rounded."""
    line = [point for n, point in enumerate(points) if n == 0 or point != points[n - 1]]
    line = [each for n, each in enumerate(line) if not _is_between(line, n)]
    parts = [f"M{line[0][0]:g} {line[0][1]:g}"]
    for before, corner, after in zip(line, line[1:], line[2:], strict=False):
        (x1, y1), (x2, y2) = _towards(corner, before), _towards(corner, after)
        parts.append(f"L{x1:g} {y1:g}Q{corner[0]:g} {corner[1]:g} {x2:g} {y2:g}")
    return "".join((*parts, f"L{line[-1][0]:g} {line[-1][1]:g}"))


def _is_between(line: Sequence[Point], n: int) -> bool:
    """On the way straight on."""
    if n in (0, len(line) - 1):
        return False
    before, here, after = line[n - 1 : n + 2]
    return before[0] == here[0] == after[0] or before[1] == here[1] == after[1]


def _towards(corner: Point, other: Point) -> Point:
    """As far from the corner as its rounding reaches, at most half of the way."""
    x, y = (at - here for here, at in zip(corner, other, strict=True))
    far = min(CORNER, (abs(x) + abs(y)) / 2)
    return corner[0] + _step(x) * far, corner[1] + _step(y) * far


def _step(value: float) -> int:
    return (value > 0) - (value < 0)


def _line_above(order: Sequence[Node]) -> frozenset[int]:
    """The current one and everyone above: their lines are lit."""
    boss = {id(child): node for node in order for child in node.get("children") or ()}
    lit: set[int] = set()
    at = next((node for node in order if node.get("current")), None)
    while at is not None:
        lit.add(id(at))
        at = boss.get(id(at))
    return frozenset(lit)
