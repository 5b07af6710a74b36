"""The JSON of a request. A conversation only grows, so what stood before is not written again."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.conversation import Turn


class MessageCache:
    """Messages of a conversation as JSON. Turns are compared by identity: the harness keeps those
    that are behind."""

    def __init__(self, write: Callable[[Turn], Sequence[Mapping[str, Any]]]) -> None:
        self._write = write
        self._known: list[tuple[Turn, bytes]] = []

    def encode(self, turns: Sequence[Turn]) -> bytes:
        """The messages, with commas between them."""
        for index, turn in enumerate(turns):
            if index == len(self._known):
                self._known.append((turn, self._json(turn)))
            elif self._known[index][0] is not turn:
                self._known[index:] = [(turn, self._json(turn))]
        del self._known[len(turns) :]
        return b",".join(data for _, data in self._known)

    def _json(self, turn: Turn) -> bytes:
        return b",".join(dumps(message) for message in self._write(turn))


def dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def with_messages(body: Mapping[str, Any], *messages: bytes) -> bytes:
    """The request's JSON: `body` and the messages, which are JSON already."""
    return dumps(body)[:-1] + b',"messages":[' + b",".join(m for m in messages if m) + b"]}"
