"""A small process that cleans up behind its owner, even when that one is killed with -9."""

import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

from controlcenter.local import processes


class Janitor:
    """Knows the owner's children and temporary folders; acts when the owner is gone.

    Start it before any thread and any child: it is a fork that does nothing but read a pipe,
    whose end it sees when the owner ends, however that came about.
    """

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._writer)
            _watch(reader)
        os.close(reader)

    @property
    def descriptor(self) -> int:
        """To be closed in every forked child: the janitor acts when the last copy is closed."""
        return self._writer

    def child(self, pid: int) -> None:
        """This process and all below it die with the owner."""
        self._tell(f"child {pid}")

    def gone(self, pid: int) -> None:
        """This child ended and was reaped: its number may soon be somebody else's."""
        self._tell(f"gone {pid}")

    def folder(self, path: Path) -> None:
        """This folder is removed with the owner."""
        self._tell(f"folder {path}")

    def close(self) -> None:
        """Clean up now; returns when nothing is left."""
        os.close(self._writer)
        os.waitpid(self.pid, 0)

    def _tell(self, line: str) -> None:
        # A janitor that somebody killed is missed only at a kill -9: no reason to stop now.
        with suppress(BrokenPipeError):
            os.write(self._writer, line.encode() + b"\n")


def _watch(reader: int) -> None:
    with suppress(BaseException):
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        _let_go_of_output()
        children: list[int] = []
        folders: list[Path] = []
        with os.fdopen(reader) as lines:
            for line in lines:
                word, _, rest = line.rstrip("\n").partition(" ")
                match word:
                    case "child":
                        children.append(int(rest))
                    case "gone":
                        children.remove(int(rest))
                    case "folder":
                        folders.append(Path(rest))
        _clean_up(children, folders)
    os._exit(0)


def _let_go_of_output() -> None:
    # Whoever reads our owner's output through a pipe must see its end when the owner ends.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _clean_up(children: list[int], folders: list[Path]) -> None:
    everyone = processes.descendants_of(children)
    # First those at the top, so that none of them starts another; engines get their own
    # signal from the kernel at the same moment and are given the time to heed it.
    for pid in everyone:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGTERM)
    for pid in processes.wait_gone(everyone, seconds=1.0):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    processes.wait_gone(everyone, seconds=1.0)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
