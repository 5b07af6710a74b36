# ruff: noqa: E501 - a row of a table is one line
"""The scan in its process: whatever goes wrong there is a refusal here."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from skills.scanning import Decision, File, Source, Verdict, digest, version
from skills.scanning.child import ROOT, Ceilings, Scanner, scan_once
from skills.scanning.gate import scan

SKILL = {
    "SKILL.md": File(0o100644, b"---\nname: tables\ndescription: Formats tables.\n---\nDo it.\n")
}
QUICK = Ceilings(seconds=1.0, cpu_seconds=1, start_seconds=0.5)


def reason(verdict: Verdict) -> str:
    assert verdict.decision is Decision.REFUSED
    assert not verdict.is_acceptable
    assert verdict.digest == digest(SKILL)
    (finding,) = verdict.findings
    assert finding.rule == "limits.failure"
    return finding.excerpt


def helper(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def test_the_process_says_what_the_function_says() -> None:
    apart = scan_once(SKILL, Source("tables"))
    here = scan(SKILL, Source("tables"))
    assert apart.timed(0).as_json() == here.timed(0).as_json()


def test_one_helper_scans_many_skills() -> None:
    with Scanner() as scanner:
        for number in range(3):
            files = {**SKILL, f"{number}.md": File(0o100644, b"Text.\n")}
            assert scanner.scan(files, Source("tables")).decision is Decision.ACCEPTED


@pytest.mark.req("CC-32")
@pytest.mark.parametrize("fault", ["ctypes.string_at(0)", "os.kill(os.getpid(), signal.SIGBUS)"])
def test_a_worker_that_crashes_is_a_refusal_and_the_next_scan_works(fault: str) -> None:
    """A parser in native code may take its process down; nothing else goes with it."""
    code = (
        f"import ctypes, os, signal, sys; sys.path.insert(0, {str(ROOT)!r});"
        "from skills.scanning import helper; whole = helper.scan;"
        "crash = lambda files, *a, **k: "
        f"{fault} if b'crash' in files['SKILL.md'].data else whole(files, *a, **k);"
        "helper.scan = crash; helper.serve()"
    )
    bad = {"SKILL.md": File(0o100644, SKILL["SKILL.md"].data + b"crash\n")}
    with Scanner(command=helper(code)) as scanner:
        verdict = scanner.scan(bad, Source("tables"))
        assert verdict.decision is Decision.REFUSED
        assert not verdict.is_acceptable
        assert verdict.digest == digest(bad)
        assert [one.rule for one in verdict.findings] == ["limits.failure"]
        assert scanner.scan(SKILL, Source("tables")).decision is Decision.ACCEPTED


@pytest.mark.req("CC-32")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(1)", "the scanner died"),
        ("import os; os.abort()", "the scanner died"),
        ("import time; time.sleep(60)", "the scan took too long"),
        ("import os, time; os.write(1, b'\\0'*7 + b'\\2{}'); time.sleep(60)", "the scanner's answer is malformed"),
        ("import os, time; os.write(1, b'\\xff'*8); time.sleep(60)", "the scanner's answer is malformed"),
        ("import os, time; os.write(1, b'\\0'*7 + b'\\1x'); time.sleep(60)", "the scanner's answer is malformed"),
    ],
)  # fmt: skip
def test_a_broken_helper_is_a_refusal(code: str, said: str) -> None:
    with Scanner(QUICK, command=helper(code)) as scanner:
        assert reason(scanner.scan(SKILL)) == said


def test_a_helper_that_does_not_start_is_a_refusal() -> None:
    with Scanner(QUICK, command=["/nowhere/python"]) as scanner:
        assert reason(scanner.scan(SKILL)).startswith("the scanner does not start")


def answering(verdict: dict[str, object]) -> list[str]:
    text = json.dumps({"verdict": verdict})
    return helper(
        f"import os, time; d = {text!r}.encode(); os.write(1, len(d).to_bytes(8, 'big') + d);"
        "time.sleep(60)"
    )


@pytest.mark.req("CC-32")
@pytest.mark.parametrize(
    "change",
    [
        {"digest": "sha256:" + "0" * 64},
        {"ruleset": "2001-01-01+000000000000"},
        {"verdict": "fine"},
        {"decision": "maybe"},
        {"findings": None},
        {"manifest": {"magic": ["x"]}},
        {"seconds": "soon"},
    ],
    ids=str,
)
def test_an_answer_about_something_else_is_a_refusal(change: dict[str, object]) -> None:
    right = scan(SKILL, Source("tables")).as_json()
    with Scanner(QUICK, command=answering(right)) as scanner:
        assert scanner.scan(SKILL).decision is Decision.ACCEPTED
    with Scanner(QUICK, command=answering({**right, **change})) as scanner:
        assert reason(scanner.scan(SKILL))


def test_lack_of_memory_is_a_refusal() -> None:
    with Scanner(Ceilings(memory=32 << 20)) as scanner:
        assert reason(scanner.scan({**SKILL})) in {"the scan ran out of memory", "the scan failed"}


def test_a_scan_after_a_failure_is_right_again() -> None:
    with Scanner(Ceilings(memory=32 << 20)) as scanner:
        reason(scanner.scan(SKILL))
    with Scanner() as scanner:
        assert scanner.scan(SKILL, Source("tables")).decision is Decision.ACCEPTED


@pytest.mark.req("CC-32")
@pytest.mark.parametrize("damage", ["missing", "cut", "unknown rule"])
def test_without_whole_rules_there_is_no_verdict(tmp_path: Path, damage: str) -> None:
    copy = tmp_path / "skills/scanning"
    shutil.copytree(ROOT / "skills/scanning", copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "skills/__init__.py").touch()
    rules = copy / "rules/catalogue.yaml"
    if damage == "missing":
        rules.unlink()
    elif damage == "cut":
        rules.write_text(rules.read_text()[:500] + "\n  {{")
    else:
        rules.write_text(rules.read_text().replace("{severity: info", "{severity: none", 1))
    start = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r});"
        "from skills.scanning.helper import serve; serve()"
    )
    with Scanner(command=helper(start)) as scanner:
        assert reason(scanner.scan(SKILL)) == "the scanner died"


def test_rules_that_changed_give_another_version(tmp_path: Path) -> None:
    copy = tmp_path / "skills/scanning"
    shutil.copytree(ROOT / "skills/scanning", copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "skills/__init__.py").touch()
    prose = copy / "rules/prose.yaml"
    prose.write_text(prose.read_text() + "# changed\n")
    start = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r});"
        "from skills.scanning.helper import serve; serve()"
    )
    with Scanner(command=helper(start)) as scanner:
        assert reason(scanner.scan(SKILL)) == "the scanner answered about something else"


def test_the_helper_sees_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "c0ffee")
    leak = helper(
        "import os, json; d = json.dumps({'failure': str(dict(os.environ))}).encode();"
        "os.write(1, len(d).to_bytes(8, 'big') + d); import time; time.sleep(60)"
    )
    with Scanner(QUICK, command=leak) as scanner:
        assert "c0ffee" not in reason(scanner.scan(SKILL))


def test_version_names_its_date() -> None:
    day, _, mark = version().partition("+")
    assert len(day) == 10
    assert len(mark) == 12
