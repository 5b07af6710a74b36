"""What an agent can reach with its file tools, and what it cannot, however it spells it."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.seam import Mode, Root, RunSpec
from harness.tools.base import ToolProblem, Workbench
from harness.tools.files import Files, OutOfReach
from harness.tools.reading import compiled
from tests.harness.conftest import use
from tests.harness.kit import make_spec

MakeBench = Callable[[RunSpec], Workbench]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A conversation: a working directory with links, one checkout, a skill, secrets outside."""
    (tmp_path / "repos/apple/src").mkdir(parents=True)
    (tmp_path / "repos/apple/README.md").write_text("# Apple\n")
    (tmp_path / "repos/apple/src/main.py").write_text("print(1)\n")
    (tmp_path / "skills/testing").mkdir(parents=True)
    (tmp_path / "skills/testing/SKILL.md").write_text("Test first.")
    (tmp_path / "secret").write_text("key")
    (tmp_path / "agents/engineer").mkdir(parents=True)
    (tmp_path / "agents/engineer/repos").symlink_to("../../repos")
    return tmp_path


@pytest.fixture
def spec(place: Path) -> RunSpec:
    return make_spec(
        place,
        roots=(Root("apple", place / "repos/apple", writable=True),),
        skill_directories=(place / "skills/testing",),
    )


@pytest.fixture
def bench(spec: RunSpec, bench_for: MakeBench) -> Workbench:
    return bench_for(spec)


OUTSIDE = [
    "../../secret",
    "/etc/passwd",
    "repos/../../secret",
    "repos/apple/../../secret",
    "repos/apple/../../../etc/passwd",
    "~/.ssh/id_rsa/../../../../../etc/passwd",
    "nul\0byte",
    "a" * 5000,
]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("tool", ["read", "write"])
def test_what_is_outside_cannot_be_reached(bench: Workbench, tool: str, path: str) -> None:
    with pytest.raises(OutOfReach):
        use(bench, tool, path=path, content="x")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("link", "../../secret"),
        ("link", "/etc/passwd"),
        ("chain", "chain2"),
        ("folder/inner", "../../../secret"),
        ("dangling", "../../not-there-yet"),
    ],
)
@pytest.mark.parametrize("tool", ["read", "write"])
def test_no_link_leads_out(bench: Workbench, tool: str, name: str, target: str) -> None:
    here = bench.files.here
    (here / name).parent.mkdir(exist_ok=True)
    (here / name).symlink_to(target)
    (here / "chain2").symlink_to("../../secret")
    with pytest.raises(OutOfReach):
        use(bench, tool, path=name, content="x")
    assert not (here / "../../not-there-yet").exists()


def test_a_directory_that_turns_into_a_link_is_not_followed(bench: Workbench, place: Path) -> None:
    """The race: resolved while it was a directory, opened when it is a link."""
    (bench.files.here / "folder").mkdir()
    (bench.files.here / "folder/file").write_text("mine")
    found = bench.files.find("folder/file")
    (bench.files.here / "folder").rename(bench.files.here / "moved")
    (bench.files.here / "folder").symlink_to(place)
    (place / "file").write_text("theirs")
    with pytest.raises((OutOfReach, NotADirectoryError)):
        bench.files.read(found)
    with pytest.raises((OutOfReach, NotADirectoryError)):
        bench.files.write(found, b"x")
    assert (place / "file").read_text() == "theirs"


def test_a_file_that_turns_into_a_link_is_replaced_not_followed(
    bench: Workbench, place: Path
) -> None:
    found = bench.files.find("new")
    (bench.files.here / "new").symlink_to(place / "secret")
    with pytest.raises(OutOfReach):
        bench.files.read(found)
    with pytest.raises(OutOfReach):
        bench.files.write(found, b"x")
    assert (place / "secret").read_text() == "key"


def test_checkouts_are_reached_through_the_link_and_by_name(bench: Workbench, place: Path) -> None:
    assert "# Apple" in use(bench, "read", path="repos/apple/README.md").content
    (place / "agents/engineer/repos").unlink()
    assert "# Apple" in use(bench, "read", path="repos/apple/README.md").content


def test_skills_can_be_read_and_not_written(bench: Workbench, place: Path) -> None:
    path = str(place / "skills/testing/SKILL.md")
    assert "Test first." in use(bench, "read", path=path).content
    with pytest.raises(OutOfReach, match="read-only"):
        use(bench, "write", path=path, content="Do not test.")


@pytest.mark.parametrize(
    "path",
    [
        "repos/apple/.git",
        "repos/apple/.git/config",
        "repos/apple/.GIT/hooks/pre-commit",
        ".git/config",
    ],
)
def test_what_belongs_to_git_is_not_written(bench: Workbench, path: str) -> None:
    with pytest.raises(OutOfReach, match="belongs to git"):
        use(bench, "write", path=path, content="[core]\n\tfsmonitor = evil\n")


@pytest.mark.parametrize("mode", ["plan", "orchestrate", "review"])
def test_outside_chat_nothing_is_written(spec: RunSpec, mode: Mode) -> None:
    files = Files(replace(spec, mode=mode))
    for path in ("note", "repos/apple/README.md"):
        with pytest.raises(OutOfReach, match="read-only"):
            files.write(files.find(path), b"x")


def test_a_read_only_checkout_stays_so_in_chat(place: Path, bench_for: MakeBench) -> None:
    spec = make_spec(place, roots=(Root("apple", place / "repos/apple", writable=False),))
    with pytest.raises(OutOfReach, match="read-only"):
        use(bench_for(spec), "write", path="repos/apple/new", content="x")


def test_a_write_makes_directories_and_keeps_permissions(bench: Workbench) -> None:
    use(bench, "write", path="a/b/c.sh", content="one")
    path = bench.files.here / "a/b/c.sh"
    path.chmod(0o755)
    use(bench, "write", path="a/b/c.sh", content="two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o755
    assert [entry.name for entry in path.parent.iterdir()] == ["c.sh"], "no temporary file stays"


def test_pipes_and_devices_are_not_files(bench: Workbench) -> None:
    os.mkfifo(bench.files.here / "pipe")
    for tool in ("read", "write"):
        with pytest.raises(OutOfReach, match="not a regular file"):
            use(bench, tool, path="pipe", content="x")


def test_writing_says_what_changed(bench: Workbench) -> None:
    made = use(bench, "write", path="repos/apple/new.txt", content="a\nb\n")
    assert made.content == "Made repos/apple/new.txt (+2 −0 lines)."
    changed = use(bench, "edit", path="repos/apple/new.txt", old="b", new="c")
    assert changed.detail["diff"].split("\n")[:2] == [
        "--- a/repos/apple/new.txt",
        "+++ b/repos/apple/new.txt",
    ]
    assert (changed.detail["added"], changed.detail["removed"]) == (1, 1)


def test_an_edit_must_meet_exactly_one_place(bench: Workbench) -> None:
    use(bench, "write", path="x", content="one two one")
    with pytest.raises(ToolProblem, match="does not occur"):
        use(bench, "edit", path="x", old="three", new="")
    with pytest.raises(ToolProblem, match="2 times"):
        use(bench, "edit", path="x", old="one", new="1")
    use(bench, "edit", path="x", old="one", new="1", all=True)
    assert (bench.files.here / "x").read_text() == "1 two 1"


def test_an_edit_leaves_every_other_byte_as_it_was(bench: Workbench) -> None:
    path = bench.files.here / "odd"
    path.write_bytes(b"\xff\xfe bin\r\nline two\r\nline three\r\n\x00 end")
    use(bench, "edit", path="odd", old="line two\nline three", new="line 2\nline 3")
    assert path.read_bytes() == b"\xff\xfe bin\r\nline 2\r\nline 3\r\n\x00 end"


def test_reading_in_parts(bench: Workbench) -> None:
    (bench.files.here / "long").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    part = use(bench, "read", path="long", offset=10, limit=2).content
    assert part == "    10\tline 10\n    11\tline 11\n(… 89 more lines; read on with offset 12)"
    assert use(bench, "read", path="long", offset=500).content == "(long has 100 lines.)"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"a\x00b", "a␀b"),
        (b"\xff\xfe", "��"),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"),
        (b"one\rtwo\r\nthree", "one\n     2\ttwo\n     3\tthree"),
    ],
)
def test_any_bytes_are_ordinary_input(bench: Workbench, data: bytes, shown: str) -> None:
    (bench.files.here / "odd").write_bytes(data)
    assert use(bench, "read", path="odd").content == f"     1\t{shown}"


def test_one_line_of_ten_megabytes(bench: Workbench) -> None:
    (bench.files.here / "huge").write_bytes(b"x" * 10 * 2**20)
    content = use(bench, "read", path="huge").content
    assert len(content) < 3000
    assert "more characters in this line" in content


# Searching


def test_glob_finds_in_checkouts_and_skips_git(bench: Workbench, place: Path) -> None:
    (place / "repos/apple/.git").mkdir()
    (place / "repos/apple/.git/x.py").write_text("")
    (bench.files.here / "own.py").write_text("")
    found = use(bench, "glob", pattern="*.py").content.split("\n")
    assert sorted(found) == ["own.py", "repos/apple/src/main.py"]
    assert use(bench, "glob", pattern="src/*.py", path="repos/apple").content == (
        "repos/apple/src/main.py"
    )


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**", "any/thing", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("*.{ts,tsx}", "a.js", False),
        ("[ab]?.md", "ax.md", True),
        ("[!ab]*.md", "ax.md", False),
        ("a+b(c).md", "a+b(c).md", True),
        ("[", "[", True),
        ("{a,b}/{x,y}.md", "b/x.md", True),
        ("[z-a]*", "z", False),
        ("[!", "[!", True),
        ("[^a]", "b", True),
        ("[a!]", "!", True),
        ("?", "/", False),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    assert compiled(pattern)(path) is matches


def test_braces_that_stand_for_very_many_patterns_are_refused() -> None:
    with pytest.raises(ToolProblem, match="too many patterns"):
        compiled("{a,b}" * 20)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("pattern", ["*a" * 30 + "*b", "**/" * 30 + "b", "**/a" * 30 + "/*/b"])
def test_no_pattern_holds_up_the_worker(pattern: str) -> None:
    assert not compiled(pattern)("a" * 250)
    assert not compiled(pattern)("a/" * 2_000)


def test_grep_finds_lines_with_their_place(bench: Workbench) -> None:
    (bench.files.here / "note.md").write_text("alpha\nbeta 42\n")
    assert use(bench, "grep", pattern=r"\bbeta \d+").content == "note.md:2:beta 42"
    assert use(bench, "grep", pattern="print", path="repos/apple").content == (
        "repos/apple/src/main.py:1:print(1)"
    )
    assert use(bench, "grep", pattern="ALPHA", ignore_case=True).detail["count"] == 1
    assert use(bench, "grep", pattern="alpha", include="*.py").content == "Nothing matches."
    with pytest.raises(ToolProblem, match="grep did not understand"):
        use(bench, "grep", pattern="(")
    with pytest.raises(OutOfReach):
        use(bench, "grep", pattern="key", path="../..")


def test_grep_is_not_led_out_by_links(bench: Workbench, place: Path) -> None:
    (bench.files.here / "out").symlink_to(place)
    assert use(bench, "grep", pattern="key").content == "Nothing matches."
