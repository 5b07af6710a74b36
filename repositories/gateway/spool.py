"""Takes the body of a push to disk as it arrives: bounded in size, rate and what it unfolds to."""

import asyncio
import hashlib
import os
import tempfile
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.utils.translation import gettext as _

from .pktline import CommandReader, Commands, Malformed

UNFOLD = 1 << 20
WRITE = 1 << 20
DRAIN_FACTOR = 3


class Refused(RuntimeError):
    """The push cannot be taken; the text goes to whoever pushes."""


class Gone(RuntimeError):
    """The client went away, or sent nothing for too long."""


@dataclass(slots=True)
class Spooled:
    """A push on disk. `problem` says why it is not taken although it was read to its end."""

    commands: Commands
    path: Path
    size: int
    digest: str
    problem: str = ""


@dataclass(slots=True)
class Spool:
    """Writes one push into a file of its own below `folder`."""

    folder: Path
    is_gzip: bool = False
    reader: CommandReader = field(default_factory=CommandReader)
    size: int = 0
    problem: str = ""
    _hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    _waiting: bytearray = field(default_factory=bytearray)

    async def take(self, body: AsyncIterator[bytes]) -> Spooled:
        """The push, wholly read. What is too large is read on for a while and dropped, so that git
        hears the reason. Raises Gone or Refused; then nothing is left behind."""
        with _new_file(self.folder) as (file, path):
            async for piece in unfolded(body, self.is_gzip):
                await self._take(piece, file)
            await self._write(file)
        if not self.reader.is_done and not self.problem:
            self.problem = _("The push broke off in the middle.")
        return Spooled(self.reader.commands, path, self.size, self._hash.hexdigest(), self.problem)

    async def _take(self, piece: bytes, file: BinaryIO) -> None:
        if self.problem:
            self._drop(piece)
            return
        try:
            pack = self.reader.feed(piece)
        except Malformed as error:
            self.problem = str(error)
            return
        self.size += len(pack)
        self._hash.update(pack)
        self._waiting += pack
        if self.size > settings.PUSH_MAX_BYTES:
            words = _("The push is larger than the %(mb)d MB that this server takes.")
            self.problem = words % {"mb": settings.PUSH_MAX_BYTES // 2**20}
            self._waiting.clear()
            file.truncate(0)
        elif len(self._waiting) >= WRITE:
            await self._write(file)

    async def _write(self, file: BinaryIO) -> None:
        chunk, self._waiting = bytes(self._waiting), bytearray()
        if not chunk or self.problem:
            return
        try:
            await asyncio.to_thread(self._write_now, file, chunk)
        except OSError:
            self.problem = _("The server's disk is full. Try again later.")
            file.truncate(0)

    def _write_now(self, file: BinaryIO, chunk: bytes) -> None:
        disk = os.statvfs(self.folder)
        if disk.f_bavail * disk.f_frsize < settings.DISK_RESERVE_BYTES:
            raise OSError
        file.write(chunk)
        file.flush()

    def _drop(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > settings.PUSH_MAX_BYTES * DRAIN_FACTOR:
            raise Refused(self.problem)


@contextmanager
def _new_file(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A file of its own, kept when all went well."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="incoming-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, Path(name)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


async def unfolded(body: AsyncIterator[bytes], is_gzip: bool) -> AsyncIterator[bytes]:
    """The body without its gzip, in pieces of bounded size however well it was packed."""
    if not is_gzip:
        async for piece in body:
            yield piece
        return
    unpacker = zlib.decompressobj(31)
    async for piece in body:
        left = piece
        while left:
            try:
                yield unpacker.decompress(left, UNFOLD)
            except zlib.error:
                raise Refused(_("The push is not packed as it says.")) from None
            left = unpacker.unconsumed_tail
            await asyncio.sleep(0)
