"""What a reader has to say about a file: a code for programs and a sentence for people."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How loud a warning is."""

    WARNING = "warning"  # turns the outcome `ok` into `ok-with-warning`
    NOTE = "note"  # shown in the library only; the outcome stays as it is


@dataclass(frozen=True, slots=True)
class LoadWarning:
    """One remark about one file. `line` counts from 1 in the file, 0 when no line is meant."""

    code: str
    sentence: str
    level: Level = Level.WARNING
    line: int = 0


def warn(code: str, sentence: str, *, line: int = 0) -> LoadWarning:
    """A remark that the user has to see: something was changed, dropped or refused."""
    return LoadWarning(code, sentence, Level.WARNING, line)


def note(code: str, sentence: str, *, line: int = 0) -> LoadWarning:
    """A remark for whoever looks closer; it changes no outcome."""
    return LoadWarning(code, sentence, Level.NOTE, line)
