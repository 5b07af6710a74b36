"""What differs between two versions of a skill: lines, findings, capabilities. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from skills.scanning import CAPABILITIES, File, Finding

AROUND = 3
MOST_COMPARED = 4_000_000  # lines of one side times lines of the other
_EMPTY = File(0o100644, b"")


@dataclass(frozen=True, slots=True)
class FindingChange:
    """How findings moved. A line that only shifted is the same finding."""

    new: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    same: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class CapabilityChange:
    """One capability before and now, with the places that show it now."""

    name: str
    had: bool
    has: bool
    places: tuple[str, ...]

    @property
    def is_new(self) -> bool:
        return self.has and not self.had

    @property
    def is_gone(self) -> bool:
        return self.had and not self.has


def unified(before: Mapping[str, File], after: Mapping[str, File]) -> str:
    """A unified diff as git writes it, by path; what is no text is told as binary."""
    parts = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old != new:
            parts.append(_file(path, old, new))
    return "".join(parts)


def findings(before: tuple[Finding, ...], after: tuple[Finding, ...]) -> FindingChange:
    """Which findings are new, gone, or still there."""
    left = list(before)
    new, same = [], []
    for one in after:
        twin = next((each for each in left if _key(each) == _key(one)), None)
        if twin is None:
            new.append(one)
        else:
            left.remove(twin)
            same.append(one)
    return FindingChange(tuple(new), tuple(left), tuple(same))


def capabilities(
    before: Collection[str], after: Collection[str], places: Mapping[str, tuple[str, ...]]
) -> tuple[CapabilityChange, ...]:
    """All six capabilities, in their own order; `places` show where those of now are seen."""
    return tuple(
        CapabilityChange(
            name, had=name in before, has=name in after, places=tuple(places.get(name, ()))
        )
        for name in CAPABILITIES
    )


def _key(finding: Finding) -> tuple[str, str, str, str]:
    return finding.rule, finding.severity.value, finding.file, finding.excerpt


def _file(path: str, old: File | None, new: File | None) -> str:
    name_a, name_b = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    head = [f"diff --git {name_a} {name_b}"]
    if old is None and new is not None:
        head.append(f"new file mode {new.mode:o}")
    elif new is None and old is not None:
        head.append(f"deleted file mode {old.mode:o}")
    elif old is not None and new is not None and old.mode != new.mode:
        head += [f"old mode {old.mode:o}", f"new mode {new.mode:o}"]
    a, b = _lines(old or _EMPTY), _lines(new or _EMPTY)
    if a is None or b is None:
        head.append(f"Binary files {name_a} and {name_b} differ")
    elif a != b:
        head += [f"--- {name_a if old else '/dev/null'}", f"+++ {name_b if new else '/dev/null'}"]
        head += _hunks(a, b)
    return "\n".join(head) + "\n"


def _lines(file: File) -> list[str] | None:
    """The text in lines, None for what is no text. A missing end of line is said as git does."""
    if file.is_submodule or b"\0" in file.data:
        return None
    try:
        text = file.data.decode()
    except UnicodeDecodeError:
        return None
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + "\n\\ No newline at end of file"]


def _hunks(a: list[str], b: list[str]) -> Iterator[str]:
    for group in _groups(_changes(a, b)):
        (_, a1, _, b1, _), (_, _, a2, _, b2) = group[0], group[-1]
        yield f"@@ -{_span(a1, a2)} +{_span(b1, b2)} @@"
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from (f" {line}" for line in a[i1:i2])
                continue
            yield from (f"-{line}" for line in a[i1:i2])
            yield from (f"+{line}" for line in b[j1:j2])


Change = tuple[str, int, int, int, int]


def _changes(a: list[str], b: list[str]) -> list[Change]:
    """What to do to get from a to b. What would take too long to compare is replaced whole."""
    start = next(
        (at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    end = next(
        (
            at
            for at, (x, y) in enumerate(zip(a[start:][::-1], b[start:][::-1], strict=False))
            if x != y
        ),
        min(len(a), len(b)) - start,
    )
    inner_a, inner_b = a[start : len(a) - end], b[start : len(b) - end]
    if len(inner_a) * len(inner_b) > MOST_COMPARED:
        inner: list[Change] = [("replace", 0, len(inner_a), 0, len(inner_b))]
    else:
        inner = SequenceMatcher(None, inner_a, inner_b, autojunk=False).get_opcodes()  # type: ignore[assignment]
    moved: list[Change] = [
        (kind, i1 + start, i2 + start, j1 + start, j2 + start) for kind, i1, i2, j1, j2 in inner
    ]
    if start:
        moved.insert(0, ("equal", 0, start, 0, start))
    if end:
        moved.append(("equal", len(a) - end, len(a), len(b) - end, len(b)))
    return moved


def _groups(changes: list[Change]) -> Iterator[list[Change]]:
    """The changes with a few lines around them; what is far apart becomes several hunks."""
    group: list[Change] = []
    for at, (kind, i1, i2, j1, j2) in enumerate(changes):
        if kind != "equal":
            group.append((kind, i1, i2, j1, j2))
            continue
        is_first, is_last = at == 0, at == len(changes) - 1
        if not is_first and not is_last and i2 - i1 <= 2 * AROUND:
            group.append((kind, i1, i2, j1, j2))
            continue
        if not is_first:
            group.append((kind, i1, min(i2, i1 + AROUND), j1, min(j2, j1 + AROUND)))
            yield group
            group = []
        if not is_last:
            group = [(kind, max(i1, i2 - AROUND), i2, max(j1, j2 - AROUND), j2)]
    if any(kind != "equal" for kind, *_ in group):
        yield group


def _span(start: int, end: int) -> str:
    """Where a side of a hunk begins and how long it is, as diffs count: nothing is after a line."""
    size = end - start
    return f"{start + 1 if size else start},{size}"


def _quoted(name: str) -> str:
    """A path as git writes it: quoted where it holds more than plain characters."""
    raw = name.encode("utf-8", "surrogateescape")
    if all(32 < byte < 127 and byte not in b'"\\' or byte == 32 for byte in raw):
        return name
    inside = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in raw
    )
    return f'"{inside}"'
