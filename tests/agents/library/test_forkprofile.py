"""Restrictions of forks: the list in a call and the profile in a repository."""

import os
from pathlib import Path

import pytest

from agents.library.forkprofile import (
    ForkProfileError,
    admits,
    check_fork_tools,
    parse_fork_profile,
    read_fork_profile,
)


@pytest.mark.req("QW-40", "QW-44", "QW-45", "QW-46")
@pytest.mark.parametrize(
    "value", ["*", ["*"], [" read_file"], ["Re*"], ["a b"], None, [7], ["mcp__*x"]]
)
def test_what_is_no_fork_tools(value: object) -> None:
    with pytest.raises(ForkProfileError):
        check_fork_tools(value)  # type: ignore[arg-type]


@pytest.mark.req("QW-42", "QW-47")
@pytest.mark.parametrize(
    ("entries", "tool", "allowed"),
    [
        ([], "read_file", False),
        (["read_file"], "read_file", True),
        (["mcp__github"], "mcp__github__issues", True),
        (["mcp__github"], "mcp__githubber__issues", False),
        (["mcp__*"], "mcp__x__y", True),
        (["mcp__*"], "read_file", False),
        (["mcp__github__read_*"], "mcp__github__read_file", True),
        (["mcp__github__read_*"], "mcp__github__write", False),
        (["ask_user_question"], "ask_user_question", False),
    ],
)
def test_what_a_fork_may_call(entries: list[str], tool: str, allowed: bool) -> None:
    assert admits(check_fork_tools(list(entries)), tool) is allowed


@pytest.mark.req("QW-52", "QW-54", "QW-55", "QW-56")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nname: ro\ntools: []\n---\n", ""),
        ("---\nname: ro\ntools: [read_file]\npromptHint: look\n---\n  \n", ""),
        ("---\nname: other\ntools: []\n---\n", "calls itself"),
        ("---\nname: ro\n---\n", "no `tools`"),
        ("---\nname: ro\ntools: ['*']\n---\n", "neither"),
        ("---\nname: ro\ntools: []\n---\ntext", "below its front matter"),
        ("---\nname: ro\ntools: [\n---\n", "cannot be read"),
        (f"---\nname: ro\ntools: []\npromptHint: {'x' * 201}\n---\n", "200 characters"),
        ("no front matter", "no front matter"),
        ("---\nname: ro\ntools: []\n---\n" + " " * 65_536, "64 KiB"),
    ],
)
def test_profiles(text: str, said: str) -> None:
    if not said:
        assert parse_fork_profile(text.encode(), name="ro").name == "ro"
        return
    with pytest.raises(ForkProfileError, match=said):
        parse_fork_profile(text.encode(), name="ro")


@pytest.mark.req("QW-53")
def test_a_profile_is_a_regular_file_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    text = "---\nname: {}\ntools: []\n---\n"
    (folder / "good.md").write_text(text.format("good"))
    (tmp_path / "out.md").write_text(text.format("out"))
    (folder / "out.md").symlink_to(tmp_path / "out.md")
    (folder / "folder.md").mkdir()
    (folder / "circle.md").symlink_to("circle.md")
    os.mkfifo(folder / "pipe.md")
    assert read_fork_profile(folder, "good").tools == ()
    for name in ("out", "folder", "pipe", "circle", "missing", "../out", "a/b"):
        with pytest.raises(ForkProfileError):
            read_fork_profile(folder, name)
