"""What a commit holds, read from git directories of the server's own: names first, then bytes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import history, names
from .checkouts import Checkout, opened, read_head
from .command import Command, Place
from .errors import Damaged
from .process import run

LISTING_BYTES = 64 * 2**20


@contextmanager
def readable(source: Checkout | Path) -> Iterator[Place]:
    """Within: the objects of a checkout, or of a bare mirror, can be read."""
    if isinstance(source, Path):
        yield Place(git_dir=source)
    else:
        with opened(source) as place:
            yield place


def listing(place: Place, commit: str, paths: Sequence[str]) -> bytes:
    """`ls-tree -r -l -z` of the commit, below these paths; a path that is not there gives nothing.

    Raises TooLarge when it is more than anybody reads.
    """
    command = Command(
        "ls-tree",
        ("-r", "-l", "-z"),
        (names.oid(commit),),
        paths=tuple(names.path_inside(path) for path in paths),
        place=place,
    )
    return run(command, output_bytes=LISTING_BYTES, seconds=120).stdout


def blobs(place: Place, oids: Iterable[str], *, max_bytes: int) -> dict[str, bytes]:
    """The bytes of these objects. Raises Damaged when one is missing or no blob, TooLarge when
    there are more bytes than that."""
    wanted = list(dict.fromkeys(names.oid(each) for each in oids))
    if not wanted:
        return {}
    output = run(
        Command("cat-file", ("--batch",), place=place),
        stdin="".join(f"{oid}\n" for oid in wanted).encode(),
        output_bytes=max_bytes + 80 * len(wanted),
        seconds=120,
    ).stdout
    found, at = {}, 0
    for oid in wanted:
        head, newline, _ = output[at : at + 100].partition(b"\n")
        fields = head.split()
        if not newline or len(fields) != 3 or fields[1] != b"blob":
            raise Damaged("A file of this commit cannot be read.")
        start = at + len(head) + 1
        end = start + int(fields[2])
        found[oid] = output[start:end]
        at = end + 1
    return found


def has_commit(mirror: Path, commit: str) -> bool:
    """Whether the mirror, into which only fetches and forwarded pushes write, knows the commit."""
    return history.exists(Place(git_dir=mirror), commit)


def look_of(checkout: Checkout) -> str:
    """A text that differs when a file of the work tree differs: HEAD, and the changed and new files
    with their size and time. Ignored files do not count."""
    with opened(checkout) as place:
        options = ("-z", "--modified", "--others", "--exclude-standard", "--deduplicate")
        listed = run(Command("ls-files", options, place=place)).stdout
    parts = [" ".join(map(str, read_head(checkout)))]
    for name in sorted(filter(None, listed.split(b"\0"))):
        try:
            found = checkout.work_tree.joinpath(name.decode("utf-8", "surrogateescape")).lstat()
            parts.append(f"{name!r} {found.st_size} {found.st_mtime_ns}")
        except OSError:
            parts.append(f"{name!r} -")
    return "\n".join(parts)
