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
    # Let the command decide what an interruption means; we only pass its answer on.
    data = Path(tempfile.mkdtemp(prefix="cc-data-"))
    janitor.folder(data)
    try:
        child = processes.spawn(
            command,
            env={"CC_DATA_DIR": str(data)} | dict(os.environ) | environment,
            dies_by=signal.SIGKILL,
            own_group=False,
        )
    except OSError as error:
        raise StartError(f"{command[0]} cannot be run: {error.strerror}.") from error
    janitor.child(child.pid)
    _pass_on_signals(child)
    code = child.wait()
    janitor.gone(child.pid)
    return 128 - code if code < 0 else code


def _pass_on_signals(child: subprocess.Popen[bytes]) -> None:
    def pass_on(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    # The terminal sends Ctrl-C to the whole foreground group: the child has it already.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
