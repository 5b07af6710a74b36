"""One gate behind every door: who may write the files of a skill, told from the sources."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("agents", "controlcenter", "guardrails", "harness", "live", "outside", "repositories",
         "runs", "skills", "spaces", "workspaces")  # fmt: skip
PUTS = {"skills/bringing.py", "skills/restoring.py", "skills/seeded.py"}
WRITERS = {
    "install.put(": PUTS,
    "write_files(": {"skills/install.py", "runs/overlay.py"},
    "write_lock(": {"skills/install.py", "skills/recovery.py", "skills/rescanning.py",
                    "skills/restoring.py", "skills/seeded.py"},
    "Overlay(": {"runs/workplace.py"},
    "overlay.put(": {"runs/shelf.py"},
}  # fmt: skip


def callers(words: str) -> set[str]:
    return {
        file.relative_to(ROOT).as_posix()
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        if words in file.read_text()
    }


@pytest.mark.req("CC-32", "CC-37", "CC-50")
@pytest.mark.parametrize("words", WRITERS)
def test_nobody_else_writes_a_skill(words: str) -> None:
    assert callers(words) == WRITERS[words]


@pytest.mark.req("CC-32")
def test_whoever_puts_a_skill_asks_for_a_verdict_and_decides() -> None:
    for door in PUTS:
        text = (ROOT / door).read_text()
        assert "judging.judge(" in text
        assert "require_verdict(" in text
        assert "decide(" in text
        assert "Decision.ACCEPTED" in text
