"""What a command-line agent of somebody else's reads of skills in a run's directory."""

import os
import subprocess
from pathlib import Path

import pytest

from runs import runner, workplace
from runs.shelf import Shelf
from tests.runs.skilled import hostile, publish, skill
from tests.runs.stage import WithRepository
from tests.scripted.anthropic import scripted
from tests.scripted.script import Call, Step

PLACE = ".claude/skills"
QUIET = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY",
         "DISABLE_ERROR_REPORTING", "IS_SANDBOX")  # fmt: skip


def settings_of(copies: Path, home: Path) -> Path:
    """A directory of settings whose skills are the run's copies and whose memory is its profile."""
    folder = home / "settings"
    folder.mkdir(parents=True)
    (folder / "skills").symlink_to(copies / PLACE)
    (folder / "CLAUDE.md").symlink_to(copies / "AGENTS.md")
    return folder


def claude(directory: Path, home: Path, address: str) -> None:
    """One turn of the real command line, with nobody's settings but ours."""
    variables = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "CLAUDE_CONFIG_DIR": str(settings_of(directory, home)),
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "of-this-run",
        **dict.fromkeys(QUIET, "1"),
    }
    command = ["claude", "-p", "go on", "--dangerously-skip-permissions", "--setting-sources",
               "user", "--tools", "Bash,Read,Write,Skill"]  # fmt: skip
    subprocess.run(
        command, cwd=directory, env=variables, stdin=subprocess.DEVNULL, check=True,
        capture_output=True, timeout=240,
    )  # fmt: skip


@pytest.mark.soak
@pytest.mark.needs("claude")
@pytest.mark.req("CC-47", "CC-48", "CC-49", "CC-50")
@pytest.mark.django_db(transaction=True)
def test_claude_code_reads_the_scanned_copies_and_no_skill_in_a_checkout(
    stage: WithRepository, tmp_path: Path
) -> None:
    publish(
        stage,
        "engine",
        {
            f"{PLACE}/deploy/SKILL.md": skill("deploy", "Tests come first."),
            f"{PLACE}/helper/SKILL.md": hostile("helper"),
        },
    )
    [asked] = stage.say("@engineer deploy it")
    run = runner.claim(asked.workspace_id, asked.pk)
    assert run is not None
    roots, directory = workplace.prepare(run)
    shelf = Shelf(run, roots, workplace.overlay(run, directory))
    shelf.open()
    nested = directory / "repos" / "engine" / PLACE / "helper" / "SKILL.md"
    assert "CANARY-4711" in nested.read_text(), "it lies in the checkout, unscanned by Claude Code"
    story = [
        Step(calls=[Call("Read", {"file_path": str(nested.parents[3] / "README.md")})]),
        Step(calls=[Call("Write", {"file_path": str(nested.parents[3] / "b"), "content": "b"})]),
        Step(calls=[Call("Skill", {"skill": "helper"})]),
        Step(calls=[Call("Skill", {"skill": "deploy"})]),
        Step(text="Done."),
    ]
    with scripted(*story) as model:
        claude(directory, tmp_path / "home", model.url)
        told = str(model.requests)
    shelf.close()
    assert len(model.requests) == len(story)
    assert "How deploy is done here." in told
    assert "Tests come first." in told
    assert "CANARY-4711" not in told
    assert not (directory / PLACE).exists()
