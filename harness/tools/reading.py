"""Tools that only look: read, glob, grep."""

import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from harness.globs import Glob as Pattern
from harness.text import head_and_tail, readable, short_line
from harness.tools.base import Output, Plan, Tool, ToolInput, ToolProblem, Workbench
from harness.tools.files import Found
from outside.sentences import phrase

READ_LINES = 2_000
LISTED = 500
WALKED = 200_000
GREP_SECONDS = 30.0
SPELLINGS = 64  # that one pattern with braces may stand for
_CHOICE = re.compile(r"\{([^{}]*)\}")


class ReadInput(ToolInput):
    path: Annotated[str, Field(description="File or directory, relative to the working directory")]
    offset: Annotated[int, Field(ge=1, description="First line to read, from 1")] = 1
    limit: Annotated[int, Field(ge=1, le=20_000, description="How many lines")] = READ_LINES


class Read(Tool[ReadInput]):
    name: ClassVar[str] = "read"
    description: ClassVar[str] = (
        "Read a text file with line numbers, or list a directory. Long files are read in parts"
        " with offset and limit."
    )
    safe_to_repeat: ClassVar[bool] = True
    input_type = ReadInput

    def plan(self, given: ReadInput, bench: Workbench) -> Plan:
        return Plan(phrase("Read %(path)s") % {"path": given.path}, paths=None)

    def run(self, given: ReadInput, bench: Workbench, call_id: str) -> Output:
        found = bench.files.find(given.path)
        if found.path.is_dir():
            return Output(_listing(found.path), detail={"path": found.shown})
        lines = readable(bench.files.read(found)).split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        part = lines[given.offset - 1 : given.offset - 1 + given.limit]
        if not part:
            return Output(f"({found.shown} has {len(lines)} lines.)", detail={"path": found.shown})
        text = "\n".join(
            f"{number:6}\t{short_line(line)}" for number, line in enumerate(part, given.offset)
        )
        left = len(lines) - (given.offset - 1 + len(part))
        note = f"\n(… {left} more lines; read on with offset {given.offset + len(part)})"
        text = head_and_tail(text, bench.spec.limits.tool_output_bytes * 2)
        return Output(text + (note if left > 0 else ""), detail={"path": found.shown})


class GlobInput(ToolInput):
    pattern: Annotated[
        str, Field(max_length=500, description="For example **/*.py or src/*.{ts,tsx}")
    ]
    path: Annotated[str, Field(description="Directory to search in")] = "."


class Glob(Tool[GlobInput]):
    name: ClassVar[str] = "glob"
    description: ClassVar[str] = (
        "Find files by pattern, newest first. Without a path the checkouts are searched too."
    )
    safe_to_repeat: ClassVar[bool] = True
    input_type = GlobInput

    def plan(self, given: GlobInput, bench: Workbench) -> Plan:
        return Plan(phrase("Find files like %(pattern)s") % {"pattern": given.pattern}, paths=None)

    def run(self, given: GlobInput, bench: Workbench, call_id: str) -> Output:
        matches = compiled(given.pattern)
        found = [
            (path, shown)
            for path, shown in _walk(given.path, bench)
            if any(map(matches, {shown, shown.removeprefix(f"{given.path}/")}))
        ]
        found.sort(key=lambda pair: _changed_at(pair[0]), reverse=True)
        lines = [shown for _, shown in found[:LISTED]]
        if len(found) > LISTED:
            lines.append(f"(… {len(found) - LISTED} more)")
        return Output("\n".join(lines) or "No file matches.", detail={"count": len(found)})


class GrepInput(ToolInput):
    pattern: Annotated[str, Field(description="Regular expression (Perl syntax)")]
    path: Annotated[str, Field(description="File or directory to search in")] = "."
    include: Annotated[str, Field(description="Only files with names like this, e.g. *.py")] = ""
    ignore_case: bool = False


class Grep(Tool[GrepInput]):
    name: ClassVar[str] = "grep"
    description: ClassVar[str] = (
        "Search the contents of files for a regular expression. Gives path:line:text. Without a"
        " path the checkouts are searched too."
    )
    safe_to_repeat: ClassVar[bool] = True
    input_type = GrepInput

    def plan(self, given: GrepInput, bench: Workbench) -> Plan:
        return Plan(phrase("Search for %(pattern)s") % {"pattern": given.pattern}, paths=None)

    def run(self, given: GrepInput, bench: Workbench, call_id: str) -> Output:
        places = _starts(given.path, bench)
        ended = bench.shells.run(
            _grep_command(given, places),
            directory=bench.files.here,
            call_id=call_id,
            seconds=GREP_SECONDS,
            stop=bench.stop,
            show=lambda _: None,
        )
        text = ended.output.text()
        if ended.timed_out:
            raise ToolProblem("The search took too long. Search a smaller part or a simpler word.")
        if ended.code not in (0, 1):
            raise ToolProblem(f"grep did not understand: {text.strip()}")
        for place in places:
            text = text.replace(f"{place.path}/", f"{place.shown}/".removeprefix("./"))
        lines = [short_line(line, 500) for line in text.split("\n") if line]
        return Output("\n".join(lines) or "Nothing matches.", detail={"count": len(lines)})


def _grep_command(given: GrepInput, places: list[Found]) -> str:
    words = ["grep", "-rnIP", "--exclude-dir=.git", "--color=never", "-m", "200"]
    words += ["-i"] if given.ignore_case else []
    words += [f"--include={given.include}"] if given.include else []
    words += ["-e", given.pattern, "--", *(str(place.path) for place in places)]
    return f"{shlex.join(words)} | head -n {LISTED}; exit ${{PIPESTATUS[0]}}"


def compiled(pattern: str) -> Callable[[str], bool]:
    """A predicate on `/`-separated paths; a pattern without a slash looks at the name alone."""
    anywhere = pattern if "/" in pattern else f"**/{pattern}"
    patterns = [Pattern(one, sets=True) for one in _spelled_out(anywhere)]
    return lambda path: any(each.fits(path) for each in patterns)


def _spelled_out(pattern: str) -> list[str]:
    """`*.{ts,tsx}` → `*.ts`, `*.tsx`. Raises ToolProblem when it stands for very many."""
    found = [""]
    for place, part in enumerate(_CHOICE.split(pattern)):
        ends = part.split(",") if place % 2 else [part]
        if len(found) * len(ends) > SPELLINGS:
            raise ToolProblem("The braces stand for too many patterns. Search for fewer at once.")
        found = [begun + end for begun in found for end in ends]
    return found


def _starts(path: str, bench: Workbench) -> list[Found]:
    """Where a search begins: the place asked for, and from the working directory every checkout."""
    start = bench.files.find(path)
    if start.path != bench.files.here:
        return [start]
    return [start, *(Found(root, ()) for root in bench.files.roots)]


def _walk(path: str, bench: Workbench) -> Iterator[tuple[Path, str]]:
    seen = 0
    for start in _starts(path, bench):
        prefix = "" if start.shown == "." else f"{start.shown}/"
        for folder, folders, files in os.walk(start.path):
            folders[:] = sorted(name for name in folders if name != ".git")
            bench.stop.check()
            inside = os.path.relpath(folder, start.path)
            middle = "" if inside == "." else f"{inside}/"
            for name in files:
                seen += 1
                if seen > WALKED:
                    raise ToolProblem("There are too many files. Search a smaller part.")
                yield Path(folder, name), f"{prefix}{middle}{name}"


def _changed_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _listing(path: Path) -> str:
    entries = sorted(path.iterdir(), key=lambda entry: entry.name)
    lines = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries[:LISTED]]
    if len(entries) > LISTED:
        lines.append(f"(… {len(entries) - LISTED} more)")
    return "\n".join(lines) or "(empty directory)"
