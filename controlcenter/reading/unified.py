"""Reads a unified diff into files and lines that a template can draw.

Limits are explicit: what is left out is counted, so that the page can say so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from re import compile, findall

from django.utils.safestring import SafeString, mark_safe

from . import unseen

HUNK = compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
LONGEST_LINE = 2000
LONGEST_MARKED_LINE = 400


@dataclass
class Line:
    """kind: same add del hunk meta; html is escaped, with changed words marked."""

    kind: str
    text: str
    old: int | None = None
    new: int | None = None
    html: SafeString = SafeString("")

    @property
    def sign(self) -> str:
        return {"add": "+", "del": "−"}.get(self.kind, " ")


@dataclass(frozen=True)
class Sides:
    """One row of two columns; None where a side has nothing to show."""

    before: Line | None
    after: Line | None

    @property
    def is_head(self) -> bool:
        return self.before is not None and self.before.kind in ("hunk", "meta")


@dataclass
class File:
    """One file of the change; status: changed new deleted renamed; hidden = lines not shown."""

    path: str
    old_path: str = ""
    status: str = "changed"
    binary: bool = False
    added: int = 0
    removed: int = 0
    unseen: int = 0
    hidden: int = 0
    mode: str = ""
    lines: list[Line] = field(default_factory=list)

    @property
    def folder(self) -> str:
        return self.path[: self.path.rfind("/") + 1]

    @property
    def name(self) -> str:
        return self.path[self.path.rfind("/") + 1 :]

    @property
    def total(self) -> int:
        return len(self.lines) + self.hidden

    @property
    def sides(self) -> list["Sides"]:
        """The same lines as two columns: what was removed stands beside what came for it."""
        rows: list[Sides] = []
        at = 0
        while at < len(self.lines):
            removed = _run(self.lines, at, "del")
            added = _run(self.lines, at + len(removed), "add")
            rows += [Sides(*pair) for pair in zip_longest(removed, added)]
            at += len(removed) + len(added)
            if not removed and not added:
                rows.append(Sides(self.lines[at], self.lines[at]))
                at += 1
        return rows

    @property
    def blocks(self) -> list[str]:
        """Five small squares: how much was added (a) and removed (d)."""
        changed = self.added + self.removed
        if not changed:
            return [""] * 5
        plus = round(5 * self.added / changed) if self.added else 0
        plus = min(4, plus) if self.removed else plus
        minus = 5 - plus if self.removed else 0
        return ["a"] * plus + ["d"] * minus + [""] * (5 - plus - minus)


@dataclass
class Change:
    """A whole diff; hidden_files = files whose lines are not shown at all."""

    files: list[File]
    hidden_files: int = 0

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)

    @property
    def hidden_lines(self) -> int:
        return sum(file.hidden for file in self.files)

    @property
    def complete(self) -> bool:
        return not self.hidden_lines and not self.hidden_files

    @property
    def unseen(self) -> int:
        return sum(file.unseen for file in self.files)


def read(text: str, *, line_limit: int = 400, file_limit: int = 60) -> Change:
    """The change that a unified diff (with or without git's heads) describes.

    Every file is counted; only the first line_limit lines of the first file_limit files are kept.
    """
    files: list[File] = []
    for chunk in _chunks(text.split("\n")):
        shown = line_limit if len(files) < file_limit else 0
        files.append(_file(chunk, limit=shown))
    for file in files[:file_limit]:
        _mark_words(file.lines)
    return Change(files[:file_limit], hidden_files=max(0, len(files) - file_limit))


def _chunks(lines: list[str]) -> Iterator[list[str]]:
    """Splits at each file. Inside a hunk its own counts decide, so that a removed line which
    happens to read `-- a/x` or `diff --git` cannot pretend to be another file."""
    chunk: list[str] = []
    old_left = new_left = 0
    seen_hunk = False
    for line in lines:
        if old_left > 0 or new_left > 0:
            old_left -= line[:1] in ("-", " ", "")
            new_left -= line[:1] in ("+", " ", "")
        elif hunk := HUNK.match(line):
            old_left = int(hunk[2]) if hunk[2] is not None else 1
            new_left = int(hunk[4]) if hunk[4] is not None else 1
            seen_hunk = True
        elif line.startswith("diff --git ") or (line.startswith("--- ") and seen_hunk):
            if chunk:
                yield chunk
            chunk, seen_hunk = [], False
        chunk.append(line)
    if any(part.strip() for part in chunk):
        yield chunk


def _file(lines: list[str], *, limit: int) -> File:
    file = File(path="")
    old = new = old_left = new_left = 0
    for text in lines:
        if old_left > 0 or new_left > 0:
            kind = {"+": "add", "-": "del", "\\": "meta"}.get(text[:1], "same")
            line = Line(kind, text[1:])
            if kind in ("same", "del"):
                line.old, old, old_left = old, old + 1, old_left - 1
            if kind in ("same", "add"):
                line.new, new, new_left = new, new + 1, new_left - 1
            file.added += kind == "add"
            file.removed += kind == "del"
            file.unseen += unseen.count(text) if kind == "add" else 0
            _keep(file, line, limit=limit)
        elif hunk := HUNK.match(text):
            old, new = int(hunk[1]), int(hunk[3])
            old_left = int(hunk[2]) if hunk[2] is not None else 1
            new_left = int(hunk[4]) if hunk[4] is not None else 1
            _keep(file, Line("hunk", text), limit=limit)
        elif text.startswith("\\"):
            _keep(file, Line("meta", text[2:]), limit=limit)
        else:
            _head(file, text)
    return file


def _keep(file: File, line: Line, *, limit: int) -> None:
    if len(file.lines) >= limit:
        file.hidden += 1
        return
    if len(line.text) > LONGEST_LINE:
        left = len(line.text) - LONGEST_LINE
        line.html = mark_safe(f"{unseen.show(line.text[:LONGEST_LINE])} … +{left}")
    else:
        line.html = unseen.show(line.text)
    file.lines.append(line)


def _head(file: File, text: str) -> None:
    if text.startswith("diff --git "):
        file.path = file.path or _git_path(text)
    elif text.startswith("--- "):
        file.old_path = _path(text[4:])
        file.path = file.path or file.old_path
    elif text.startswith("+++ "):
        name = _path(text[4:])
        file.path = name or file.old_path
        file.status = "deleted" if not name else file.status
        file.status = "new" if not file.old_path and name else file.status
    elif text.startswith("new file"):
        file.status, file.mode = "new", text.rsplit(" ", 1)[-1]
    elif text.startswith("deleted file"):
        file.status = "deleted"
    elif text.startswith("rename from "):
        file.status, file.old_path = "renamed", _unquote(text[12:])
    elif text.startswith("rename to "):
        file.path = _unquote(text[10:])
    elif text.startswith("new mode "):
        file.mode = text[9:]
    elif text.startswith(("Binary files ", "GIT binary patch")):
        file.binary = True


def _path(text: str) -> str:
    """The path of a --- or +++ line without its a/ or b/; empty for /dev/null."""
    name = _unquote(text.split("\t")[0])
    if name == "/dev/null":
        return ""
    return name[2:] if name[:2] in ("a/", "b/") else name


def _git_path(text: str) -> str:
    half = text.removeprefix("diff --git ")
    if half.startswith('"'):
        return _path(half[half.rfind(' "') + 1 :])
    middle = len(half) // 2
    if half[middle : middle + 1] == " " and half[2:middle] == half[middle + 3 :]:
        return half[2:middle]
    return _path(half[half.rfind(" b/") + 1 :])


def _unquote(name: str) -> str:
    """Git's quoted path ("caf\\303\\251") as text; bytes that are no UTF-8 stay visible."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    raw = name[1:-1].encode().decode("unicode_escape").encode("latin-1", "replace")
    return raw.decode("utf-8", "backslashreplace")


def _mark_words(lines: list[Line]) -> None:
    """Marks what changed inside a line where as many lines were removed as added."""
    at = 0
    while at < len(lines):
        removed = _run(lines, at, "del")
        added = _run(lines, at + len(removed), "add")
        if removed and len(removed) == len(added):
            for before, after in zip(removed, added, strict=True):
                _mark_pair(before, after)
        at += max(1, len(removed) + len(added))


def _run(lines: list[Line], start: int, kind: str) -> list[Line]:
    end = start
    while end < len(lines) and lines[end].kind == kind:
        end += 1
    return lines[start:end]


def _mark_pair(before: Line, after: Line) -> None:
    if max(len(before.text), len(after.text)) > LONGEST_MARKED_LINE:
        return
    old, new = _words(before.text), _words(after.text)
    match = SequenceMatcher(None, old, new, autojunk=False)
    if match.ratio() < 0.4:
        return
    before.html = _marked(
        old, [(a1, a2) for op, a1, a2, _, _ in match.get_opcodes() if op != "equal"]
    )
    after.html = _marked(
        new, [(b1, b2) for op, _, _, b1, b2 in match.get_opcodes() if op != "equal"]
    )


def _words(text: str) -> list[str]:
    return findall(r"\w+|\s+|[^\w\s]", text)


def _marked(words: list[str], changed: list[tuple[int, int]]) -> SafeString:
    parts: list[str] = []
    at = 0
    for start, end in changed:
        parts.append(unseen.show("".join(words[at:start])))
        inner = unseen.show("".join(words[start:end]))
        parts.append(f"<mark>{inner}</mark>" if inner else "")
        at = end
    parts.append(unseen.show("".join(words[at:])))
    return mark_safe("".join(parts))
