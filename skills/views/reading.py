"""A skill's files as a person reads them: never as they would be run, never unmarked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from re import Match, compile

from django.utils.safestring import SafeString

from controlcenter.reading import unseen

from ..requests import Shown
from ..scanning import File, Finding, Severity

SPELLED = compile(r"‹U\+([0-9A-F]{4,6})›")
LINE_ENDS = {0x00, 0x0A, 0x0D, 0x85, 0x2028, 0x2029}
LONGEST_FILE = 256 * 1024
MOST_LINES = 4000
LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True)
class Line:
    """One numbered line; `tone` when something was found there."""

    number: int
    html: SafeString
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """One file opened to be read. `lines` is None for what is no text or too long to be shown."""

    path: str
    size: int
    mode: int
    lines: list[Line] | None
    hidden: int = 0

    @property
    def is_executable(self) -> bool:
        return bool(self.mode & 0o111) and not self.is_link

    @property
    def is_link(self) -> bool:
        return self.mode & 0o170000 == 0o120000


@dataclass(frozen=True, slots=True)
class Listed:
    """One file in a list, with the number of findings that weigh."""

    path: str
    size: int
    mode: int
    found: int = 0
    tone: str = ""
    is_executable: bool = field(default=False)


def shown(files: Mapping[str, File]) -> tuple[Shown, ...]:
    """The files of an installed skill in the form in which requests show theirs."""
    return tuple(
        Shown(path, file.mode, len(file.data), _text(file)) for path, file in sorted(files.items())
    )


def listed(files: Collection[Shown], findings: Collection[Finding]) -> list[Listed]:
    """SKILL.md first, then by path."""
    rows = [_listed(file, findings) for file in files]
    return sorted(rows, key=lambda row: (row.path.lower() != "skill.md", row.path))


def opened(files: Collection[Shown], findings: Collection[Finding], path: str) -> Opened | None:
    """The file of this path, or SKILL.md for "", with marked lines; None when there is no such."""
    wanted = path or next((f.path for f in files if f.path.lower() == "skill.md"), "")
    file = next((each for each in files if each.path == wanted), None)
    if file is None:
        return None
    if file.text is None:
        return Opened(file.path, file.size, file.mode, None)
    tones = _tones(file.path, findings)
    lines = unspelled(file.text).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    kept = [
        Line(number, _line(text), tones.get(number, ""))
        for number, text in enumerate(lines[:MOST_LINES], start=1)
    ]
    return Opened(file.path, file.size, file.mode, kept, hidden=max(0, len(lines) - MOST_LINES))


def unspelled(text: str) -> str:
    """What the gate spelled out as `‹U+200B›` is that character again, where pages name it anyway;
    so it is marked like any other. What would change lines stays spelled."""
    return SPELLED.sub(_character, text)


def body_of(text: str) -> str:
    """The Markdown below the front matter."""
    if not text.startswith("---"):
        return text
    _front, line, rest = text[3:].partition("\n---")
    return rest.partition("\n")[2].lstrip("\n") if line else text


def _text(file: File) -> str | None:
    if file.is_submodule or len(file.data) > LONGEST_FILE or b"\0" in file.data:
        return None
    try:
        return file.data.decode()
    except UnicodeDecodeError:
        return None


def _character(found: Match[str]) -> str:
    code = int(found[1], 16)
    if code in LINE_ENDS or code > 0x10FFFF:
        return found[0]
    return chr(code) if unseen.HIDDEN.fullmatch(chr(code)) else found[0]


def _line(text: str) -> SafeString:
    if len(text) <= LONGEST_LINE:
        return unseen.show(text)
    rest = len(text) - LONGEST_LINE
    return SafeString(unseen.show(text[:LONGEST_LINE]) + f" … +{rest}")


def _tones(path: str, findings: Collection[Finding]) -> dict[int, str]:
    found: dict[int, str] = {}
    for one in findings:
        if one.file != path or one.severity is Severity.INFO:
            continue
        is_worse = one.severity is Severity.QUARANTINE or one.line not in found
        if is_worse:
            found[one.line] = "failed" if one.severity is Severity.QUARANTINE else "blocked"
    return found


def _listed(file: Shown, findings: Collection[Finding]) -> Listed:
    weighing = [
        one
        for one in findings
        if one.severity is not Severity.INFO
        and (one.file == file.path or one.file.startswith((f"{file.path}#", f"{file.path}!")))
    ]
    worst = any(one.severity is Severity.QUARANTINE for one in weighing)
    is_plain = file.mode & 0o170000 != 0o120000
    return Listed(
        file.path, file.size, file.mode, len(weighing), "failed" if worst else "blocked",
        is_executable=is_plain and bool(file.mode & 0o111),
    )  # fmt: skip
