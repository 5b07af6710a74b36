"""The help page *Sandbox and security* says of files what the sandbox does, row by row."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.seam import Root, RunSpec
from harness.tools.base import Workbench
from tests.harness.conftest import use
from tests.harness.kit import make_root, make_spec
from tests.remote.server import Remote

ROOT = Path(__file__).parents[2]
YES = {"yes": True, "sim": True, "no": False, "não": False}


def rows(page: str) -> list[list[str]]:
    """The cells of the page's table of files, without its head."""
    lines = (ROOT / "docs" / page).read_text().split("\n## ")[1].splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return table[1:]


@pytest.mark.req("CC-57")
def test_both_languages_say_the_same_and_what_is_not_applied() -> None:
    english, portuguese = rows("sandbox.md"), rows("pt/sandbox.md")
    assert [row[1:] != [] for row in english] == [row[1:] != [] for row in portuguese]
    for ours, theirs in zip(english, portuguese, strict=True):
        assert (YES.get(ours[1]), YES.get(ours[2])) == (YES.get(theirs[1]), YES.get(theirs[2]))
    assert "## What is not applied" in (ROOT / "docs/sandbox.md").read_text()
    assert "## O que não é aplicado" in (ROOT / "docs/pt/sandbox.md").read_text()


@pytest.mark.req("CC-57", "CC-69")
@pytest.mark.needs("bwrap", "socat")
@pytest.mark.parametrize("mode", ["chat", "plan"])
def test_each_row_is_true(
    tmp_path: Path, remote: Remote, bench_for: Callable[[RunSpec], Workbench], mode: str
) -> None:
    root = make_root(tmp_path, remote, "apple", {"README.md": "# Apple\n"})
    root = replace(root, writable=mode == "chat")
    skill = tmp_path / "skills" / "testing"
    for folder in (skill, tmp_path / "agents/other", tmp_path / "secrets"):
        folder.mkdir(parents=True)
    bench = bench_for(make_spec(tmp_path, mode=mode, roots=(root,), skill_directories=(skill,)))
    places = _places(tmp_path, root, skill)
    table = rows("sandbox.md")
    assert len(table) == len(places), "the page has a row that nobody looks at"
    for (words, reads, writes), there in zip(table, places, strict=True):
        for place in there:
            can_read = not use(bench, "bash", command=f"ls -d {place}/").is_error
            can_write = not use(bench, "bash", command=f"touch {place}/x").is_error
            assert can_read == YES[reads], f"{words}: {place}"
            assert can_write == (mode == "chat" if writes == "in chat" else YES[writes]), words


def _places(base: Path, root: Root, skill: Path) -> list[list[str]]:
    """For each row of the table, in its order, where it is looked at."""
    assert root.checkout is not None
    git_dir, mirror = root.checkout.git_dir, root.checkout.mirror
    return [
        [f"{base}/agents/engineer"],
        [str(root.path)],
        [f"{git_dir}/hooks"],
        [str(mirror)],
        [str(skill)],
        ["/usr", "/etc/ssl"],
        ["$HOME", "/tmp"],
        [f"{base}/agents/other"],
        [f"{base}/secrets"],
        ["/root", "/home/control-center"],
    ]
