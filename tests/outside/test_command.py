"""What git is never given: verbs, options, names, environment, configuration."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from outside import git
from outside.git import names
from outside.git.command import Command, Place
from outside.git.errors import explain
from outside.git.process import run


@pytest.mark.parametrize("verb", ["clone", "config", "gc", "push ", "-c", "daemon", "bisect"])
def test_verbs_that_are_not_listed_are_refused(verb: str) -> None:
    with pytest.raises(git.BadName):
        Command(verb).argv()


@pytest.mark.parametrize(
    "option",
    [
        "--upload-pack=touch x",
        "--upl=x",
        "--receive-pack=x",
        "--exec=x",
        "--output=/x",
        "main",
        "-\0",
    ],
)
def test_options_that_run_or_write_something_are_refused(option: str) -> None:
    with pytest.raises(Exception, match="not allowed|not an option"):
        Command("fetch", (option,)).argv()


@pytest.mark.parametrize("operand", ["-x", "--upload-pack=touch x", "", "a\0b"])
def test_operands_that_look_like_options_are_refused(operand: str) -> None:
    with pytest.raises(git.BadName):
        Command("fetch", (), (operand,)).argv()


@pytest.mark.parametrize(
    "address",
    [
        *("ext::sh -c id", "ext://x", "-x", "--upload-pack=x", "", "a\0b", "fd::17", "git://x/y"),
        *("http://", "rsync://a/b", "https://x", "javascript:alert(1)", "../up", "C:\\repo"),
    ],
)
def test_addresses_that_are_no_remote(address: str) -> None:
    with pytest.raises(git.BadAddress):
        git.normal(address)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("ada/engine", "https://github.com/ada/engine"),
        ("ada/engine.git", "https://github.com/ada/engine"),
        ("git@github.com:ada/engine.git", "https://github.com/ada/engine.git"),
        ("ssh://git@GitHub.com/ada/engine", "https://github.com/ada/engine"),
        (" https://github.com/ada/engine/ ", "https://github.com/ada/engine"),
        ("/srv/git/engine.git/", "/srv/git/engine.git"),
        ("file:///srv/git/engine", "/srv/git/engine"),
        ("http://127.0.0.1:3000/a/b", "http://127.0.0.1:3000/a/b"),
    ],
)
def test_what_people_write_is_brought_to_one_spelling(written: str, normal: str) -> None:
    assert git.normal(written) == normal


@pytest.mark.parametrize(
    "ref",
    [
        *(
            "main",
            "refs/",
            "refs/heads/",
            "refs/heads/x/../main",
            "refs/heads/a b",
            "refs/heads/-x",
        ),
        *(
            "refs/heads/a\nb",
            "refs/heads/a\tb",
            "refs/heads/a~1",
            "refs/heads/a^",
            "refs/heads/a:b",
        ),
        *("refs/heads/a?", "refs/heads/a*", "refs/heads/a[", "refs/heads/a\\b", "refs/heads/.a"),
        *("refs/heads/a.lock", "refs/heads/a.", "refs/heads/a//b", "refs/heads/@{u}", "refs/x\0"),
        *("refs/heads/\u202emain", "refs/heads/ma\u200bin", "refs/heads/a\ufeff"),
        "refs/heads/" + "a" * 300,
    ],
)
def test_names_of_refs_that_are_refused(ref: str) -> None:
    with pytest.raises(git.BadName):
        names.ref(ref)


@pytest.mark.parametrize(
    "ref", ["refs/heads/main", "refs/heads/a/b-c", "refs/tags/v1.0", "refs/heads/日本"]
)
def test_names_of_refs_that_pass(ref: str) -> None:
    assert names.ref(ref) == ref


@pytest.mark.parametrize(
    "path", ["", "/etc", "../x", "a/../../x", ".git/config", "a/.GIT/x", "a\0"]
)
def test_paths_that_leave_the_repository(path: str) -> None:
    with pytest.raises(git.BadName):
        names.path_inside(path)


def test_invisible_characters_are_spelled_out() -> None:
    assert names.printable("ma\u200bin\u202e") == "ma<U+200B>in<U+202E>"


def test_nothing_of_the_servers_environment_reaches_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("GIT_SSH_COMMAND", "touch /tmp/x")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "touch /tmp/x")
    environment = Command("log").environ()
    assert "secret" not in str(environment)
    assert not environment.keys() & {"GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH"}
    assert environment["GIT_CONFIG_GLOBAL"] == "/dev/null"


def _ends(process: int) -> bool:
    """A signal is sent at once and takes effect when the process is next scheduled."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().split()[2]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


def test_a_command_that_takes_too_long_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "git"
    slow.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\nwait\n")
    slow.chmod(0o755)
    monkeypatch.setattr("outside.git.command.program", lambda: str(slow))
    with pytest.raises(git.TimedOut):
        run(Command("log"), seconds=0.5)
    child = int((tmp_path / "child").read_text())
    assert _ends(child)


def test_too_much_output_stops_the_command(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "r"], check=True)
    place = Place(git_dir=tmp_path / "r")
    with pytest.raises(git.TooLarge):
        run(Command("for-each-ref", ("--format=x", "--count=1"), place=place), output_bytes=-1)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("fatal: write error: No space left on device", git.DiskFull),
        ("fatal: Authentication failed for 'https://x'", git.NeedsCredential),
        (
            "fatal: could not read Username for 'https://x': terminal prompts disabled",
            git.NeedsCredential,
        ),
        ("fatal: unable to access: Could not resolve host: x", git.Unreachable),
        ("fatal: unable to access: SSL certificate problem: self signed", git.Untrusted),
        (
            "fatal: detected dubious ownership in repository at '/x'\n"
            "fatal: Could not read from remote repository.\n\n"
            "Please make sure you have the correct access rights\nand the repository exists.",
            git.NotOwned,
        ),
        ("fatal: early EOF", git.Broken),
        ("remote: Repository not found.", git.NotFound),
        ("fatal: '/x' does not appear to be a git repository", git.NotARepository),
        ("error: Unable to create '/x/index.lock': File exists.", git.Busy),
        ("fatal: something new", git.GitError),
    ],
)
def test_gits_words_become_errors_with_a_sentence(words: str, error: type[git.GitError]) -> None:
    found = explain(words)
    assert type(found) is error
    assert found.sentence
    assert str(os.getpid()) not in found.sentence
