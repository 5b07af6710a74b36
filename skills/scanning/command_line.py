"""Scans folders and sample files from the command line: one JSON object a skill, as it comes.

One skill is in memory at a time. What cannot be read is refused, told on stderr, and the rest goes
on; the exit code says so in the end.
"""

import argparse
import base64
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from .child import Scanner
from .limits import LIMITS
from .policy import decide
from .refusing import refusal
from .values import LINK, File, Source, Verdict

LONGEST_LINE = 2 * LIMITS.total  # base64 and JSON around it included
UNREADABLE = 2


def main(arguments: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Prints the verdicts; 2 when a path or a sample could not be read, 1 when `--fail-on` says so,
    else 0."""
    given = parser().parse_args(arguments)
    return run(given.paths, as_json=given.jsonl, fail_on=given.fail_on, out=out or sys.stdout)


def parser(program: str = "python -m skills.scanning") -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(program, description="Scan skills and print verdicts.")
    add_arguments(made)
    return made


def add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "paths", nargs="+", metavar="PATH", help="a skill folder or a .jsonl of samples"
    )
    made.add_argument("--jsonl", action="store_true", help="one JSON object a line")
    made.add_argument(
        "--fail-on", choices=("held", "refused"), help="exit with 1 when a skill is at least that"
    )


def run(paths: Iterable[str], *, as_json: bool, fail_on: str | None, out: TextIO) -> int:
    """Scans everything under the paths and prints one answer a skill."""
    worst = {"held": {"held", "refused"}, "refused": {"refused"}}.get(fail_on or "", set())
    is_bad = is_unread = False
    with Scanner() as scanner:
        for answer, problem in _all(paths, scanner):
            if problem:
                print(problem, file=sys.stderr)  # noqa: T201
                is_unread = True
            if answer is None:
                continue
            try:
                out.write((json.dumps(answer) if as_json else _plain(answer)) + "\n")
                out.flush()
            except BrokenPipeError:  # nobody reads on, as behind `| head`
                with Path(os.devnull).open("wb") as nowhere:
                    os.dup2(nowhere.fileno(), sys.stdout.fileno())
                break
            is_bad = is_bad or answer["decision"] in worst
    return UNREADABLE if is_unread else int(is_bad)


Told = tuple[dict[str, Any] | None, str]  # the answer, and what could not be read


def _all(paths: Iterable[str], scanner: Scanner) -> Iterator[Told]:
    for given in paths:
        path = Path(given)
        try:
            if path.is_dir():
                yield from _folders(path, scanner)
            else:
                yield from _samples(path, scanner)
        except FileNotFoundError:
            yield None, f"{given}: no such file or folder"
        except OSError as error:
            yield None, f"{given}: {error.strerror or error}"


def _folders(path: Path, scanner: Scanner) -> Iterator[Told]:
    for folder in _skill_folders(path):
        try:
            files = read_folder(folder)
        except OSError as error:
            problem = f"cannot be read: {error.strerror or error}"
            yield {"path": str(folder), **_said(refusal({}, problem))}, f"{folder}: {problem}"
            continue
        verdict = scanner.scan(files, Source(folder.resolve().name))
        yield {"path": str(folder), **_said(verdict)}, ""


def _samples(path: Path, scanner: Scanner) -> Iterator[Told]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            is_whole = line.endswith(b"\n") or len(line) <= LONGEST_LINE
            while not line.endswith(b"\n") and (rest := file.readline(1 << 20)):
                line = rest  # the end of a line that is too long is let go
            if line.strip() or not is_whole:
                yield _sample(line if is_whole else None, f"{path.name}:{number}", scanner)


def _sample(line: bytes | None, place: str, scanner: Scanner) -> Told:
    """`line` None: longer than any sample may be."""
    name = place
    try:
        if line is None:
            raise ValueError(f"longer than {LONGEST_LINE >> 20} MiB")
        row = json.loads(line)
        name = str(row["id"])
        files = read_sample(row)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = f"the sample cannot be read: {type(error).__name__}"
        return {"id": name, **_said(refusal({}, problem))}, f"{place}: {problem}: {error}"[:300]
    return {"id": name, **_said(scanner.scan(files, Source(name)))}, ""


def _said(verdict: Verdict) -> dict[str, Any]:
    """The verdict, and what a workspace without rules of its own would do with a first install:
    there, text that instructs an agent waits for a person even when no rule objects to it."""
    return {**verdict.as_json(), "first_install": decide(verdict).decision.value}


def read_sample(row: Mapping[str, Any]) -> dict[str, File]:
    """The files of a sample: `path` with `b64` and `mode`, or `link`; raises ValueError."""
    files: dict[str, File] = {}
    for one in row["files"]:
        if not isinstance(one["path"], str) or one["path"] in files:
            raise ValueError("a path that is none, or one twice")
        if "link" in one:
            files[one["path"]] = File(LINK, one["link"].encode())
            continue
        mode = one.get("mode", "0o644")
        bits = mode if isinstance(mode, int) else int(str(mode), 8)
        files[one["path"]] = File(
            0o100000 | bits & 0o7777, base64.b64decode(one["b64"], validate=True)
        )
    return files


def _skill_folders(root: Path) -> Iterator[Path]:
    """The folder itself when it is a skill (or holds none), else the skills below it."""
    found = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in {".git", "node_modules"})
        if any(name.lower() == "skill.md" for name in files):
            found.append(Path(folder))
            names.clear()
    yield from found or [root]


def read_folder(root: Path) -> dict[str, File]:
    """The files of a folder as a fetch would bring them: links as links, nothing beyond the limits
    read (the scanner refuses what is too much)."""
    files: dict[str, File] = {}
    total = 0
    for folder, names, entries in os.walk(root):
        if Path(folder) == root:
            names[:] = [name for name in names if name != ".git"]
        links = [name for name in names if (Path(folder) / name).is_symlink()]
        for name in sorted([*entries, *links]):
            path = Path(folder) / name
            file = _read(path)
            files[path.relative_to(root).as_posix()] = file
            total += len(file.data)
            if total > LIMITS.total or len(files) > LIMITS.files:
                return files
    return files


def _read(path: Path) -> File:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return File(LINK, os.fsencode(path.readlink()))
    if not stat.S_ISREG(found.st_mode):
        return File(LINK, b"/dev/null")
    with path.open("rb") as stream:
        mode = 0o100755 if found.st_mode & 0o111 else 0o100644
        mode |= found.st_mode & (stat.S_ISUID | stat.S_ISGID)
        return File(mode, stream.read(LIMITS.total + 1))


def _plain(answer: dict[str, Any]) -> str:
    lines = [f"{answer['decision']:9} {answer.get('path') or answer.get('id')}"]
    for one in answer["findings"]:
        if one["severity"] != "info":
            place = f"{one['file']}:{one['line']}" if one["line"] else one["file"]
            lines.append(f"    {one['severity']:10} {one['rule']}  {place}\n        {one['why']}")
    return "\n".join(lines)
