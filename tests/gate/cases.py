"""Builds the cases in `cases/*.yaml` in memory, as a fetch would bring them."""

import base64
import codecs
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from skills.scanning import File

HERE = Path(__file__).parent / "cases"
FRONT = (
    "---\nname: {name}\ndescription: Formats tables. Use when a table needs tidying.\n---\n"
    "# Tables\n\n"
)


def load(name: str) -> list[tuple[str, dict[str, File]]]:
    """(id, files) of every case of a file."""
    rows = yaml.safe_load((HERE / name).read_text())
    return [
        (row["id"], {path: build(what, row["id"]) for path, what in row["files"].items()})
        for row in rows
    ]


def lines(name: str) -> list[str]:
    """The sentences of a file."""
    return list(yaml.safe_load((HERE / name).read_text()))


def sample(row: Mapping[str, Any]) -> dict[str, File]:
    """The files of a line of `corpus/skillgate/samples.jsonl`."""
    return {
        one["path"]: File(0o120000, one["link"].encode())
        if "link" in one
        else File(0o100000 | int(str(one.get("mode", "0o644")), 8), base64.b64decode(one["b64"]))
        for one in row["files"]
    }


def samples(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def skill(body: str, name: str = "tables") -> dict[str, File]:
    """A skill of one file with this body."""
    return {"SKILL.md": File(0o100644, (FRONT.format(name=name) + body).encode())}


def build(what: Mapping[str, Any], name: str) -> File:  # noqa: C901 - one arm a form
    (form, value), *more = what.items()
    front = FRONT.format(name=name)
    match form:
        case "text":
            data = value.encode()
        case "body":
            data = (front + value + "\n").encode()
        case "escaped":
            data = value.encode().decode("unicode_escape").encode()
        case "escaped_body":
            data = (front + value.encode().decode("unicode_escape") + "\n").encode()
        case "rot13_body":
            data = (front + codecs.encode(value, "rot13") + "\n").encode()
        case "b32":
            data = base64.b32encode(value.encode())
        case "gzip_b64":
            data = base64.encodebytes(gzip.compress(value.encode(), mtime=0))
        case "hex":
            data = bytes.fromhex(value)
        case "zip":
            data = zipped(value)
        case "locked_zip":
            data = bytearray(zipped(value))
            data[6] |= 1
            data[data.rfind(b"PK\x01\x02") + 8] |= 1
        case "link":
            return File(0o120000, value.encode())
        case _:
            raise ValueError(form)
    return File(0o100755 if more or data.startswith(b"#!") else 0o100644, bytes(data))


def zipped(members: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            info = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, tarred(content["tar"]) if isinstance(content, dict) else content)
    return out.getvalue()


def tarred(members: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, content in members.items():
            info = tarfile.TarInfo(path)
            info.size = len(content.encode())
            archive.addfile(info, io.BytesIO(content.encode()))
    return out.getvalue()
