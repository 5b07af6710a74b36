"""Git's packet lines: written, and read from a push as it arrives. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from outside import git

FLUSH = b"0000"
MAX_COMMAND_BYTES = 4 * 2**20
MAX_OPTIONS = 20
_SIDE_BYTES = 65515
_HEAD = 4


class Malformed(ValueError):
    """What arrived is not a push that we read; the text says what is wrong with it."""


def packet(content: bytes) -> bytes:
    """One packet line."""
    return b"%04x" % (len(content) + _HEAD) + content


def side(band: int, content: bytes) -> bytes:
    """Content on a band of the multiplexed answer: 1 the report, 2 words for people."""
    parts = range(0, len(content), _SIDE_BYTES)
    return b"".join(packet(bytes([band]) + content[at : at + _SIDE_BYTES]) for at in parts)


KEEP_ALIVE = b"0005\x02"


@dataclass(slots=True)
class Commands:
    """The head of a push: which refs from where to where, and how the client wants to talk."""

    updates: list[git.RefUpdate] = field(default_factory=list)
    capabilities: frozenset[str] = frozenset()
    push_options: list[str] = field(default_factory=list)
    is_shallow: bool = False

    @property
    def is_probe(self) -> bool:
        """git sends an empty request to learn whether it may stream a large one."""
        return not self.updates and not self.is_shallow

    @property
    def has_pack(self) -> bool:
        return any(update.new != git.ZERO for update in self.updates)


@dataclass(slots=True)
class CommandReader:
    """Reads the head of a push from pieces of any size; what follows it is the pack."""

    commands: Commands = field(default_factory=Commands)
    is_done: bool = False
    _buffer: bytearray = field(default_factory=bytearray)
    _read: int = 0
    _in_options: bool = False

    def feed(self, piece: bytes) -> bytes:
        """Takes a piece; returns what of it belongs to the pack. Raises Malformed."""
        if self.is_done:
            return piece
        self._buffer += piece
        while (line := self._next()) is not None:
            if self._take(line):
                self.is_done = True
                rest = bytes(self._buffer)
                self._buffer.clear()
                return rest
        if self._read + len(self._buffer) > MAX_COMMAND_BYTES:
            raise Malformed("The push names too many refs.")
        return b""

    def _next(self) -> bytes | None:
        """The next whole line, b"" for a flush, None when more has to arrive first."""
        if len(self._buffer) < _HEAD:
            return None
        try:
            size = int(bytes(self._buffer[:_HEAD]), 16)
        except ValueError:
            raise Malformed("The push is not in git's format.") from None
        if size == 0:
            del self._buffer[:_HEAD]
            return b""
        if size <= _HEAD:
            raise Malformed("The push is not in git's format.")
        if len(self._buffer) < size:
            return None
        line = bytes(self._buffer[_HEAD:size])
        del self._buffer[:size]
        self._read += size
        return line

    def _take(self, line: bytes) -> bool:
        """Whether this line was the last of the head."""
        if line and self._in_options:
            self._take_option(line)
        elif line:
            self._take_command(line)
        elif "push-options" in self.commands.capabilities and not self._in_options:
            self._in_options = True
        else:
            return True
        return False

    def _take_option(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip("\n")
        if len(self.commands.push_options) >= MAX_OPTIONS or git.printable(text) != text:
            raise Malformed("The push options cannot be read.")
        self.commands.push_options.append(text)

    def _take_command(self, line: bytes) -> None:
        head, _, capabilities = line.partition(b"\0")
        if head.startswith(b"shallow "):
            self.commands.is_shallow = True
            return
        if head.startswith(b"push-cert"):
            raise Malformed("Signed pushes are not taken here; push without --signed.")
        if capabilities:
            self.commands.capabilities = frozenset(capabilities.decode("utf-8", "replace").split())
        self.commands.updates.append(_update(head))


def _update(line: bytes) -> git.RefUpdate:
    parts = line.rstrip(b"\n").split(b" ", 2)
    if len(parts) != 3:
        raise Malformed("The push is not in git's format.")
    old, new = parts[0].decode("ascii", "replace"), parts[1].decode("ascii", "replace")
    if len(old) == 64 or len(new) == 64:
        raise Malformed("Repositories with SHA-256 object names cannot be pushed here.")
    try:
        git.check_oid(old)
        git.check_oid(new)
    except git.BadName as error:
        raise Malformed(error.sentence) from error
    return git.RefUpdate(parts[2].decode("utf-8", "surrogateescape"), old, new)


def advertisement(refs: dict[str, str], *, agent: str) -> bytes:
    """The answer to `info/refs?service=git-receive-pack`."""
    capabilities = (
        "report-status delete-refs side-band-64k quiet atomic ofs-delta push-options"
        f" object-format=sha1 agent={agent}"
    ).encode()
    lines = [f"{oid} {name}".encode() for name, oid in sorted(refs.items())]
    lines = lines or [f"{git.ZERO} capabilities^{{}}".encode()]
    lines[0] += b"\0" + capabilities
    body = b"".join(packet(line + b"\n") for line in lines)
    return packet(b"# service=git-receive-pack\n") + FLUSH + body + FLUSH


def report(results: Iterable[tuple[str, str]]) -> bytes:
    """The report of a push: (ref, reason) each, with an empty reason where the ref is there."""
    lines = [packet(b"unpack ok\n")]
    for ref, reason in results:
        name = ref.encode("utf-8", "surrogateescape")
        short = " ".join(reason.split()).encode()[:400]
        lines.append(
            packet(b"ng " + name + b" " + short + b"\n" if short else b"ok " + name + b"\n")
        )
    return b"".join(lines) + FLUSH
