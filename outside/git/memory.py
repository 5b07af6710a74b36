"""Reads a repository elsewhere without a directory of its own: trees and files come into memory.

Git does the talking (`git remote-https` with our configuration, or `git upload-pack` for a path);
what is said is protocol version 2, and the pack that comes back is read by `packfile`. No object
ever lies on this machine's disk, however this process ends.
"""

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..egress import Guard
from . import credentials, names, packfile
from .addresses import Remote, route
from .command import Command
from .errors import Broken, Damaged, GitError, TimedOut, TooLarge, UnknownFormat, explain
from .process import TICK_SECONDS, Watch, _end

FLUSH, DELIMITER, RESPONSE_END = b"0000", b"0001", b"0002"
LARGEST_LINE = 65520
_CHUNK = 1 << 16
OnBytes = Callable[[int], None]


class CommitGone(GitError):
    """The remote does not have the commit, or a file of it."""

    code = "commit_gone"
    default = "The repository no longer has this commit. Read the source again and look anew."


class OldProtocol(GitError):
    code = "old_protocol"
    default = "This git host speaks only an old protocol, which Control Center cannot read from."


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings of one reading: seconds, bytes that come over the wire, and what they inflate to."""

    seconds: float = 120
    wire_bytes: int = 96 * 2**20
    inflated_bytes: int = 192 * 2**20
    objects: int = 200_000
    entries: int = 200_000
    depth: int = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a commit. `mode` is git's: 100644, 100755, 120000 (link), 160000 (submodule)."""

    path: str
    mode: int
    oid: str


@dataclass(slots=True)
class Session:
    """An open reading of one remote."""

    limits: Limits
    _talk: "_Talk"
    _blobs: dict[str, bytes] = field(default_factory=dict)

    def files(self, commit: str) -> tuple[str, tuple[Entry, ...]]:
        """The commit's id (a tag's is followed) and every file below it, links and submodules too.

        Raises CommitGone, TooLarge, Damaged and other GitErrors.
        """
        objects = self._fetch(
            [names.oid(commit)], "deepen 1", *(["filter blob:none"] if self._talk.filters else [])
        )
        # A host without filters sends the files as well; they are not asked for again.
        self._blobs = {oid: one.data for oid, one in objects.items() if one.kind == "blob"}
        commit, tree = _tree_of(commit, objects)
        return commit, tuple(_walk(tree, objects, self.limits))

    def blobs(self, oids: Collection[str]) -> Mapping[str, bytes]:
        """The files' bytes by id. Raises CommitGone when the remote has one of them no more."""
        wanted = {names.oid(oid) for oid in oids}
        missing = sorted(wanted - self._blobs.keys())
        found = {oid: self._blobs[oid] for oid in wanted & self._blobs.keys()}
        if missing:
            objects = self._fetch(missing)
            for oid in missing:
                if oid not in objects or objects[oid].kind != "blob":
                    raise CommitGone()
                found[oid] = objects[oid].data
        return found

    def _fetch(self, wants: list[str], *more: str) -> dict[str, packfile.Found]:
        pack = self._talk.fetch(wants, more)
        return packfile.read(
            pack, packfile.Ceilings(self.limits.objects, self.limits.inflated_bytes)
        )


@contextmanager
def reading(
    remote: Remote,
    *,
    guard: Guard,
    limits: Limits | None = None,
    watch: Watch | None = None,
    on_bytes: OnBytes | None = None,
) -> Iterator[Session]:
    """Within: the remote can be read. `watch` is called several times a second and may raise to
    stop. Raises GitErrors, and leaves no process behind."""
    limits = limits or Limits()
    with credentials.one_shot(remote.credential) as (environment, handed):
        talk = _Talk(_command(remote, guard), environment, handed, limits, watch, on_bytes)
        try:
            talk.begin(is_local=remote.is_local)
            yield Session(limits, talk)
        except GitError as error:
            raise talk.explained(error, had_credential=remote.credential is not None) from error
        finally:
            talk.end()


def _command(remote: Remote, guard: Guard) -> Command:
    there = route(remote, guard)
    if remote.is_local:
        return Command(
            "upload-pack",
            ("--strict", "--timeout=60"),
            (there.operand,),
            config=("uploadpack.allowFilter=true", "uploadpack.allowAnySHA1InWant=true"),
            environment={"GIT_PROTOCOL": "version=2"},
        )
    verb = "remote-https" if there.operand.startswith("https:") else "remote-http"
    return Command(
        verb,
        (),
        ("origin", there.operand),
        config=("protocol.version=2", *there.config),
        protocols=there.protocols,
        credential=remote.credential,
    )


def _tree_of(oid: str, objects: Mapping[str, packfile.Found]) -> tuple[str, str]:
    """The commit behind an id and its tree's id."""
    for _ in range(8):
        found = objects.get(oid)
        if found is None or found.kind not in {"commit", "tag"}:
            raise CommitGone()
        word, _, name = found.data.partition(b"\n")[0].partition(b" ")
        target = names.oid(name.decode("ascii", "replace"))
        if found.kind == "commit":
            if word != b"tree":
                raise Damaged("The commit is damaged.")
            return oid, target
        oid = target
    raise Damaged("The tag leads nowhere.")


def _walk(root: str, objects: Mapping[str, packfile.Found], limits: Limits) -> Iterator[Entry]:
    """All files below a tree, without recursion: a tree may be nested as deep as it likes."""
    seen = 0
    stack: list[tuple[str, str, int]] = [("", root, 0)]
    while stack:
        prefix, oid, depth = stack.pop()
        tree = objects.get(oid)
        if tree is None or tree.kind != "tree":
            raise Damaged("A folder of the commit is missing.")
        if depth > limits.depth:
            raise TooLarge(f"The folders are nested deeper than {limits.depth}.")
        for entry in packfile.tree_entries(tree.data):
            seen += 1
            if seen > limits.entries:
                raise TooLarge(f"There are more than {limits.entries} files and folders.")
            path = prefix + entry.name.decode("utf-8", "surrogateescape")
            if entry.mode & 0o170000 == 0o040000:
                stack.append((f"{path}/", entry.oid, depth + 1))
            else:
                yield Entry(path, entry.mode, entry.oid)


class _Talk:
    """One git process that speaks protocol version 2 with the remote."""

    def __init__(
        self,
        command: Command,
        environment: Mapping[str, str],
        handed: tuple[int, ...],
        limits: Limits,
        watch: Watch | None,
        on_bytes: OnBytes | None,
    ) -> None:
        self._deadline = time.monotonic() + limits.seconds
        self._most, self._got = limits.wire_bytes, 0
        self._watch, self._on_bytes = watch, on_bytes
        self._said, self._buffer = bytearray(), bytearray()
        self._is_local = False
        self._sha1 = False
        self.filters = False
        self._process = subprocess.Popen(
            command.argv(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**command.environ(), **environment},
            cwd="/",
            pass_fds=handed,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._in, self._out = self._process.stdin, self._process.stdout
        self._err = self._process.stderr
        os.set_blocking(self._in.fileno(), False)

    def begin(self, *, is_local: bool) -> None:
        """Reads what the remote can do. Raises OldProtocol and what git's words mean."""
        self._is_local = is_local
        if not is_local:
            self._send(b"stateless-connect git-upload-pack\n")
            while (line := self._line()) not in {b"", b"fallback"}:
                if line.startswith(b"unsupported"):
                    raise OldProtocol()
            if line == b"fallback":
                raise OldProtocol()
        said = [line.rstrip(b"\n") for line in self._section()]
        if b"version 2" not in said:
            raise OldProtocol()
        for line in said:
            name, _, value = line.partition(b"=")
            if name == b"fetch":
                self.filters = b"filter" in value.split()
            if name == b"object-format":
                self._sha1 = True
                if value != b"sha1":
                    raise UnknownFormat()

    def fetch(self, wants: list[str], more: tuple[str, ...]) -> bytes:
        """The pack with the wanted objects."""
        lines = ["no-progress", "ofs-delta", *more, *(f"want {oid}" for oid in wants), "done"]
        head = [b"command=fetch\n", *([b"object-format=sha1"] if self._sha1 else [])]
        self._send(
            b"".join(map(_packet, head))
            + DELIMITER
            + b"".join(_packet(f"{line}\n".encode()) for line in lines)
            + FLUSH
        )
        pack = bytearray()
        in_pack = False
        while (packet := self._packet()) is not None:
            if packet is _NEXT_SECTION:
                continue
            if packet.startswith(b"ERR "):
                raise _refusal(packet[4:])
            if not in_pack:
                in_pack = packet.rstrip(b"\n") == b"packfile"
            elif packet[:1] == b"\x01":
                pack += packet[1:]
            elif packet[:1] == b"\x03":
                raise _refusal(packet[1:])
        if not self._is_local and self._raw(4) != RESPONSE_END:
            raise Broken()
        return bytes(pack)

    def explained(self, error: GitError, *, had_credential: bool) -> GitError:
        """The same error, or what git said on its way out when all we saw was that it ended."""
        said = self._said.decode("utf-8", "replace")
        if isinstance(error, Broken) and said.strip():
            return explain(said, had_credential=had_credential)
        return error

    def end(self) -> None:
        self._in.close()
        _end(self._process)

    # -- bytes --------------------------------------------------------------------------------

    def _section(self) -> list[bytes]:
        found = []
        while (packet := self._packet()) is not None:
            if packet.startswith(b"ERR "):
                raise _refusal(packet[4:])
            found.append(packet)
        return found

    def _packet(self) -> bytes | None:
        """The next line; None at a flush, `_NEXT_SECTION` between two sections."""
        size = self._raw(4)
        if size in (FLUSH, RESPONSE_END):
            return None
        if size == DELIMITER:
            return _NEXT_SECTION
        try:
            length = int(size, 16) - 4
        except ValueError:
            raise Damaged("The remote said something that is not git.") from None
        if not 0 <= length <= LARGEST_LINE:
            raise Damaged("The remote said something that is not git.")
        return self._raw(length)

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _raw(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found

    def _fill(self) -> None:
        """Waits for more of the answer. Raises Broken at its end."""
        self._wait(self._out.fileno(), selectors.EVENT_READ)
        chunk = os.read(self._out.fileno(), _CHUNK)
        if not chunk:
            self._drain()
            raise Broken()
        self._got += len(chunk)
        if self._got > self._most:
            raise TooLarge(f"More than the {self._most // 2**20} MB that are read came over.")
        if self._on_bytes:
            self._on_bytes(self._got)
        self._buffer += chunk

    def _send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            self._wait(self._in.fileno(), selectors.EVENT_WRITE)
            try:
                left = left[os.write(self._in.fileno(), left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self._drain()
                raise Broken() from None

    def _wait(self, descriptor: int, event: int) -> None:
        """Until the descriptor is ready; what git says meanwhile is kept. Raises TimedOut."""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            selector.register(self._err, selectors.EVENT_READ)
            while True:
                if time.monotonic() > self._deadline:
                    raise TimedOut()
                ready = {key.fd for key, _ in selector.select(TICK_SECONDS)}
                if self._err.fileno() in ready and not self._hear():
                    selector.unregister(self._err)
                if self._watch:
                    self._watch()
                if descriptor in ready:
                    return

    def _hear(self) -> bool:
        chunk = os.read(self._err.fileno(), _CHUNK)
        self._said += chunk
        del self._said[:-_CHUNK]
        return bool(chunk)

    def _drain(self) -> None:
        """The last words of a process that has ended its answer."""
        until = time.monotonic() + 5
        with selectors.DefaultSelector() as selector:
            selector.register(self._err, selectors.EVENT_READ)
            while time.monotonic() < until and selector.select(TICK_SECONDS) and self._hear():
                continue


_NEXT_SECTION = b"\0section"


def _packet(line: bytes) -> bytes:
    return f"{len(line) + 4:04x}".encode() + line


def _refusal(said: bytes) -> GitError:
    text = said.decode("utf-8", "replace").strip()
    if "not our ref" in text or "unadvertised object" in text or "no such" in text.lower():
        return CommitGone(detail=text[:500])
    return explain(text)
