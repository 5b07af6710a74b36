"""Git's own id for the files of a skill, told from their bytes or from a listing."""

from collections.abc import Iterable, Mapping
from hashlib import sha1

from skills.scanning import File, git_mode

Line = tuple[str, bytes, str]  # path, mode, id


def of_files(files: Mapping[str, File]) -> str:
    """The id of the tree that exactly these files make."""
    return of_listing(
        (
            path,
            git_mode(file),
            _oid("blob", file.data) if not file.is_submodule else file.data.hex(),
        )
        for path, file in files.items()
    )


def of_listing(lines: Iterable[Line]) -> str:
    """The same from (path, mode, id of the file)."""
    root: dict[bytes, object] = {}
    for path, mode, oid in lines:
        *folders, name = path.encode("utf-8", "surrogateescape").split(b"/")
        folder = root
        for part in folders:
            inner = folder.setdefault(part, {})
            if not isinstance(inner, dict):
                raise ValueError("a file and a folder of one name")
            folder = inner
        folder[name] = (mode, oid)
    return _tree(root)


def _tree(folder: Mapping[bytes, object]) -> str:
    lines = []
    for name, what in folder.items():
        if isinstance(what, dict):
            lines.append((name + b"/", b"40000", name, _tree(what)))
        else:
            assert isinstance(what, tuple)
            lines.append((name, what[0], name, what[1]))
    data = b"".join(
        mode + b" " + name + b"\0" + bytes.fromhex(oid) for _, mode, name, oid in sorted(lines)
    )
    return _oid("tree", data)


def _oid(kind: str, data: bytes) -> str:
    return sha1(f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()
