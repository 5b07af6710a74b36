"""`make bench`: every benchmark beside its peer, printed and written to bench/RESULTS.md.

python -m bench [NAME …]
"""

import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import MARK, MISSED

HERE = Path(__file__).parent
# What is measured first does not suffer from what comes later.
ORDER = (
    *("harness", "memory", "dispatch", "live", "pages", "roster", "agents", "skills"),
    *("orgchart", "start", "recovery"),
)
LONGEST_SECONDS, GRACE_SECONDS = 300, 30


@dataclass
class Ran:
    """What a benchmark printed, and how it ended."""

    name: str
    text: str
    code: int
    seconds: float
    last_words: str = ""

    @property
    def figures(self) -> list[str]:
        return [line.removeprefix(MARK) for line in self.text.splitlines() if line[:2] == MARK]

    @property
    def broke(self) -> str:
        return "" if self.code in (0, MISSED) else f"{self.name} broke: {self.last_words}"


def main() -> int:
    """Runs the benchmarks named on the command line, or all; 1 when a figure is missed or a
    benchmark broke. One that breaks or hangs keeps no other from its turn."""
    chosen = sys.argv[1:] or list(ORDER)
    if strangers := set(chosen) - set(ORDER):
        print(f"No benchmark {', '.join(sorted(strangers))}; there are {', '.join(ORDER)}.")
        return 2
    ran = []
    for name in chosen:
        print(f"== {name}", flush=True)
        ran.append(run(name))
        (HERE / "RESULTS.md").write_text(page(ran, chosen))
    print("\n".join(["", *summary(ran)]))
    return int(any(each.code for each in ran))


def run(name: str) -> Ran:
    """The benchmark as a program of its own, shown while it runs; ended when it takes too long."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, str(HERE / f"{name}.py")],
            cwd=HERE.parent,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            process_group=0,
        )
        # First it may end what it has started, then it ends in any case.
        alarms = [
            threading.Timer(LONGEST_SECONDS, end, [process, signal.SIGINT]),
            threading.Timer(LONGEST_SECONDS + GRACE_SECONDS, end, [process, signal.SIGKILL]),
        ]
        for alarm in alarms:
            alarm.start()
        lines = []
        try:
            for line in process.stdout or []:
                print(line, end="", flush=True)
                lines.append(line)
            code = process.wait()
        finally:
            for alarm in alarms:
                alarm.cancel()
            end(process, signal.SIGKILL)
        errors.seek(0)
        said = errors.read()
    ran = Ran(name, "".join(lines), code, time.monotonic() - began)
    if ran.broke:
        sys.stderr.write(said)
        words = (said.strip().splitlines() or [f"exit code {code}"])[-1][:200]
        if ran.seconds > LONGEST_SECONDS:
            words = f"it took more than {LONGEST_SECONDS} s"
        ran.last_words = words.replace(f"{HERE.parent}/", "")
    return ran


def end(process: subprocess.Popen[str], by: signal.Signals) -> None:
    """The benchmark and what it started and left."""
    try:
        os.killpg(process.pid, by)
    except ProcessLookupError:
        return


def summary(ran: list[Ran]) -> list[str]:
    """All figures in a table, then what was missed and what broke."""
    figures = [line for each in ran for line in each.figures]
    missed = [line for line in figures if line.endswith("MISSED")]
    took = sum(each.seconds for each in ran)
    return [
        *figures,
        "",
        f"{len(figures) - len(missed)} of {len(figures)} figures met, in {took / 60:.1f} minutes.",
        *[each.broke for each in ran if each.broke],
    ]


def page(ran: list[Ran], chosen: list[str]) -> str:
    left = [name for name in chosen if name not in {each.name for each in ran}]
    rest = [f"Not run yet: {', '.join(left)}."] if left else []
    table = "\n".join([*summary(ran), *rest])
    sections = [f"## {each.name}\n\n```text\n{each.text.strip()}\n```\n" for each in ran]
    return "\n".join([heading(), f"```text\n{table}\n```\n", *sections])


def heading() -> str:
    cores = os.cpu_count()
    return (
        "# Figures\n\n"
        "Written by `make bench`. Both sides of a ratio ran on one machine in one go; absolute "
        f"numbers mean little elsewhere.\n\n{datetime.now(UTC):%Y-%m-%d}, {cores} cores, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
