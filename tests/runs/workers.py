"""Worker processes of the product beside a test: started, killed, stopped, told to end."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connections

from controlcenter.local import processes

ROOT = Path(__file__).parents[2]
# The same intervals as in the world, in a tenth of the time.
QUICK = {
    "CC_LEASE_SECONDS": "3",
    "CC_LEASE_BEAT_SECONDS": "0.5",
    "CC_SWEEP_SECONDS": "0.5",
    "CC_LOG_LEVEL": "WARNING",
}


class Role:
    """One process of one role, on the test's own database, broker and data directory."""

    def __init__(self, name: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "controlcenter.local", "up", "--no-browser"],
            cwd=ROOT,
            env=os.environ | QUICK | _places() | {"CC_ROLE": name} | environment,
            start_new_session=True,
        )

    @property
    def pids(self) -> list[int]:
        """The process and all it has started."""
        return processes.descendants_of([self.process.pid])

    def send(self, number: signal.Signals) -> None:
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """Nobody gets to say a last word."""
        self.send(signal.SIGKILL)
        self.process.wait(20)

    def end(self, *, seconds: float) -> None:
        """TERM, as an operator does it; raises when it takes longer."""
        self.process.terminate()
        self.process.wait(seconds)


def _places() -> dict[str, str]:
    database: dict[str, Any] = connections["default"].settings_dict
    owner: dict[str, Any] = connections["owner"].settings_dict
    return {
        "DATABASE_URL": _url(database, connections["owner"].settings_dict["NAME"]),
        "DATABASE_OWNER_URL": _url(owner, owner["NAME"]),
        "CC_DATA_DIR": str(settings.DATA_DIR),
        "CC_DB_POOL": "8",
        "CC_SECRET_KEY": str(settings.SECRETS.django_key),
        "CC_ENCRYPTION_KEYS": ",".join(settings.SECRETS.encryption_keys),
        "CC_AUDIT_KEY": str(settings.SECRETS.audit_key),
    }


def _url(values: dict[str, Any], name: str) -> str:
    return f"postgresql://{values['USER']}@/{name}?host={quote(values['HOST'], safe='')}"


@contextmanager
def role(name: str, **environment: str) -> Iterator[Role]:
    started = Role(name, **environment)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.send(signal.SIGCONT)
            started.kill()


@contextmanager
def worker(**environment: str) -> Iterator[Role]:
    """A worker that executes runs."""
    with role("worker", CC_QUEUES="runs", **environment) as started:
        yield started


@contextmanager
def scheduler() -> Iterator[Role]:
    with role("scheduler") as started:
        yield started
