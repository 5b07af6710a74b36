"""Two versions of a skill, told apart line by line and finding by finding."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlcenter.reading import unified
from skills import comparing
from skills.scanning import File, Finding, Severity

TEXT = st.text(alphabet="ab\n -+@\\\r\u200b", max_size=60)


def file(text: str | bytes, mode: int = 0o100644) -> File:
    return File(mode, text.encode() if isinstance(text, str) else text)


def finding(rule: str, *, line: int = 1, excerpt: str = "x", file: str = "SKILL.md") -> Finding:
    return Finding(rule, "code", Severity.WARN, file, line, excerpt, "why", "benign")


@settings(max_examples=60, deadline=None)
@given(before=TEXT, after=TEXT)
def test_git_applies_what_we_write(before: str, after: str, tmp_path_factory: object) -> None:
    if shutil.which("git") is None:
        pytest.skip("this machine has no git")
    folder: Path = tmp_path_factory.mktemp("diff")  # type: ignore[attr-defined]
    (folder / "x").write_bytes(before.encode())
    text = comparing.unified({"x": file(before)}, {"x": file(after)})
    if before == after:
        assert text == ""
        return
    command = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=text.encode(), cwd=folder, check=True, capture_output=True)
    there = folder / "x"
    assert there.read_bytes() == after.encode()


def test_what_came_went_and_changed_its_mode_is_said() -> None:
    change = unified.read(
        comparing.unified(
            {"gone.md": file("x\n"), "run.sh": file("a\n"), "logo.png": file(b"\x89\0a")},
            {"new.md": file("y\n"), "run.sh": file("a\n", 0o100755), "logo.png": file(b"\x89\0b")},
        )
    )
    assert [(one.path, one.status, one.mode, one.binary) for one in change.files] == [
        ("gone.md", "deleted", "", False),
        ("logo.png", "changed", "", True),
        ("new.md", "new", "100644", False),
        ("run.sh", "changed", "100755", False),
    ]


@pytest.mark.parametrize(
    "path", ["caf\u00e9.md", 'a"b.md', "a\\b.md", "a b.md", "a\nb.md", "\u202egnp.sh"]
)
def test_a_path_cannot_pretend_to_be_something_else(path: str) -> None:
    (one,) = unified.read(comparing.unified({}, {path: file("x\n")})).files
    assert one.path == path


def test_two_huge_files_that_share_nothing_are_not_compared_for_ever() -> None:
    before = "".join(f"a{n}\n" for n in range(20_000))
    after = "".join(f"b{n}\n" for n in range(20_000))
    began = time.process_time()
    text = comparing.unified({"x": file("same\n" + before)}, {"x": file("same\n" + after)})
    assert time.process_time() - began < 2
    assert text.count("\n-a") == text.count("\n+b") == 20_000


def test_a_finding_that_only_moved_is_not_new() -> None:
    change = comparing.findings(
        (finding("code.eval", line=3), finding("prose.conceal")),
        (finding("code.eval", line=9), finding("code.eval", line=12), finding("unicode.bidi")),
    )
    assert [one.rule for one in change.same] == ["code.eval"]
    assert [(one.rule, one.line) for one in change.new] == [("code.eval", 12), ("unicode.bidi", 1)]
    assert [one.rule for one in change.gone] == ["prose.conceal"]


def test_what_a_skill_can_do_now_and_could_not_before() -> None:
    rows = comparing.capabilities(
        ["writes", "deletes"], ["writes", "shell"], {"writes": ("a:1",), "shell": ("b:2", "b:3")}
    )
    assert [one.name for one in rows if one.is_new] == ["shell"]
    assert [one.name for one in rows if one.is_gone] == ["deletes"]
    assert next(one for one in rows if one.name == "shell").places == ("b:2", "b:3")
    assert len(rows) == 6
