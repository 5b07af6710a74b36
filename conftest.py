"""What every test run does: name what this machine cannot run, and note what proves what.

With CC_REQUIRE_ALL=1 a test that was skipped is a failure, except for lack of the corpus.
"""

import json
import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

REQUIRE_ALL = os.environ.get("CC_REQUIRE_ALL") == "1"
HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("CC_CORPUS") or HERE / "../shared/corpus")
RESULTS = HERE / "test-results"


def can_use(name: str) -> bool:
    """Whether this machine has the program (or the corpus folder)."""
    if name == "corpus":
        return CORPUS.is_dir()
    if name == "chromium":
        return any(shutil.which(known) for known in ("chromium", "chromium-browser", "chrome"))
    return shutil.which(name) is not None


def pytest_runtest_setup(item: pytest.Item) -> None:
    needed = [name for mark in item.iter_markers("needs") for name in mark.args]
    if item.get_closest_marker("browser"):
        needed.append("chromium")
    for name in needed:
        if not can_use(name):
            pytest.skip(f"this machine has no {name}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    ids = sorted({name for mark in item.iter_markers("req") for name in mark.args})
    if ids and call.when == "call":
        report.user_properties.append(("req", ids))
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        if "corpus" not in reason:
            report.outcome = "failed"
            report.longrepr = f"skipped, and CC_REQUIRE_ALL is set: {reason}"
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = [
        report
        for outcome in ("passed", "failed", "skipped")
        for report in terminalreporter.stats.get(outcome, [])
    ]
    again = bool(config.getoption("lf", False))  # what failed before: the others are proven
    _note_proofs(reports, name=os.environ.get("CC_SUITE", "other"), again=again)
    skipped: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        skipped[_reason(report)] = skipped.get(_reason(report), 0) + 1
    if skipped:
        terminalreporter.section("not run on this machine")
        for reason, count in sorted(skipped.items()):
            terminalreporter.line(f"{count:4} × {reason}")


def _note_proofs(reports: list[pytest.TestReport], *, name: str, again: bool) -> None:
    file = RESULTS / f"proofs-{name}.json"
    proofs: dict[str, dict[str, str]] = (
        json.loads(file.read_text()) if again and file.exists() else {}
    )
    for report in reports:
        ids = dict(report.user_properties).get("req")
        for requirement in ids if isinstance(ids, list) else []:
            proofs.setdefault(requirement, {})[report.nodeid] = report.outcome
    if name != "other":
        RESULTS.mkdir(exist_ok=True)
        file.write_text(json.dumps(proofs, indent=1, sort_keys=True))


def _reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(report.longrepr)
