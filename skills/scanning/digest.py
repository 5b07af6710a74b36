"""The digest of a skill: two different trees never share one."""

from collections.abc import Mapping
from hashlib import sha256

from .values import File


def digest(files: Mapping[str, File]) -> str:
    """`sha256:` over path, mode, size and bytes of each file, ordered by the path's UTF-8 bytes.

    Path and bytes carry their length (8 bytes, big-endian) and the mode is always six octal
    digits, so no byte of one field can pass for a byte of another. Git knows four modes; other
    permission bits count as their nearest one, since no install would keep them.
    """
    total = sha256()
    for path in sorted(files, key=_bytes):
        name, file = _bytes(path), files[path]
        total.update(len(name).to_bytes(8, "big") + name + git_mode(file))
        total.update(len(file.data).to_bytes(8, "big") + file.data)
    return f"sha256:{total.hexdigest()}"


def git_mode(file: File) -> bytes:
    """The mode as git writes it: 100644, 100755, 120000 or 160000."""
    if file.is_link:
        return b"120000"
    if file.is_submodule:
        return b"160000"
    return b"100755" if file.is_executable else b"100644"


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
