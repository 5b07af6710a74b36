"""What every tool declares, and the git, todo and asking tools."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.actions import ActionClass
from harness.diffs import counts, unified
from harness.seam import Held, Refused, RunSpec
from harness.stop import Stop, StopReason
from harness.text import head_and_tail, readable, storable
from harness.tools.base import Tool, ToolProblem, Waiting, Workbench
from harness.tools.surface import ALL
from outside import git
from tests.harness.conftest import use
from tests.harness.kit import Desk, make_root, make_spec
from tests.remote.server import Remote, run_git

MakeBench = Callable[[RunSpec], Workbench]


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_tool_says_what_it_is(tool: Tool[Any]) -> None:
    assert tool.description
    assert tool.schema.input_schema["type"] == "object"
    assert all(isinstance(name, ActionClass) for name in tool.classes)
    if tool.mutates:
        assert tool.classes, "a tool that changes something declares its action classes"
    else:
        assert not tool.classes


def test_every_tool_that_can_change_something_says_so() -> None:
    """The list is here by name, so that a new tool has to be thought about."""
    changing = {tool.name for tool in ALL if tool.mutates}
    assert changing == {"write", "edit", "bash", "git_commit", "git_push", "write_definition"}
    reading = {tool.name for tool in ALL} - changing
    assert reading == {
        *("read", "glob", "grep", "shell_output", "shell_stop", "todo", "ask_user", "skill"),
        *("agent", "list_agents"),  # what a child does, it does below the same gate
    }


def test_a_write_outside_the_checkouts_has_its_class_and_inside_has_none(
    tmp_path: Path, remote: Remote, bench_for: MakeBench
) -> None:
    root = make_root(tmp_path, remote, "apple", {"a": "a\n"})
    bench = bench_for(make_spec(tmp_path, roots=(root,)))
    write = next(tool for tool in ALL if tool.name == "write")
    inside = write.plan(write.parse({"path": "repos/apple/b", "content": ""}), bench)
    outside = write.plan(write.parse({"path": "notes.md", "content": ""}), bench)
    assert (inside.classes, inside.paths) == (frozenset(), ("b",))
    assert outside.classes == {ActionClass.FILE_WRITE_OUTSIDE_WORKTREE}


# Git


@pytest.fixture
def bench(tmp_path: Path, remote: Remote, bench_for: MakeBench) -> Workbench:
    root = make_root(tmp_path, remote, "apple", {"README.md": "# Apple\n"})
    return bench_for(make_spec(tmp_path, roots=(root,)))


def checkout_of(bench: Workbench) -> git.Checkout:
    checkout = bench.spec.roots[0].checkout
    assert checkout
    return checkout


def test_a_commit_carries_the_agents_name_and_the_members_trailer(bench: Workbench) -> None:
    work_tree = bench.spec.roots[0].path
    (work_tree / "new.txt").write_text("new\n")
    (work_tree / "README.md").unlink()
    out = use(bench, "git_commit", message="Add new\n\nBecause.")
    assert out.content.startswith("Committed ")
    shown = run_git(work_tree, "log", "-1", "--format=%an|%ae|%cn|%ce|%B")
    assert shown.startswith(
        "Engineer (agent)|agent-1@agents.invalid|Engineer (agent)|agent-1@agents.invalid|Add new"
    )
    assert shown.endswith("\n\nCo-Authored-By: Ada <ada@analytical.invalid>")
    assert run_git(work_tree, "status", "--porcelain") == ""
    assert out.detail["commit"] == run_git(work_tree, "rev-parse", "HEAD")


def test_a_trailer_is_not_said_twice(bench: Workbench) -> None:
    (bench.spec.roots[0].path / "new.txt").write_text("new\n")
    trailer = "Co-Authored-By: Ada <ada@analytical.invalid>"
    use(bench, "git_commit", message=f"Add new\n\n{trailer}")
    shown = run_git(bench.spec.roots[0].path, "log", "-1", "--format=%B")
    assert shown.count("Co-Authored-By") == 1


def test_hooks_of_the_repository_never_run(bench: Workbench) -> None:
    checkout = checkout_of(bench)
    hook = checkout.git_dir / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {checkout.git_dir}/ran\nexit 1\n")
    hook.chmod(0o755)
    (checkout.work_tree / "new.txt").write_text("new\n")
    use(bench, "git_commit", message="Add new")
    assert not (checkout.git_dir / "ran").exists()


def test_nothing_to_commit_is_said_so(bench: Workbench) -> None:
    with pytest.raises(ToolProblem, match="nothing to commit"):
        use(bench, "git_commit", message="Empty")


@pytest.mark.parametrize("message", ["", " ", "\n\t\n"])
def test_a_commit_without_words_is_refused_before_anything_is_asked(
    bench: Workbench, message: str
) -> None:
    with pytest.raises(ToolProblem, match="message"):
        use(bench, "git_commit", message=message)


def test_a_push_is_wished_for_and_its_outcome_told(bench: Workbench) -> None:
    desk = Desk()
    bench = replace(bench, push_desk=desk)
    assert use(bench, "git_push").content == "Pushed."
    (wish,) = desk.wishes
    assert (wish.repository, wish.refspecs, wish.force) == (
        "apple",
        ("refs/heads/main:refs/heads/main",),
        False,
    )
    refusing = replace(bench, push_desk=Desk(Refused("Frozen.")))
    assert use(refusing, "git_push", branch="other").is_error
    with pytest.raises(Waiting) as waits:
        use(replace(bench, push_desk=Desk(Held("approval-9"))), "git_push")
    assert waits.value.event.data["approval_id"] == "approval-9"


def test_which_repository_must_be_clear(
    tmp_path: Path, remote: Remote, bench_for: MakeBench
) -> None:
    roots = tuple(make_root(tmp_path, remote, name, {"a": "a\n"}) for name in ("apple", "pear"))
    bench = bench_for(make_spec(tmp_path, roots=roots))
    with pytest.raises(ToolProblem, match=r"Say which repository\. Checkouts here: apple, pear"):
        use(bench, "git_push")
    with pytest.raises(ToolProblem, match="There is no checkout plum"):
        use(bench, "git_commit", repository="plum", message="x")
    assert use(bench, "git_push", repository="pear").content == "Pushed."


# Small things


def test_a_skill_that_is_not_there_is_named_with_those_that_are(bench: Workbench) -> None:
    assert use(bench, "skill", name="testing").content == "Write the test first."
    with pytest.raises(ToolProblem, match="Skills here: testing"):
        use(bench, "skill", name="flying")


def test_the_todo_list_is_shown_as_it_is(bench: Workbench) -> None:
    todos = [{"text": "look", "state": "done"}, {"text": "write"}]
    out = use(bench, "todo", todos=todos)
    assert out.content == "[x] look\n[ ] write"
    assert out.detail["todos"][1] == {"text": "write", "state": "open"}


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (b"", b"a\n", "@@ -0,0 +1 @@\n+a"),
        (b"a\n", b"", "@@ -1 +0,0 @@\n-a"),
        (b"a\nb\nc\n", b"a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"),
        (b"a", b"a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a"),
        (b"a\x00\n", b"b\n", "@@ -1 +1 @@\n-a␀\n+b"),
    ],
)
def test_diffs(old: bytes, new: bytes, shown: str) -> None:
    assert unified("x", old, new) == f"--- a/x\n+++ b/x\n{shown}"
    assert unified("x", new, new) == ""


def test_a_change_deep_in_a_large_file_is_found_quickly_and_at_its_line() -> None:
    lines = [b"line %d\n" % n for n in range(200_000)]
    changed = [*lines]
    changed[150_000] = b"changed\n"
    diff = unified("x", b"".join(lines), b"".join(changed))
    assert diff.split("\n")[2] == "@@ -149998,7 +149998,7 @@"
    assert counts(diff) == (1, 1)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\n", "plain\n"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"50%\r100%\r\n", "50%\n100%\n"),
        (b"bell\x07 del\x7f", "bell␇ del␡"),
        (b"cut \xe2\x82", "cut �"),
    ],
)
def test_program_output_becomes_readable(data: bytes, text: str) -> None:
    assert readable(data) == text


def test_what_postgresql_cannot_hold_is_replaced() -> None:
    assert storable({"a\0": ["\ud800x", {"b": "é\0"}, 1, None]}) == {
        "a␀": ["?x", {"b": "é␀"}, 1, None]
    }


def test_a_text_is_cut_in_its_middle() -> None:
    assert head_and_tail("abcdefghij", 4) == "ab\n[… 6 characters left out …]\nij"
    assert head_and_tail("abcd", 4) == "abcd"


def test_the_first_stop_holds_and_late_closers_are_called() -> None:
    stop, called = Stop(), []
    with stop.closing(lambda: called.append("early")):
        stop.request(StopReason.PAUSE, "lunch")
        stop.request(StopReason.CANCEL)
    with stop.closing(lambda: called.append("late")):
        pass
    assert called == ["early", "late"]
    assert stop.reason is StopReason.PAUSE
    assert stop.note == "lunch"
