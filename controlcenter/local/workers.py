"""Which worker processes there are, and which of the queues each one serves."""

from dataclasses import dataclass

from controlcenter import env
from controlcenter.local.errors import StartError


@dataclass(frozen=True)
class Pool:
    """A process with threads: long runs never keep a file waiting, CLIs have their own limit."""

    name: str
    queues: tuple[str, ...]
    threads: int


def pools() -> list[Pool]:
    """The pools of this machine, without the queues that CC_QUEUES leaves to others."""
    known = [
        Pool("runs", ("runs",), env.number("CC_RUN_THREADS", 16, low=1, high=1000)),
        Pool("cli", ("cli",), env.number("CC_CLI_THREADS", 4, low=1, high=1000)),
        Pool("files", ("files", "system"), env.number("CC_FILE_THREADS", 8, low=1, high=1000)),
    ]
    every = [queue for pool in known for queue in pool.queues]
    asked = env.words("CC_QUEUES") or every
    if strangers := set(asked) - set(every):
        raise StartError(
            f"CC_QUEUES names {', '.join(sorted(strangers))}; there are {', '.join(every)}."
        )
    served = [
        Pool(pool.name, tuple(queue for queue in pool.queues if queue in asked), pool.threads)
        for pool in known
    ]
    return [pool for pool in served if pool.queues]
