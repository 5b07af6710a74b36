"""Tools that change files: write and edit. Each result carries the diff for the page."""

from typing import Annotated, ClassVar

from pydantic import Field

from harness.actions import ActionClass
from harness.diffs import counts, unified
from harness.tools.base import Output, Plan, Tool, ToolInput, ToolProblem, Workbench
from harness.tools.files import Found
from outside.sentences import Sentence, phrase

PathOfFile = Annotated[str, Field(description="File, relative to the working directory")]


class WriteInput(ToolInput):
    path: PathOfFile
    content: Annotated[str, Field(description="The whole new content")]


class Write(Tool[WriteInput]):
    name: ClassVar[str] = "write"
    description: ClassVar[str] = (
        "Write a file: makes it with its directories, or replaces its whole content."
    )
    classes: ClassVar[frozenset[ActionClass]] = frozenset({ActionClass.FILE_WRITE_OUTSIDE_WORKTREE})
    mutates: ClassVar[bool] = True
    safe_to_repeat: ClassVar[bool] = True
    input_type = WriteInput

    def plan(self, given: WriteInput, bench: Workbench) -> Plan:
        return _plan(phrase("Write %(path)s"), given.path, bench)

    def run(self, given: WriteInput, bench: Workbench, call_id: str) -> Output:
        found = bench.files.find(given.path)
        old = bench.files.read(found) if found.path.exists() else None
        return _change(bench, found, old, given.content.encode("utf-8", "replace"))


class EditInput(ToolInput):
    path: PathOfFile
    old: Annotated[str, Field(min_length=1, description="Text to replace, exactly as it stands")]
    new: Annotated[str, Field(description="What stands there afterwards")]
    all: Annotated[bool, Field(description="Replace every occurrence")] = False


class Edit(Tool[EditInput]):
    name: ClassVar[str] = "edit"
    description: ClassVar[str] = (
        "Replace text in a file. `old` must occur exactly once, unless `all` is set."
    )
    classes: ClassVar[frozenset[ActionClass]] = frozenset({ActionClass.FILE_WRITE_OUTSIDE_WORKTREE})
    mutates: ClassVar[bool] = True
    input_type = EditInput

    def plan(self, given: EditInput, bench: Workbench) -> Plan:
        return _plan(phrase("Edit %(path)s"), given.path, bench)

    def run(self, given: EditInput, bench: Workbench, call_id: str) -> Output:
        found = bench.files.find(given.path)
        before = bench.files.read(found)
        old, new = given.old.encode("utf-8", "replace"), given.new.encode("utf-8", "replace")
        if old not in before and b"\r\n" in before:
            old, new = _crlf(old), _crlf(new)
        times = before.count(old)
        if not times:
            raise ToolProblem(
                f"The text to replace does not occur in {found.shown}. Read it first."
            )
        if times > 1 and not given.all:
            raise ToolProblem(
                f"The text to replace occurs {times} times in {found.shown}. Give more of what"
                " stands around it, or set all."
            )
        return _change(bench, found, before, before.replace(old, new))


def _plan(verb: Sentence, path: str, bench: Workbench) -> Plan:
    found = bench.files.find(path)
    summary = verb % {"path": found.shown}
    if found.in_worktree is not None:
        return Plan(summary, paths=(found.in_worktree,))
    outside = frozenset({ActionClass.FILE_WRITE_OUTSIDE_WORKTREE})
    return Plan(summary, classes=outside, paths=(str(found.path),))


def _change(bench: Workbench, found: Found, before: bytes | None, after: bytes) -> Output:
    bench.files.write(found, after)
    diff = unified(found.shown, before or b"", after)
    added, removed = counts(diff)
    verb = "Made" if before is None else "Changed"
    detail = {
        "path": found.shown,
        "diff": diff,
        "added": added,
        "removed": removed,
        "is_new": before is None,
    }
    return Output(f"{verb} {found.shown} (+{added} −{removed} lines).", detail=detail)


def _crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
