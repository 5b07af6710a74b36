"""What a tab may say. Anything else is answered as malformed, whatever it is."""

import json
import re
from dataclasses import dataclass
from typing import Any

TOPIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}")
EPOCH = re.compile(r"[A-Za-z0-9]{1,40}")
MOST = 2**53 - 1


class Malformed(ValueError):
    """Not one of our words."""


@dataclass(frozen=True)
class Join:
    topic: str
    after: tuple[str, int] | None


@dataclass(frozen=True)
class Leave:
    topic: str


@dataclass(frozen=True)
class Ping:
    token: int


@dataclass(frozen=True)
class Got:
    count: int


@dataclass(frozen=True)
class Here:
    """What the person does: at which topic, whether writing, whether away from the keyboard."""

    locus: str
    typing: bool
    idle: bool


Word = Join | Leave | Ping | Got | Here


def read(text: str) -> Word:
    """The word that a tab sent; raises `Malformed`."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed from error
    match message:
        case {"join": str(topic), **rest} if rest.keys() <= {"after"}:
            return Join(topic, _after(rest.get("after")))
        case {"leave": str(topic), **rest} if not rest:
            return Leave(topic)
        case {"ping": token, **rest} if not rest:
            return Ping(_count(token))
        case {"got": count, **rest} if not rest:
            return Got(_count(count))
        case {"presence": dict(here), **rest} if not rest:
            return _here(here)
    raise Malformed


def is_topic(topic: str) -> bool:
    return TOPIC.fullmatch(topic) is not None


def _after(value: Any) -> tuple[str, int] | None:
    match value:
        case None:
            return None
        case [str(epoch), n] if EPOCH.fullmatch(epoch):
            return epoch, _count(n)
    raise Malformed


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        raise Malformed
    return value


def _here(here: dict[str, Any]) -> Here:
    match here:
        case {"locus": str(locus), "typing": bool(typing), "idle": bool(idle), **rest} if not rest:
            return Here(locus, typing, idle)
    raise Malformed
