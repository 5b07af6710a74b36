"""`read_agents`: what a user runs to check a folder of files."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GOOD = "\ufeff---\r\nname: good\r\ndescription: d\r\ntools: Read, Grep\r\n---\r\n\r\nBody é\r\n"


def run(*arguments: str, module: bool = False) -> tuple[int, list[dict[str, object]], str]:
    program = ["-m", "agents.library.cli"] if module else ["manage.py", "read_agents"]
    kept = {key: value for key, value in os.environ.items() if key not in _SERVERS}
    done = subprocess.run(
        [sys.executable, *program, *arguments, "--jsonl"],
        cwd=ROOT, env=kept, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


_SERVERS = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")


@pytest.mark.parametrize("module", [False, True])
def test_it_prints_one_object_a_file_without_any_server(tmp_path: Path, module: bool) -> None:
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "good.md").write_text(GOOD, encoding="utf-8", newline="")
    (agents / "odd name.md").write_text("---\nname: Odd\ndescription: d\n---\nb")
    (tmp_path / "README.md").write_text("# Hello")
    (tmp_path / "notes.txt").write_text("not looked at")
    code, records, errors = run(str(tmp_path), module=module)
    assert (code, errors) == (0, "")
    good, odd, readme = records
    assert good["path"] == f"{tmp_path}/.claude/agents/good.md"
    assert (good["dialect"], good["outcome"], good["name"]) == ("fuxi", "ok", "good")
    assert (good["tools"], good["disallowed_tools"], good["model"]) == (["Read", "Grep"], [], None)
    assert good["body_sha256"] == hashlib.sha256("Body é".encode()).hexdigest()
    assert (good["warnings"], odd["tools"], odd["outcome"]) == ([], None, "ok-with-warning")
    warnings = odd["warnings"]
    assert isinstance(warnings, list)
    (warning,) = warnings
    assert warning["code"] == "name-not-lowercase-hyphen"
    assert warning["sentence"]
    assert (readme["dialect"], readme["outcome"]) == ("none", "skip")


def test_files_are_named_as_they_were_given_and_missing_ones_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(GOOD, encoding="utf-8")
    relative = os.path.relpath(tmp_path / "x.md", ROOT)
    code, records, errors = run(relative, str(tmp_path / "missing.md"), module=True)
    assert code == 2
    assert [record["path"] for record in records] == [relative]
    assert "missing.md" in errors


def test_a_dialect_can_be_forced(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(GOOD, encoding="utf-8")
    _, records, _ = run(str(tmp_path), "--dialect", "qwen", module=True)
    assert [record["dialect"] for record in records] == ["qwen"]
