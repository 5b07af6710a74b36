"""The peer of `bench/dispatch.py`: a Celery worker with one task that says when it began.

python bench/bare_worker.py THREADS
"""

import os
import sys
import time
from functools import cache
from typing import Any

import redis
from celery import Celery

ANSWERS = "bench:bare"


@cache
def make() -> Celery:
    """A Celery application that knows nothing of the product but its broker."""
    url = os.environ["REDIS_URL"]
    broker = url.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
    app = Celery("bare", broker=broker, set_as_current=False)
    app.conf.update(
        task_ignore_result=True,
        task_default_queue="bare",
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
    )

    app.task(begin, name="bare.begin")
    return app


def begin() -> None:
    answers().rpush(ANSWERS, str(time.time()))


@cache
def answers() -> Any:
    return redis.Redis.from_url(os.environ["REDIS_URL"])


def ask(app: Celery) -> float:
    """When the task began that is queued now."""
    app.send_task("bare.begin", queue="bare")
    _key, began = answers().blpop(ANSWERS, timeout=60)
    return float(began)


if __name__ == "__main__":
    threads = int(sys.argv[1])
    make().Worker(
        pool="threads",
        concurrency=threads,
        queues=["bare"],
        loglevel="ERROR",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    ).start()
