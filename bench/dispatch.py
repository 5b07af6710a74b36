"""From a posted message to its started run, with 50 runs waiting, beside bare Celery.

    python bench/dispatch.py [--messages 200] [--waiting 50]

A worker process of the product and a bare Celery worker listen at the same broker, warm, with the
same pool of threads. `posted → started`: from the call that posts the message to the claim of its
run. `rung → started`: from the moment in which a task is handed to Celery to its first line, or to
the claim; this is what both sides have.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import bare_worker, figures, harness, house  # noqa: E402 - after the path

P95_MS, RATIO = 250.0, 1.5  # DESIGN 16
THREADS = 16


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--waiting", type=int, default=50, help="runs that wait for a person")
    chosen = parser.parse_args()
    house.need_engines()
    with harness.serving(argparse.Namespace(base_url=None, turns=1)) as url:
        built = house.build(base_url=url)
        wait(built, chosen.waiting)
        ours, theirs = measured(built, chosen.messages)
    posted, rung = zip(*ours, strict=True)
    print(f"{chosen.waiting} runs waited all the time")
    line("posted → started, milliseconds", list(posted))
    line("rung → started", list(rung))
    line("  beside: bare Celery", theirs)
    figures.show("message posted → run started, p95", p95(list(posted)), "ms", most=P95_MS)
    ratio = statistics.median(rung) / statistics.median(theirs)
    figures.show("rung → started / bare Celery", ratio, most=RATIO)
    return figures.code()


def measured(built: house.House, messages: int) -> tuple[list[tuple[float, float]], list[float]]:
    """For each message what it took the product, and what it took Celery right afterwards."""
    ours, theirs = [], []
    with product(), bare():
        warm_up(built)
        for number in range(messages):
            ours.append(one_run(built, number))
            theirs.append(one_task())
    return ours, theirs


def wait(built: house.House, count: int) -> None:
    """That many runs are parked for a person."""
    from runs.models import Run
    from workspaces.tenancy import bind

    for number in range(count):
        run = built.ask(built.converse(), f"@bench wait {number}")
        with bind(built.workspace):
            Run.objects.filter(pk=run.pk).update(state="parked", waiting_for="person")


def one_run(built: house.House, number: int) -> tuple[float, float]:
    conversation = built.converse()
    Rung.at = 0.0
    posted = time.time()
    run = built.ask(conversation, f"@bench hello {number}")
    rung = Rung.at
    # Who asks all the time is in the way of the worker, and Celery's own peer only waits.
    time.sleep(0.1)
    while (fresh := built.fresh(run)).started_at is None or fresh.is_open:
        assert time.time() - posted < 60, "nobody executes runs"
        time.sleep(0.05)
    started = fresh.started_at.timestamp()
    return (started - posted) * 1000, (started - rung) * 1000


def one_task() -> float:
    started = bare_worker.ask(bare_worker.make())
    return (started - Rung.at) * 1000


class Rung:
    """When the last task was handed to Celery, by its own signal."""

    at = 0.0

    @classmethod
    def hear(cls, **_facts: Any) -> None:
        cls.at = time.time()


def warm_up(built: house.House) -> None:
    from celery.signals import before_task_publish

    before_task_publish.connect(Rung.hear)
    for number in range(10):
        one_run(built, number)
        one_task()


@contextmanager
def product() -> Iterator[None]:
    """The product's own worker for runs."""
    roles = {"CC_ROLE": "worker", "CC_QUEUES": "runs", "CC_RUN_THREADS": str(THREADS)}
    command = ["-m", "controlcenter.local", "up", "--no-browser"]
    with process(command, **roles):
        yield


@contextmanager
def bare() -> Iterator[None]:
    with process(["bench/bare_worker.py", str(THREADS)]):
        yield


@contextmanager
def process(arguments: list[str], **environment: str) -> Iterator[None]:
    started = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        started.terminate()
        started.wait(20)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


def line(what: str, values: list[float]) -> None:
    print(f"{what:38} p50 {statistics.median(values):7.1f}   p95 {p95(values):7.1f}")


if __name__ == "__main__":
    sys.exit(main())
