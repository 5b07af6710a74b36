"""A worker is killed in the middle of a run: how soon another has it, and how soon it is settled.

    python bench/recovery.py [--rounds 2]

With the product's own leases and intervals. Beside it stands what the broker alone would do: with
acknowledgement at the end, Celery delivers a lost task again after its visibility time-out.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import figures, house  # noqa: E402 - after the path

if TYPE_CHECKING:
    from runs.models import Run

FOUND_SECONDS, SETTLED_SECONDS = 30.0, 60.0  # DESIGN 16
LONGEST_SECONDS = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    house.need_engines()
    built = house.build()
    with role("scheduler"), role("worker"):
        times = [orphan(built) for _ in range(chosen.rounds)]
    found, settled = zip(*times, strict=True)
    print(f"Celery alone: {visibility_seconds()} s, and only with late acknowledgement")
    figures.show("orphaned run found", statistics.median(found), "s", most=FOUND_SECONDS)
    figures.show("orphaned run settled", statistics.median(settled), "s", most=SETTLED_SECONDS)
    return figures.code()


def orphan(built: house.House) -> tuple[float, float]:
    """Seconds from the death of the run's process to its next claim, and to its end."""
    run = built.ask(built.converse(), "@bench look around")
    held = until(built, run, lambda run: run.state == "running")
    os.kill(int(held.lease_owner.rpartition(":")[2]), signal.SIGKILL)
    killed = time.perf_counter()
    until(built, run, lambda run: run.attempt > held.attempt)
    found = time.perf_counter() - killed
    done = until(built, run, lambda run: not run.is_open)
    assert done.state == "succeeded", done.summary
    return found, time.perf_counter() - killed


def until(built: house.House, run: "Run", is_so: Callable[["Run"], bool]) -> "Run":
    deadline = time.monotonic() + LONGEST_SECONDS
    while not is_so(fresh := built.fresh(run)):
        assert time.monotonic() < deadline, f"it is still {fresh.state}"
        time.sleep(0.02)
    return fresh


def visibility_seconds() -> int:
    from kombu.transport.redis import Channel

    return int(Channel.visibility_timeout)


@contextmanager
def role(name: str) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "controlcenter.local", "up", "--no-browser"],
        cwd=ROOT,
        env=os.environ | {"CC_ROLE": name, "CC_QUEUES": "runs"},
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    sys.exit(main())
