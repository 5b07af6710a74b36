"""`python -m controlcenter.local exec -- CMD…`: one command with engines of its own."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from types import FrameType

from controlcenter.local import engines, processes
from controlcenter.local.errors import StartError
from controlcenter.local.janitor import Janitor


def run(command: list[str]) -> int:
    """Run the command with throw-away engines and data directory; returns its exit code.

    A server that DATABASE_URL or REDIS_URL already names is used as it is.
    """
    janitor = Janitor()
    try:
        with engines.throw_away(janitor) as started:
            return _run(command, environment=started.environment, janitor=janitor)
    finally:
        janitor.close()


def _run(command: list[str], *, environment: dict[str, str], janitor: Janitor) -> int:
    data = Path(tempfile.mkdtemp(prefix="cc-data-"))
    janitor.folder(data)
    signals = _Signals()
    try:
        child = processes.spawn(
            command,
            env={"CC_DATA_DIR": str(data)} | dict(os.environ) | environment,
            dies_by=None,
            own_group=False,
        )
    except OSError as error:
        raise StartError(f"{command[0]} cannot be run: {error.strerror}.") from error
    janitor.child(child.pid)
    signals.pass_on_to(child)
    code = child.wait()
    janitor.gone(child.pid)
    return 128 - code if code < 0 else code


class _Signals:
    """Lets the command decide what an interruption means, also one that comes before it."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        # The terminal sends Ctrl-C to the whole foreground group: the command has it already.
        signal.signal(signal.SIGINT, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._handle)

    def pass_on_to(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        for number in self._early:
            child.send_signal(number)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._child:
            self._child.send_signal(number)
        else:
            self._early.append(number)
