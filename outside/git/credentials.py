"""Credentials reach git through a one-shot askpass: never in argv, an address, a file or a config.

Git asks the program in GIT_ASKPASS for the user name and the password. Ours reads each from a pipe
that git's process inherited and that can be read once; the environment carries only the numbers of
the pipes' ends.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BadAddress

ASKPASS = Path(__file__).with_name("askpass.sh")


@dataclass(frozen=True, slots=True)
class Credential:
    """What the remote asks for. Tokens go in as `secret`; GitHub takes any user name."""

    secret: str = field(repr=False)
    username: str = "x-access-token"


@contextmanager
def one_shot(credential: Credential | None) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """The environment and the file descriptors that let one git process ask once."""
    if credential is None:
        yield {"GIT_ASKPASS": "/bin/false"}, ()
        return
    ends: list[int] = []
    try:
        for text in (credential.username, credential.secret):
            ends.append(_pipe_with(text))
        environment = {
            "GIT_ASKPASS": str(ASKPASS),
            "CC_ASKPASS_USERNAME": str(ends[0]),
            "CC_ASKPASS_PASSWORD": str(ends[1]),
        }
        yield environment, tuple(ends)
    finally:
        for end in ends:
            os.close(end)


def _pipe_with(text: str) -> int:
    line = text.encode() + b"\n"
    if "\n" in text or "\0" in text or len(line) > 4096:
        raise BadAddress("The credential is not one: it has several lines or is too long.")
    read_end, write_end = os.pipe()
    os.write(write_end, line)
    os.close(write_end)
    return read_end
