"""What a person looks at before a skill is installed, and how it is kept until then: sealed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from skills.scanning import LIMITS, File, Finding, Manifest, Verdict
from skills.scanning.frontmatter import read as read_front_matter
from skills.scanning.report import Report
from skills.scanning.text import decode, unseen

from . import comparing, sealing
from .models import Skill

MOST_A_FILE = 200_000
MOST_TEXT = 1_000_000
MOST_DIFF = 1_000_000
_EMOJI_STYLE = "\ufe0f"


@dataclass(frozen=True, slots=True)
class Shown:
    """One file of a skill as a person may read it. `text` is None for what is no text or too long;
    invisible characters are spelled out."""

    path: str
    mode: int
    size: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Preview:
    """What there is to look at before a skill is installed. All of it is untrusted text.

    `body` is the Markdown below the front matter. `diff` (unified, as git writes it) and the
    `before…` fields compare with the installed version and are empty on a first install.
    """

    description: str
    body: str
    files: tuple[Shown, ...]
    findings: tuple[Finding, ...]
    manifest: Manifest
    diff: str = ""
    before_findings: tuple[Finding, ...] = ()
    before_capabilities: tuple[str, ...] = ()


def make(
    files: Mapping[str, File], verdict: Verdict, *, skill_file: str, before: Skill | None = None,
    before_files: Mapping[str, File] | None = None,
) -> Preview:  # fmt: skip
    """The preview of these bytes under this verdict."""
    description, body = front(files, skill_file)
    return Preview(
        description=spelled(description),
        body=spelled(body[:MOST_A_FILE]),
        files=_shown(files),
        findings=verdict.findings,
        manifest=verdict.manifest,
        diff=spelled(_diff(before_files, files)) if before_files else "",
        before_findings=tuple(map(Finding.from_json, before.findings)) if before else (),
        before_capabilities=tuple(before.capabilities) if before else (),
    )


def close(preview: Preview) -> bytes:
    """Sealed, for the request's row."""
    return sealing.close(
        {
            "description": preview.description,
            "body": preview.body,
            "files": [asdict(file) for file in preview.files],
            "findings": [finding.as_json() for finding in preview.findings],
            "manifest": preview.manifest.as_json(),
            "diff": preview.diff,
            "before_findings": [finding.as_json() for finding in preview.before_findings],
            "before_capabilities": list(preview.before_capabilities),
        }
    )


def open_(sealed: bytes | memoryview) -> Preview | None:
    """The preview again; None when there is none, or its key is gone."""
    said: dict[str, Any] | None = sealing.open_(sealed)
    if said is None:
        return None
    return Preview(
        description=said["description"],
        body=said["body"],
        files=tuple(Shown(**file) for file in said["files"]),
        findings=tuple(map(Finding.from_json, said["findings"])),
        manifest=Manifest.from_json(said["manifest"]),
        diff=said["diff"],
        before_findings=tuple(map(Finding.from_json, said["before_findings"])),
        before_capabilities=tuple(said["before_capabilities"]),
    )


def front(files: Mapping[str, File], skill_file: str) -> tuple[str, str]:
    """Description and body of a skill; empty for what cannot be read as text."""
    file = files.get(skill_file)
    decoded = decode(file.data) if file and not file.is_link else None
    if decoded is None:
        return "", ""
    text = decoded.text.replace("\r\n", "\n")
    found = read_front_matter(text, skill_file, Report(LIMITS), LIMITS)
    return found.description.strip(), "\n".join(text.split("\n")[found.body_line - 1 :]).strip()


def spelled(text: str) -> str:
    """The text with everything that leaves no mark on a page written as `‹U+200B›`."""
    if text.isascii() and text.isprintable():
        return text
    out = []
    before = ""
    for char in text:
        is_style = char == _EMOJI_STYLE and before > "\u203b"
        hidden = char not in "\n\t" and (char < " " or char == "\x7f" or unseen(char))
        out.append(f"‹U+{ord(char):04X}›" if hidden and not is_style else char)
        before = char
    return "".join(out)


def _diff(before: Mapping[str, File], after: Mapping[str, File]) -> str:
    """The unified diff file by file, until there is more than a person reads."""
    parts, left = [], MOST_DIFF
    for path in sorted({*before, *after}):
        sides = [{path: one[path]} if path in one else {} for one in (before, after)]
        if sides[0] == sides[1]:
            continue
        size = sum(len(file.data) for side in sides for file in side.values())
        if size > left:
            parts.append(f"diff --git a/{path} b/{path}\nBinary files or long texts differ\n")
            left -= 200
        else:
            parts.append(comparing.unified(*sides))
            left -= size
        if left <= 0:
            break
    return "".join(parts)[: 2 * MOST_DIFF]


def _shown(files: Mapping[str, File]) -> tuple[Shown, ...]:
    left, out = MOST_TEXT, []
    for path, file in sorted(files.items()):
        text = None
        if not file.is_submodule and len(file.data) <= min(MOST_A_FILE, left):
            decoded = decode(file.data)
            text = spelled(decoded.text) if decoded else None
            left -= len(file.data) if decoded else 0
        out.append(Shown(spelled(path), file.mode, len(file.data), text))
    return tuple(out)
