"""Opens archives and documents within limits; what cannot be opened is said, not skipped."""

import bz2
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO

from .examination import Artefact, Examination, OverLimit

CHUNK = 1 << 20
_LEAVES = re.compile(r"^[/\\~]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|[\x00-\x1f]")
_DRAWN = re.compile(r"(?i)\.(xml|rels|vml|opf|ncx|x?html?)$")
_TAGS = re.compile(rb"<[^>]{0,4000}>")
_PARAGRAPH = re.compile(rb"</(?:w:p|a:p|text:p|si|row|p|div|li|h\d)>|<(?:w:br|br)\b[^>]{0,400}>")


def open_zip(artefact: Artefact, exam: Examination) -> Iterator[Artefact]:
    """The members of a zip, documents' text without its markup."""
    try:
        with zipfile.ZipFile(io.BytesIO(artefact.data)) as archive:
            members = archive.infolist()
            exam.spend("unpacked_files", len(members), artefact.path)
            for member in members:
                yield from _zip_member(artefact, archive, member, exam)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, zlib.error, OSError,
            lzma.LZMAError, RuntimeError) as error:  # fmt: skip
        exam.report.add("container.unreadable", artefact.path, excerpt=str(error))


def _zip_member(
    artefact: Artefact, archive: zipfile.ZipFile, member: zipfile.ZipInfo, exam: Examination
) -> Iterator[Artefact]:
    inner = f"{artefact.path}!{member.filename}"
    if _LEAVES.search(member.filename) or (member.external_attr >> 16) & 0o170000 == 0o120000:
        exam.report.add("container.path", artefact.path, excerpt=member.filename)
    if member.flag_bits & 0x1:
        exam.report.add("container.locked", artefact.path, excerpt=member.filename)
        return
    if member.is_dir():
        return
    with archive.open(member) as stream:
        data = _drain(stream, max(member.compress_size, 1), inner, exam)
    executable = bool((member.external_attr >> 16) & 0o111)
    if "vbaproject" in member.filename.lower():
        exam.report.add("container.macro", artefact.path, excerpt=member.filename)
    if _DRAWN.search(member.filename):
        yield Artefact(f"{inner}#text", drawn_text(data), artefact.depth + 1, in_archive=True)
        if b'TargetMode="External"' in data and b"/hyperlink" not in data:
            exam.report.add("container.document-link", inner)
        if not _is_document(archive):
            yield Artefact(inner, data, artefact.depth + 1, executable, in_archive=True)
        return
    yield Artefact(inner, data, artefact.depth + 1, executable, in_archive=True)


def _is_document(archive: zipfile.ZipFile) -> bool:
    return (
        "[Content_Types].xml" in archive.NameToInfo or "META-INF/manifest.xml" in archive.NameToInfo
    )


def drawn_text(markup: bytes) -> bytes:
    """The text that a document's markup draws, one paragraph a line."""
    plain = _TAGS.sub(b"", _PARAGRAPH.sub(b"\n", markup))
    for entity, char in ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&apos;", b"'"),
                         (b"&amp;", b"&")):  # fmt: skip
        plain = plain.replace(entity, char)
    return plain


def open_tar(artefact: Artefact, exam: Examination) -> Iterator[Artefact]:
    """The members of a tar; links and paths that leave are reported."""
    try:
        with tarfile.open(fileobj=io.BytesIO(artefact.data), mode="r:") as archive:
            for member in archive:
                exam.spend("unpacked_files", 1, artefact.path)
                target = member.linkname if member.issym() or member.islnk() else ""
                if _LEAVES.search(member.name) or _LEAVES.search(target) or member.isdev():
                    exam.report.add("container.path", artefact.path, excerpt=member.name)
                stream = archive.extractfile(member) if member.isreg() else None
                if stream is not None:
                    inner = f"{artefact.path}!{member.name}"
                    data = _drain(stream, max(member.size, 1), inner, exam)
                    yield Artefact(
                        inner, data, artefact.depth + 1, bool(member.mode & 0o111), in_archive=True
                    )
    except (tarfile.TarError, EOFError, ValueError, OSError) as error:
        exam.report.add("container.unreadable", artefact.path, excerpt=str(error))


def inflate(artefact: Artefact, form: str, exam: Examination) -> Iterator[Artefact]:
    """What a gzip, bzip2 or xz file holds, over all the streams that follow each other in it."""
    out, rest = bytearray(), artefact.data
    try:
        while rest:
            rest = _expand(_READERS[form](), rest, out, artefact, exam)
            if not rest.startswith(artefact.data[:3]):
                break
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        exam.report.add("container.unreadable", artefact.path, excerpt=str(error))
        return
    name = re.sub(r"(?i)\.(gz|bz2|xz|z)$", "", artefact.name)
    name = re.sub(r"(?i)\.t(gz|bz2|xz|bz)$", ".tar", name)
    if name == artefact.name:
        name = "content"
    data = bytes(out) + (b"\n" + rest if rest.strip(b"\0") else b"")
    yield Artefact(f"{artefact.path}!{name}", data, artefact.depth + 1, in_archive=True)


class _Gunzip:
    """zlib's reader in the shape of the other two."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


Reader = _Gunzip | bz2.BZ2Decompressor | lzma.LZMADecompressor
_READERS: dict[str, Callable[[], Reader]] = {
    "gzip": _Gunzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
}


def _expand(
    reader: Reader,
    data: bytes,
    out: bytearray,
    artefact: Artefact,
    exam: Examination,
) -> bytes:
    """Appends one stream's content to `out`; returns what follows the stream."""
    while not reader.eof:
        piece = reader.decompress(data, CHUNK)
        data = b""
        if not piece and not reader.eof:
            raise EOFError("the stream is cut off")
        exam.spend("unpacked", len(piece), artefact.path)
        out += piece
        _check_ratio(len(out), len(artefact.data), artefact.path, exam)
    return reader.unused_data


def _drain(stream: IO[bytes], packed: int, path: str, exam: Examination) -> bytes:
    out = bytearray()
    while piece := stream.read(CHUNK):
        exam.spend("unpacked", len(piece), path)
        out += piece
        _check_ratio(len(out), packed, path, exam)
    return bytes(out)


def _check_ratio(unpacked: int, packed: int, path: str, exam: Examination) -> None:
    if unpacked > CHUNK and unpacked > packed * exam.limits.unpacked_ratio:
        raise OverLimit("limits.unpacked", f"{path}: grows over {exam.limits.unpacked_ratio} times")
