"""Commits and differences, read from git directories of the server's own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from . import names
from .command import Command, Place
from .process import run

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_FIELDS = "%H%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")


@dataclass(frozen=True, slots=True)
class Commit:
    oid: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    authored_at: datetime
    committer_name: str
    committer_email: str
    committed_at: datetime
    message: str

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs: A added, M modified, D deleted, R renamed, T type changed.

    Line counts are None for binary files.
    """

    status: str
    path: str
    old_path: str = ""
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff; `truncated` says that it is not all of it."""

    text: str
    truncated: bool


def log(
    place: Place, tip: str, *, without: Iterable[str] = (), limit: int = 100, skip: int = 0
) -> list[Commit]:
    """Commits that `tip` reaches and none of `without` does, newest first."""
    options = (f"--format={_FIELDS}", "-z", f"--max-count={limit}", f"--skip={skip}", "--stdin")
    output = run(Command("log", options, place=place), stdin=_revisions(tip, without))
    fields = output.text.split("\0")
    return [_commit(fields[at : at + 9]) for at in range(0, len(fields) - 8, 9)]


def count(place: Place, tip: str, *, without: Iterable[str] = ()) -> int:
    """How many commits `tip` reaches that none of `without` does."""
    command = Command("rev-list", ("--count", "--stdin"), place=place)
    return int(run(command, stdin=_revisions(tip, without), seconds=120).text)


def is_ancestor(place: Place, old: str, new: str) -> bool:
    """Whether `new` contains `old`."""
    command = Command("merge-base", ("--is-ancestor",), (old, new), place=place)
    return run(command, ok=(0, 1)).code == 0


def merge_base(place: Place, one: str, other: str) -> str | None:
    """The best common ancestor, or None for histories that never met."""
    output = run(Command("merge-base", (), (one, other), place=place), ok=(0, 1))
    return output.text.strip() or None


def kind_of(place: Place, oid: str) -> str:
    """commit, tag, tree or blob. Raises a GitError when there is no such object."""
    return run(Command("cat-file", ("-t",), (names.oid(oid),), place=place)).text.strip()


def exists(place: Place, oid: str) -> bool:
    """Whether the object can be read here."""
    command = Command("cat-file", ("-e",), (names.oid(oid),), place=place)
    return run(command, ok=(0, 1, 128)).code == 0


def diff(
    place: Place,
    old: str | None,
    new: str,
    *,
    paths: Sequence[str] = (),
    max_bytes: int = 2 * 2**20,
    context: int = 3,
) -> Diff:
    """The difference between two commits or trees (None: the empty tree), cut at `max_bytes`."""
    output = run(
        Command(
            "diff-tree",
            ("-p", "-r", "-M", f"-U{context}", *_PLAIN),
            (old or EMPTY_TREE, new),
            paths=_checked(paths),
            place=place,
        ),
        output_bytes=max_bytes,
        truncate=True,
    )
    return Diff(output.text, output.truncated)


def changes(place: Place, old: str | None, new: str, *, limit: int = 5000) -> list[Change]:
    """The paths that differ between two commits or trees, with their line counts."""
    both = (old or EMPTY_TREE, new)
    command = Command("diff-tree", ("-r", "-M", "-z", "--name-status", *_PLAIN), both, place=place)
    found = _name_status(run(command).text.split("\0"))[:limit]
    command = Command("diff-tree", ("-r", "-M", "-z", "--numstat", *_PLAIN), both, place=place)
    lines = _numstat(run(command).text.split("\0"))
    return [
        Change(change.status, change.path, change.old_path, *lines.get(change.path, (None, None)))
        for change in found
    ]


def added_lines_log(place: Place, tip: str, *, without: Iterable[str], max_bytes: int) -> Diff:
    """Every new commit's own patch, oldest first, without context: for scans of what leaves."""
    options = (
        "--format=commit %H",
        "-p",
        "-U0",
        "--reverse",
        "--diff-merges=first-parent",
        "--no-renames",
        *_PLAIN,
        "--stdin",
    )
    output = run(
        Command("log", options, place=place),
        stdin=_revisions(tip, without),
        output_bytes=max_bytes,
        truncate=True,
        seconds=120,
    )
    return Diff(output.text, output.truncated)


def _revisions(tip: str, without: Iterable[str]) -> bytes:
    lines = [names.oid(tip), *(f"^{names.oid(oid)}" for oid in dict.fromkeys(without))]
    return "".join(f"{line}\n" for line in lines).encode()


def _checked(paths: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(names.path_inside(path) for path in paths) if paths else None


def _commit(fields: list[str]) -> Commit:
    oid, parents, author, email, authored, committer, committer_email, committed, body = fields
    return Commit(
        oid.strip(),
        tuple(parents.split()),
        author,
        email,
        datetime.fromisoformat(authored),
        committer,
        committer_email,
        datetime.fromisoformat(committed),
        body.strip("\n"),
    )


def _name_status(parts: list[str]) -> list[Change]:
    found, words = [], iter(part for part in parts if part)
    for status in words:
        if status[0] in "RC":
            old = next(words)
            found.append(Change(status[0], next(words), old))
        else:
            found.append(Change(status[0], next(words)))
    return found


def _numstat(parts: list[str]) -> dict[str, tuple[int | None, int | None]]:
    found, words = {}, iter(parts)
    for word in words:
        added, _, rest = word.partition("\t")
        removed, _, path = rest.partition("\t")
        if not removed:
            continue
        if not path:  # a rename: the old and the new path follow
            next(words)
            path = next(words)
        found[path] = (_number(added), _number(removed))
    return found


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
