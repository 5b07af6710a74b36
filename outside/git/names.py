"""Names that git is given: refs, object ids, paths. None that could be read as an option passes."""

import re
import unicodedata
from pathlib import PurePosixPath

from .errors import BadName

ZERO = "0" * 40
_OID = re.compile(r"[0-9a-f]{40}\Z")
_FORBIDDEN_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
MAX_REF_BYTES = 240


def oid(text: str) -> str:
    """The full object id. Raises BadName."""
    if not _OID.match(text):
        raise BadName(f"{text[:80]!r} is not a full object id.")
    return text


def ref(text: str) -> str:
    """The full name of a ref below refs/. Raises BadName with the reason.

    Stricter than git: no invisible or direction-changing characters, since people decide on what
    they see.
    """
    if not text.startswith("refs/"):
        raise BadName("A ref's full name begins with refs/.")
    if len(text.encode()) > MAX_REF_BYTES:
        raise BadName("The name of the ref is too long.")
    if _FORBIDDEN_IN_REF.search(text) or text.endswith(("/", ".")) or text == "refs/":
        raise BadName(f"{printable(text)} is not a name that git accepts.")
    if any(part.startswith((".", "-")) or part.endswith(".lock") for part in text.split("/")):
        raise BadName(f"{printable(text)} is not a name that git accepts.")
    if has_invisible(text):
        raise BadName(f"The name {printable(text)} contains invisible characters.")
    return text


def branch(text: str) -> str:
    """The short name of a branch. Raises BadName."""
    return ref(f"refs/heads/{text}").removeprefix("refs/heads/")


def path_inside(text: str) -> str:
    """A path relative to a work tree, without a way out of it. Raises BadName."""
    path = PurePosixPath(text)
    if not text or "\0" in text or path.is_absolute() or ".." in path.parts:
        raise BadName(f"{printable(text)} is not a path inside the repository.")
    if any(part.lower() == ".git" for part in path.parts):
        raise BadName("The git directory itself is not a file of the repository.")
    return text


def operand(text: str) -> str:
    """Text that may stand as an argument of git and is not an option. Raises BadName."""
    if not text or text.startswith("-") or "\0" in text:
        raise BadName(f"{printable(text)} cannot be given to git.")
    return text


def has_invisible(text: str) -> bool:
    """Whether the text has characters that do not show or that turn the order of the others."""
    return any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Cn", "Zl", "Zp"} for c in text)


def printable(text: str) -> str:
    """The text with every invisible character spelled out."""
    return "".join(f"<U+{ord(c):04X}>" if has_invisible(c) else c for c in text[:300])
