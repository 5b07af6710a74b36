"""Reads a pack in memory: every object whole, nothing on disk. Ceilings hold before any inflating.

Objects are known by the hash of what they are, so an object that was asked for by its id is the
right one or missing; nothing that the sender says about it is believed.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1

from .errors import Damaged, TooLarge

_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _REFERENCE_DELTA = 6, 7
_TRAILER = 20


@dataclass(frozen=True, slots=True)
class Found:
    """One object: `commit`, `tree`, `blob` or `tag`, and its bytes."""

    kind: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What a pack may hold: objects, and bytes of all of them together once they are inflated."""

    objects: int
    inflated: int


def read(pack: bytes, ceilings: Ceilings) -> dict[str, Found]:
    """The objects of a pack without outside bases, by id. Raises Damaged or TooLarge."""
    if len(pack) < 12 + _TRAILER or pack[:4] != b"PACK":
        raise Damaged("The remote sent something that is no pack.")
    if sha1(memoryview(pack)[:-_TRAILER], usedforsecurity=False).digest() != pack[-_TRAILER:]:
        raise Damaged("The pack broke on its way.")
    return _Reading(pack, ceilings).objects()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a tree."""

    mode: int
    name: bytes
    oid: str


def tree_entries(data: bytes) -> Iterator[Entry]:
    """The lines of a tree object. Raises Damaged, also for a name that stands there twice."""
    at, names = 0, set()
    while at < len(data):
        blank, nul = data.find(b" ", at), data.find(b"\0", at)
        oid = data[nul + 1 : nul + 21]
        name = data[blank + 1 : nul]
        if not at < blank < nul or len(oid) != 20 or not name or b"/" in name or name in names:
            raise Damaged("A tree of the repository is damaged.")
        names.add(name)
        try:
            yield Entry(int(data[at:blank], 8), name, oid.hex())
        except ValueError:
            raise Damaged("A tree of the repository is damaged.") from None
        at = nul + 21


def oid_of(kind: str, data: bytes) -> str:
    """The id that git gives an object."""
    head = f"{kind} {len(data)}\0".encode()
    return sha1(head + data, usedforsecurity=False).hexdigest()


class _Reading:
    def __init__(self, pack: bytes, ceilings: Ceilings) -> None:
        self._pack, self._end = memoryview(pack), len(pack) - _TRAILER
        self._ceilings = ceilings
        self._left = ceilings.inflated
        self._at_offset: dict[int, tuple[str, Found]] = {}
        self._by_id: dict[str, Found] = {}
        self._waiting: list[tuple[int, str, bytes]] = []

    def objects(self) -> dict[str, Found]:
        count = int.from_bytes(self._pack[8:12], "big")
        if count > self._ceilings.objects:
            raise TooLarge(f"There are {count} objects; at most {self._ceilings.objects} are read.")
        at = 12
        for _ in range(count):
            at = self._read_one(at)
        self._settle_waiting()
        return self._by_id

    def _read_one(self, start: int) -> int:
        kind, size, at = self._header(start)
        if kind in _KINDS:
            data, at = self._inflate(at, size)
            self._keep(start, Found(_KINDS[kind], data))
            return at
        if kind == _OFFSET_DELTA:
            back, at = self._back(at)
            delta, at = self._inflate(at, size)
            base = self._at_offset.get(start - back)
            if base is None:
                self._waiting.append((start, f"@{start - back}", delta))
            else:
                self._keep(start, self._patched(base[1], delta))
            return at
        if kind == _REFERENCE_DELTA:
            name = bytes(self._pack[at : at + 20]).hex()
            delta, at = self._inflate(at + 20, size)
            self._waiting.append((start, name, delta))
            return at
        raise Damaged("The pack holds something that git does not know.")

    def _settle_waiting(self) -> None:
        """Deltas whose base came later, or is itself such a delta."""
        while self._waiting:
            left = []
            for start, name, delta in self._waiting:
                base = self._base(name)
                if base is None:
                    left.append((start, name, delta))
                else:
                    self._keep(start, self._patched(base, delta))
            if len(left) == len(self._waiting):
                raise Damaged("The pack builds on objects that it does not hold.")
            self._waiting = left

    def _base(self, name: str) -> Found | None:
        if name.startswith("@"):
            found = self._at_offset.get(int(name[1:]))
            return found[1] if found else None
        return self._by_id.get(name)

    def _keep(self, start: int, found: Found) -> None:
        name = oid_of(found.kind, found.data)
        self._at_offset[start] = (name, found)
        self._by_id[name] = found

    def _header(self, at: int) -> tuple[int, int, int]:
        byte = self._byte(at)
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            at += 1
            byte = self._byte(at)
            size |= (byte & 0x7F) << shift
            shift += 7
        return kind, size, at + 1

    def _back(self, at: int) -> tuple[int, int]:
        byte = self._byte(at)
        back = byte & 0x7F
        while byte & 0x80:
            at += 1
            byte = self._byte(at)
            back = (back + 1) << 7 | byte & 0x7F
        return back, at + 1

    def _byte(self, at: int) -> int:
        if not 12 <= at < self._end:
            raise Damaged("The pack ends too early.")
        return self._pack[at]

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            most = self._ceilings.inflated // 2**20
            raise TooLarge(f"The files are larger than the {most} MB that are read.")

    def _inflate(self, at: int, size: int) -> tuple[bytes, int]:
        """Exactly `size` bytes and where their stream ends."""
        self._spend(size)
        stream = zlib.decompressobj()
        out = bytearray()
        try:
            while not stream.eof and at < self._end:
                piece = self._pack[at : min(at + (1 << 16), self._end)]
                out += stream.decompress(piece, size - len(out) + 1)
                while stream.unconsumed_tail and len(out) <= size:
                    out += stream.decompress(stream.unconsumed_tail, size - len(out) + 1)
                at += len(piece)
                if len(out) > size:
                    raise Damaged("An object of the pack is larger than it says.")
        except zlib.error:
            raise Damaged("An object of the pack is damaged.") from None
        if not stream.eof or len(out) != size:
            raise Damaged("An object of the pack is not whole.")
        return bytes(out), at - len(stream.unused_data)

    def _patched(self, base: Found, delta: bytes) -> Found:
        return Found(base.kind, apply_delta(base.data, delta, spend=self._spend))


def apply_delta(base: bytes, delta: bytes, *, spend: object = None) -> bytes:
    """What git's delta makes of its base. Raises Damaged; `spend(size)` may refuse the size."""
    try:
        of, at = _varint(delta, 0)
        size, at = _varint(delta, at)
        if of != len(base):
            raise Damaged("A delta does not fit its base.")
        if callable(spend):
            spend(size)
        out = _build(base, delta, at, size)
    except IndexError:
        raise Damaged("A delta of the pack is damaged.") from None
    if len(out) != size:
        raise Damaged("A delta of the pack is damaged.")
    return bytes(out)


def _build(base: bytes, delta: bytes, at: int, size: int) -> bytearray:
    out = bytearray()
    while at < len(delta):
        order = delta[at]
        at += 1
        if order & 0x80:
            start, length = 0, 0
            for bit in range(4):
                if order & 1 << bit:
                    start |= delta[at] << 8 * bit
                    at += 1
            for bit in range(3):
                if order & 0x10 << bit:
                    length |= delta[at] << 8 * bit
                    at += 1
            length = length or 0x10000
            if start + length > len(base):
                raise Damaged("A delta of the pack is damaged.")
            out += base[start : start + length]
        elif order:
            out += delta[at : at + order]
            at += order
        else:
            raise Damaged("A delta of the pack is damaged.")
        if len(out) > size:
            raise Damaged("A delta of the pack is damaged.")
    return out


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7
