"""Only outside.git runs git, and only outside.egress opens what others wrote down."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = "controlcenter runs repositories guardrails spaces agents skills workspaces live harness"
RUNS_GIT = re.compile(r"""^\s*(import git\b(?!\s*as)|from git import)|\[\s*["']git["']\s*,""", re.M)


def test_git_is_run_in_one_place_only() -> None:
    others = [
        str(file.relative_to(ROOT))
        for room in ROOMS.split()
        for file in (ROOT / room).rglob("*.py")
        if RUNS_GIT.search(file.read_text())
    ]
    assert others == []
