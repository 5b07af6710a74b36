"""Glob patterns over paths, refs and hosts, with the two readings that a rule needs.

`*` stays inside one segment, `**` crosses segments, `?` is one character, a leading `!` takes
values out again. `covers` is strict: for an allow, each value must be proven to fit. `touches`
is generous: for an ask or a deny, letter case, Unicode form and a parent directory do not help
a value to slip by.
"""

import functools
import posixpath
import re
import unicodedata
from collections.abc import Iterable

from harness.globs import Glob


def covers(patterns: Iterable[str], value: str) -> bool:
    """Whether the value fits exactly, and no `!pattern` could mean it."""
    wanted, taken_out = _split(patterns)
    if not _is_plain(value) or any(_generous(pattern, value) for pattern in taken_out):
        return False
    return not wanted or any(_exact(pattern, value) for pattern in wanted)


def touches(patterns: Iterable[str], value: str) -> bool:
    """Whether the value could be meant by the patterns; a directory touches what is under it."""
    wanted, taken_out = _split(patterns)
    if any(_exact(pattern, value) for pattern in taken_out):
        return False
    return not wanted or any(
        _generous(pattern, value) or _is_parent(value, of=pattern) for pattern in wanted
    )


def normal_path(path: str) -> str:
    """`a/./b/../c` → `a/c`."""
    return posixpath.normpath(path) if path else path


def normal_ref(ref: str) -> str:
    """`refs/heads/x` → `x`; everything else below refs/ keeps its full name."""
    return ref.removeprefix("refs/heads/")


def normal_host(host: str) -> str:
    """`API.Example.com.` → `api.example.com`."""
    return host.strip().rstrip(".").lower()


def _split(patterns: Iterable[str]) -> tuple[list[str], list[str]]:
    patterns = list(patterns)
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    return wanted, [pattern[1:] for pattern in patterns if pattern.startswith("!")]


def _is_plain(value: str) -> bool:
    return bool(value) and ".." not in value.split("/") and value.isprintable()


def _exact(pattern: str, value: str) -> bool:
    return _glob(pattern).fits(value)


def _generous(pattern: str, value: str) -> bool:
    return _glob(_fold(pattern)).fits(_fold(value))


def _is_parent(value: str, *, of: str) -> bool:
    if value in (".", "/", ".."):
        return True
    fixed = re.split(r"[*?]", _fold(of), maxsplit=1)[0]
    return fixed.startswith(_fold(value).rstrip("/") + "/")


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


@functools.lru_cache(maxsize=4096)
def _glob(pattern: str) -> Glob:
    return Glob(f"{pattern}**" if pattern.endswith("/") else pattern)
