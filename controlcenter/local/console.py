"""What the terminal shows: each child's lines with its name in a colour before them."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)
NAME_WIDTH = 13


class Console:
    """Writes whole lines only, so that the lines of two children never mix."""

    def __init__(self, *, harmless: Sequence[str] = ()) -> None:
        self._harmless = tuple(harmless)
        self._coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._colours: dict[str, int] = {}
        self._unfinished: dict[str, bytes] = {}

    def say(self, words: str, *, name: str = "start") -> None:
        for line in words.splitlines() or [""]:
            self._write(name, line)

    def feed(self, name: str, data: bytes) -> None:
        """Bytes as they come from a child."""
        *lines, rest = (self._unfinished.pop(name, b"") + data).split(b"\n")
        if len(rest) > 65536:
            lines.append(rest)
            rest = b""
        self._unfinished[name] = rest
        for line in lines:
            if line.strip():
                self._write(name, line.decode(errors="replace").rstrip("\r"))

    def end(self, name: str) -> None:
        """The child is gone: its last line may lack an end."""
        if rest := self._unfinished.pop(name, b""):
            self._write(name, rest.decode(errors="replace"))

    def _write(self, name: str, line: str) -> None:
        if any(words in line for words in self._harmless):
            return
        label = f"{name:<{NAME_WIDTH}}│"
        if self._coloured:
            colour = self._colours.setdefault(name, COLOURS[len(self._colours) % len(COLOURS)])
            label = f"\033[{colour}m{label}\033[0m"
        # A closed terminal is no reason to stop serving.
        with suppress(OSError, ValueError):
            sys.stdout.write(f"{label} {line}\n")
            sys.stdout.flush()
