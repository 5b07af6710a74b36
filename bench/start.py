"""`make up` on an installed machine: its first page, what it holds when idle, what a kill leaves.

    python bench/start.py [--rounds 3]

The first start of a folder makes its database and brings it to its shape; the peer does nothing
else, on engines that run already. Memory is PSS, shared pages counted once over all processes;
the peer is as many bare Celery workers as there are processes of ours.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import figures, house  # noqa: E402 - after the path
from controlcenter.local import processes  # noqa: E402

FIRST_SECONDS, IDLE_MB, GONE_SECONDS = 6.0, 400.0, 3.0  # DESIGN 16
SETTLED_SECONDS = 10.0
OURS = ("CC_", "DATABASE_", "REDIS_", "DJANGO_")
READY = re.compile(r"ready after .*?(http://\S+)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    house.need_engines(own=True)
    fresh: list[float] = []
    again: list[float] = []
    migrating = migrate_alone()
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory(prefix="cc-bench-") as data:
            for times in (fresh, again):
                with up(data) as (_process, seconds):
                    times.append(seconds)
    print(f"migrations alone, on engines that run: {migrating:.2f} s")
    ratio = statistics.median(fresh) / migrating
    print(f"new folder → first page / migrations alone: {ratio:.2f} ×")
    figures.show("new folder → first page", statistics.median(fresh), "s", most=FIRST_SECONDS)
    figures.show("folder in use → first page", statistics.median(again), "s", most=FIRST_SECONDS)
    idle_and_killed()
    return figures.code()


def migrate_alone() -> float:
    began = time.perf_counter()
    command = [sys.executable, "manage.py", "migrate", "--database", "owner", "-v", "0"]
    subprocess.run(command, cwd=ROOT, check=True)
    return time.perf_counter() - began


def idle_and_killed() -> None:
    """What all processes of a start hold once they rest, and how many outlive its supervisor."""
    with tempfile.TemporaryDirectory(prefix="cc-bench-") as data, up(data) as (process, _):
        time.sleep(SETTLED_SECONDS)
        pids = processes.descendants_of([process.pid])
        held = {pid: pss_mb(pid) for pid in pids}
        mine = [pid for pid in pids if "controlcenter.local" in processes.command_of(pid)]
        process.send_signal(signal.SIGKILL)
        left = processes.wait_gone(pids, seconds=GONE_SECONDS)
    print(f"{len(mine)} processes of ours hold {sum(held[pid] for pid in mine):.0f} MB", end=", ")
    print(f"as many bare Celery workers {bare_mb(len(mine)):.0f} MB")
    figures.show(f"idle, all {len(pids)} processes", sum(held.values()), "MB", most=IDLE_MB)
    figures.show(f"left {GONE_SECONDS:g} s after kill -9 of the supervisor", len(left), "", most=0)


def bare_mb(count: int) -> float:
    """What that many Celery workers hold that know nothing of the product."""
    with ExitStack() as stack:
        pids = [stack.enter_context(bare()) for _ in range(count)]
        time.sleep(SETTLED_SECONDS)
        return sum(pss_mb(pid) for pid in pids)


@contextmanager
def bare() -> Iterator[int]:
    command = [sys.executable, "bench/bare_worker.py", "4"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


@contextmanager
def up(data: str) -> Iterator[tuple[subprocess.Popen[str], float]]:
    """A start as a person makes it, and the seconds to its first page."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "controlcenter.local", "up", "--port", "0", "--no-browser"]
        + ["--data", data],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        address = said(process)
        with urllib.request.urlopen(address, timeout=30) as page:
            assert b"<title>" in page.read(), "this is no page"
        yield process, time.perf_counter() - began
    finally:
        process.terminate()
        process.communicate(timeout=30)


def said(process: subprocess.Popen[str]) -> str:
    lines = []
    for line in process.stdout or []:
        lines.append(line)
        if match := READY.search(line):
            return match[1]
    raise SystemExit("It did not start:\n" + "".join(lines))


def pss_mb(pid: int) -> float:
    """The process's share of the memory that it has with others."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.exit(main())
