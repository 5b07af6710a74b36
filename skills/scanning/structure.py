"""The tree of a skill before any byte is read: paths that every system reads alike, and no links
out of it."""

import posixpath
import re
import stat
import unicodedata
from collections.abc import Mapping

from .frontmatter import DEVICES
from .limits import Limits
from .report import Report
from .text import unseen
from .values import File

_BAD = re.compile(r"[\\\x00-\x1f\x7f]|^/|^~|^[A-Za-z]:|//|(^|/)\.\.?(/|$)|/$|^$")
_ODD = re.compile(r"(^|/)-|[`;|<>]|\$[({]|&&")
JOINERS = "\u200c\u200d\ufe0f"
_RUNS_AS_OWNER = stat.S_ISUID | stat.S_ISGID
_LFS = b"version https://git-lfs.github.com/spec/"


def check(files: Mapping[str, File], report: Report, limits: Limits) -> bool:
    """Reports faults of the tree; True when the content may be read."""
    if not fits(files, report, limits):
        return False
    for path, file in files.items():
        _check_path(path, report, limits)
        _check_kind(path, file, files, report)
    _check_twins(files, report)
    return True


def fits(files: Mapping[str, File], report: Report, limits: Limits) -> bool:
    """Whether the tree is within what is read at all; reports when not."""
    if len(files) > limits.files:
        report.add("limits.files", "", excerpt=f"{len(files)} files, {limits.files} are read")
        return False
    total = sum(len(file.data) for file in files.values())
    if total > limits.total:
        report.add("limits.size", "", excerpt=f"{total} bytes, {limits.total} are read")
        return False
    return True


def skill_file(files: Mapping[str, File], report: Report) -> str:
    """The path of the skill's own SKILL.md, "" when there is none."""
    if "SKILL.md" in files:
        return "SKILL.md"
    for path in sorted(files):
        if path.lower() == "skill.md":
            report.add("structure.lower-case", path)
            return path
    report.add("structure.nothing", "")
    return ""


def _check_path(path: str, report: Report, limits: Limits) -> None:
    parts = path.split("/")
    if _BAD.search(path) or not _is_utf8(path):
        report.add("structure.path", path, excerpt=path)
    elif len(path.encode()) > limits.path or len(parts) > limits.path_depth:
        report.add("structure.path", path, excerpt=f"too long or too deep: {path[:80]}")
    elif _ODD.search(path) or any(unseen(char) for char in path if char not in JOINERS):
        report.add("structure.odd-name", path, excerpt=path)
    for part in parts:
        if DEVICES.match(part) or part.endswith((".", " ")) and part not in {".", ".."}:
            report.add("structure.device-name", path, excerpt=part)
    if any(part.lower() in {".git", "git~1"} for part in parts):
        report.add("structure.git-inside", path)
    if len(parts) > 1 and parts[-1].lower() == "skill.md":
        report.add("structure.nested", path)


def _check_kind(path: str, file: File, files: Mapping[str, File], report: Report) -> None:
    if file.is_submodule:
        report.add("structure.submodule", path)
    elif file.is_link:
        inside = _link_target(path, file, files)
        report.add(
            "structure.link" if inside else "structure.link-out",
            path,
            excerpt=file.data[:200].decode("utf-8", "replace"),
        )
    elif file.data.startswith(_LFS) and len(file.data) < 1024:
        report.add("structure.lfs-pointer", path)
    if file.mode & _RUNS_AS_OWNER:
        report.add("structure.runs-as-owner", path, excerpt=f"{file.mode & 0o7777:o}")


def _link_target(path: str, link: File, files: Mapping[str, File]) -> str:
    """The path inside the skill that a link ends at, "" when it leaves, loops or ends nowhere."""
    seen = {path}
    while True:
        target = link.data.decode("utf-8", "replace")
        if not target or target.startswith("/") or "\\" in target or "\0" in target:
            return ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if path.startswith("..") or path in seen:
            return ""
        if path not in files:
            has_children = any(other.startswith(f"{path}/") for other in files)
            return path if has_children and path != "." else ""
        if not files[path].is_link:
            return path
        seen.add(path)
        link = files[path]


def _check_twins(files: Mapping[str, File], report: Report) -> None:
    """Paths, folders included, that some file system would make one."""
    spellings: dict[str, set[str]] = {}
    for path in files:
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            prefix = "/".join(parts[:length])
            folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKD", prefix).casefold())
            spellings.setdefault(folded, set()).add(prefix)
            if length < len(parts) and prefix in files:
                report.add("structure.file-and-folder", prefix)
    for group in spellings.values():
        if len(group) > 1:
            names = sorted(group)
            report.add("structure.case-twins", names[0], excerpt=" and ".join(names[:4]))


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
