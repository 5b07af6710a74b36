"""What is done with a repository elsewhere: look, fetch into a mirror, forward a push."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from outside.sentences import phrase

from ..egress import Guard, Refused, fetch
from . import directories, names
from .addresses import Remote, Route, normal, route
from .command import NOWHERE, Command, Place
from .errors import (
    BadAddress,
    Moved,
    NotARepository,
    RemoteMoved,
    RemoteRefused,
    UnknownFormat,
    explain,
)
from .locks import exclusive
from .process import OnProgress, Watch, bounded, run

MAX_BYTES = 4 * 2**30
SPARE_BYTES = 200 * 2**20
TRACKED = "refs/remotes/origin/"
SPECS = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")


@dataclass(frozen=True, slots=True)
class Probe:
    """What a remote says about itself. `address` is where it finally answered."""

    address: str
    default_branch: str
    heads: Mapping[str, str]
    tags: Mapping[str, str]

    @property
    def is_empty(self) -> bool:
        return not self.heads

    def refs(self) -> dict[str, str]:
        """Full names of branches and tags with their object ids."""
        heads = {f"refs/heads/{name}": oid for name, oid in self.heads.items()}
        return heads | {f"refs/tags/{name}": oid for name, oid in self.tags.items()}


def probe(remote: Remote, *, guard: Guard, seconds: float = 30) -> Probe:
    """Asks the remote for its refs, following a move to another address that the guard allows.

    Raises a GitError: BadAddress, NotFound, NeedsCredential, WrongCredential, Unreachable, …
    """
    try:
        return _look(remote, guard, seconds)
    except Moved as moved:
        address = _new_address(remote.address, guard)
        if address == remote.address:
            raise NotARepository(detail=moved.detail) from moved
        # The credential was meant for the old place and is not shown to the new one.
        there = remote if _same_host(address, remote.address) else Remote(remote.address)
        return _look(Remote(address, there.credential), guard, seconds)


def _look(remote: Remote, guard: Guard, seconds: float) -> Probe:
    output = run(_command("ls-remote", remote, route(remote, guard), "--symref"), seconds=seconds)
    default, heads, tags = "", {}, {}
    for line in output.text.splitlines():
        left, _, name = line.partition("\t")
        if left.startswith("ref: refs/heads/") and name == "HEAD":
            default = left.removeprefix("ref: refs/heads/")
        elif len(left) == 64:
            raise UnknownFormat()
        elif name.startswith("refs/heads/"):
            heads[name.removeprefix("refs/heads/")] = left
        elif name.startswith("refs/tags/") and not name.endswith("^{}"):
            tags[name.removeprefix("refs/tags/")] = left
    if default not in heads:
        default = next((name for name in ("main", "master", *heads) if name in heads), "main")
    return Probe(remote.address, default, heads, tags)


def fetch_mirror(
    mirror: Path,
    remote: Remote,
    *,
    guard: Guard,
    max_bytes: int = MAX_BYTES,
    seconds: float = 1800,
    on_progress: OnProgress | None = None,
    tick: Watch | None = None,
) -> Probe:
    """Afterwards the bare `mirror` has the remote's branches (refs/remotes/origin/) and its tags.

    Nothing in it is ever pruned, since checkouts borrow its objects. A failed fetch leaves the
    mirror as it was. `tick` is called about four times a second meanwhile and may raise to stop.
    Raises a GitError.
    """
    with exclusive(mirror):
        seen = probe(remote, guard=guard)
        there = Remote(seen.address, remote.credential)
        directories.clear_stale_locks(mirror)
        directories.lay_out(mirror, head=f"{TRACKED}{names.branch(seen.default_branch)}")
        command = _command(
            "fetch",
            there,
            route(there, guard),
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--progress",
            operands=SPECS,
            place=Place(git_dir=mirror),
        )
        if not seen.refs():
            return seen
        before = mirrored(mirror)
        watch = bounded(mirror, max_bytes=max_bytes, spare_bytes=SPARE_BYTES, tick=tick)
        try:
            run(command, seconds=seconds, on_progress=on_progress, watch=watch)
        except BaseException:
            _put_back(mirror, before)
            raise
        return seen


def _put_back(mirror: Path, before: Mapping[str, str]) -> None:
    """The mirror's refs are as before a fetch that was stopped when it was all but through."""
    now = mirrored(mirror)
    gone = dict.fromkeys(now.keys() - before.keys(), names.ZERO)
    changed = gone | {name: oid for name, oid in before.items() if now.get(name) != oid}
    if changed:
        _set(mirror, changed)


def absorb(mirror: Path, source: Path, refs: Mapping[str, str]) -> None:
    """Afterwards the mirror knows the remote's refs after a forwarded push, without asking it.

    `source` is the quarantined git directory, `refs` full names with new ids (names.ZERO: deleted).
    """
    with exclusive(mirror):
        directories.take_packs(source, into=mirror)
        _set(mirror, refs)


def _set(mirror: Path, refs: Mapping[str, str]) -> None:
    orders = [
        f"delete {tracked(name)}\n" if oid == names.ZERO else f"update {tracked(name)} {oid}\n"
        for name, oid in refs.items()
    ]
    command = Command("update-ref", ("--stdin",), place=Place(git_dir=mirror))
    run(command, stdin="".join(orders).encode())


def tracked(name: str) -> str:
    """Where a mirror keeps a ref of the remote."""
    names.ref(name)
    branch = name.removeprefix("refs/heads/")
    return name if branch == name else f"{TRACKED}{branch}"


def mirrored(mirror: Path) -> dict[str, str]:
    """The remote's refs as the mirror last saw them: full names as on the remote, with ids."""
    place = Place(git_dir=mirror)
    output = run(Command("for-each-ref", ("--format=%(objectname) %(refname)",), place=place))
    found = {}
    for line in output.text.splitlines():
        oid, _, name = line.partition(" ")
        if name.startswith(TRACKED):
            name = f"refs/heads/{name.removeprefix(TRACKED)}"
        if name.startswith(("refs/heads/", "refs/tags/")):
            found[name] = oid
    return found


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """One ref moving from `old` to `new`; names.ZERO stands for "does not exist"."""

    name: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Forwarded:
    """`refs` are at their new ids on the remote; `said` is what the remote told us meanwhile."""

    refs: tuple[str, ...]
    said: str


def forward(
    source: Path,
    remote: Remote,
    updates: Sequence[RefUpdate],
    *,
    guard: Guard,
    push_options: Sequence[str] = (),
    seconds: float = 900,
    on_progress: OnProgress | None = None,
    tick: Watch | None = None,
) -> Forwarded:
    """Moves each ref on the remote from exactly `old` to exactly `new`, all of them or none.

    `source` is a git directory of the server's own that has the objects. A ref that is already at
    `new` counts as moved. Raises RemoteMoved when a ref is elsewhere, RemoteRefused with the
    remote's own words, or another GitError when nothing is known to have happened.
    """
    leases = [f"--force-with-lease={names.ref(u.name)}:{_expected(u.old)}" for u in updates]
    specs = [f"{'' if u.new == names.ZERO else names.oid(u.new)}:{u.name}" for u in updates]
    command = _command(
        "push",
        remote,
        route(remote, guard),
        "--porcelain",
        "--progress",
        "--no-verify",
        *(("--atomic",) if len(updates) > 1 else ()),
        *leases,
        *(f"--push-option={option}" for option in push_options),
        operands=specs,
        place=Place(git_dir=source),
    )
    output = run(command, seconds=seconds, on_progress=on_progress, watch=tick, ok=(0, 1))
    said = _remote_words(output.stderr)
    results = _porcelain(output.text)
    if output.code or any(flag == "!" for flag, _ in results.values()):
        _raise_refusal(results, output.stderr, said)
    return Forwarded(tuple(update.name for update in updates), said)


def _expected(old: str) -> str:
    return "" if old == names.ZERO else names.oid(old)


def _porcelain(text: str) -> dict[str, tuple[str, str]]:
    """ref → (flag, reason) of `git push --porcelain`."""
    results = {}
    for line in text.splitlines():
        parts = line.split("\t")
        if len(parts) >= 3:
            results[parts[1].partition(":")[2]] = (parts[0], parts[2])
    return results


def _raise_refusal(results: Mapping[str, tuple[str, str]], stderr: str, said: str) -> None:
    reasons = [reason for flag, reason in results.values() if flag == "!"]
    if any(word in reason for reason in reasons for word in ("stale info", "fetch first")):
        raise RemoteMoved(detail=stderr)
    if not reasons:
        raise explain(stderr)
    if any("currently checked out" in reason for reason in reasons):
        raise RemoteRefused(_CHECKED_OUT, detail=stderr)
    reason = next((r for r in reasons if "atomic" not in r), reasons[0])
    words = f"{reason.strip('[] ')}. {said}".strip()
    sentence = phrase("The remote refused the push: %(words)s") % {"words": words}
    raise RemoteRefused(sentence, detail=stderr)


_CHECKED_OUT = phrase(
    "The remote is a folder with files, and this very branch is checked out there, so git does not "
    "move it. Push to another branch, or let somebody run git switch --detach in that folder."
)


def _remote_words(stderr: str) -> str:
    words = [line for line in stderr.splitlines() if line.startswith("remote:")]
    lines = [line.removeprefix("remote:").strip() for line in words]
    return "\n".join(line for line in lines if line)[:4000]


def _command(
    verb: str,
    remote: Remote,
    there: Route,
    *options: str,
    operands: Sequence[str] = (),
    place: Place = NOWHERE,
) -> Command:
    return Command(
        verb,
        options,
        (there.operand, *operands),
        place=place,
        config=there.config,
        protocols=there.protocols,
        credential=remote.credential,
    )


def _new_address(address: str, guard: Guard) -> str:
    """Where a moved repository answers, each hop checked. Raises BadAddress."""
    tail = "/info/refs?service=git-upload-pack"
    try:
        answer = fetch(guard, address + tail, max_bytes=64 * 2**20)
    except Refused as refused:
        raise BadAddress(refused.sentence) from refused
    return normal(str(answer.request.url).removesuffix(tail))


def _same_host(one: str, other: str) -> bool:
    return one.split("/")[:3] == other.split("/")[:3]
