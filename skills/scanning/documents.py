"""PDF files, pictures and other binaries: the text inside, and what stands behind their end."""

import re
import zlib
from collections.abc import Iterator

from .examination import Artefact, Examination

# What unpackers look for from a file's end: 22 bytes and a comment of 64 KiB at most.
_ZIP_END, _ZIP_END_FARTHEST = b"PK\5\6", 22 + (1 << 16)
_STREAM = re.compile(rb"stream\r?\n")
_SHOWN = re.compile(rb"\(((?:[^()\\]|\\.){0,2000})\)|<([0-9A-Fa-f\s]{4,4000})>(?!>)")
_ACTIVE = re.compile(rb"/(JavaScript|JS|Launch|OpenAction|AA|EmbeddedFile|RichMedia|SubmitForm)\b")


def open_pdf(artefact: Artefact, exam: Examination) -> Iterator[Artefact]:
    """The text that a PDF draws; encryption and actions are reported."""
    data = artefact.data
    if b"/Encrypt" in data:
        exam.report.add("container.locked", artefact.path, excerpt="an encrypted PDF")
    if _ZIP_END in data[-_ZIP_END_FARTHEST:]:
        exam.report.add("structure.trailing-data", artefact.path, excerpt="an archive of its own")
    parts = [data, *_pdf_streams(artefact, exam)]
    for active in {found[1] for part in parts for found in _ACTIVE.finditer(part)}:
        if active not in (b"OpenAction", b"AA"):
            exam.report.add("container.macro", artefact.path, excerpt=f"/{active.decode()}")
    drawn = b"\n".join(_pdf_text(part) for part in parts)
    yield Artefact(f"{artefact.path}#text", drawn, artefact.depth + 1, in_archive=True)


def _pdf_streams(artefact: Artefact, exam: Examination) -> Iterator[bytes]:
    for found in _STREAM.finditer(artefact.data):
        reader = zlib.decompressobj()
        try:
            end = artefact.data.find(b"endstream", found.end())
            body = artefact.data[found.end() : end if end > 0 else None]
            piece = reader.decompress(body, exam.left("unpacked"))
        except zlib.error:
            continue
        exam.spend("unpacked", len(piece) + 1, artefact.path)
        yield piece


def _pdf_text(part: bytes) -> bytes:
    """Strings of a content stream, joined, with a line for each text object."""
    lines = []
    for block in re.split(rb"\b(?:ET|T\*|Td|TD|Tm)\b", part):
        pieces = []
        for literal, hexed in _SHOWN.findall(block):
            if hexed:
                digits = re.sub(rb"\s", b"", hexed)
                pieces.append(bytes.fromhex(digits[: len(digits) // 2 * 2].decode()))
            else:
                pieces.append(re.sub(rb"\\(.)", rb"\1", literal))
        if pieces:
            lines.append(b"".join(pieces).replace(b"\0", b""))
    return b"\n".join(lines)


def picture_end(data: bytes, form: str) -> int | None:
    """The offset behind the last byte of a PNG, JPEG or GIF; None when it is damaged."""
    if form == "png":
        return _png_end(data)
    if form == "jpeg":
        end = data.rfind(b"\xff\xd9")
        return end + 2 if end > 0 else None
    end = data.rfind(b"\x3b")
    return end + 1 if end > 0 else None


def _png_end(data: bytes) -> int | None:
    at = 8
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind = data[at + 4 : at + 8]
        if not kind.isalpha() or at + 12 + length > len(data):
            return None
        at += 12 + length
        if kind == b"IEND":
            return at
    return None


def picture_text(data: bytes, exam: Examination, path: str) -> bytes:
    """Text chunks of a PNG, inflated; other forms keep theirs readable already."""
    found = []
    for at in (one.start() for one in re.finditer(rb"zTXt|iTXt|tEXt", data)):
        length = int.from_bytes(data[max(0, at - 4) : at], "big")
        body = data[at + 4 : at + 4 + min(length, 1 << 20)]
        found.append(body.replace(b"\0", b" "))
        for start in (body.find(b"\x78"),):
            if start >= 0:
                try:
                    piece = zlib.decompressobj().decompress(body[start:], 1 << 20)
                except zlib.error:
                    continue
                exam.spend("unpacked", len(piece), path)
                found.append(piece)
    return b"\n".join(found)


def readable_runs(data: bytes) -> bytes:
    """Every run of at least SHORTEST printable characters in a binary, one a line, as `strings`
    prints them, also of characters two bytes wide."""
    narrow = _runs(data, data.translate(_PRINTABLE), b"p", 1)
    wide = _runs(data, data.translate(_WIDE), b"p\0", 2)
    return b"\n".join([*narrow, *wide])


def _runs(data: bytes, shape: bytes, unit: bytes, step: int) -> Iterator[bytes]:
    """Stretches of `data` where its shape repeats the unit; `find` is many times faster here than
    a pattern, since nearly every byte of a binary begins no run."""
    least, size = unit * SHORTEST, len(unit)
    start = shape.find(least)
    while start >= 0:
        end = start + len(least)
        while shape.startswith(unit, end):
            end += size
        yield data[start:end:step]
        start = shape.find(least, end)


SHORTEST = 8
_PRINTABLE = bytes(0x70 if 0x20 <= code < 0x7F or code in b"\t\n\r" else 0 for code in range(256))
_WIDE = bytes(0 if code == 0 else 0x70 if 0x20 <= code < 0x7F else 1 for code in range(256))
