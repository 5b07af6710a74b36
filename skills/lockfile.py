"""`skills-lock.json`: which bytes of which commit stand in a workspace, and who let them in.

The keys that the public `skills` command line reads keep their names and meaning; ours stand beside
them. A lock that cannot be read is never an empty one: it stops whoever would read a skill.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, NoReturn

from skills.scanning import Decision, File, digest

NAME = "skills-lock.json"
LOCAL = "local"  # the source type of what was written here: it has no commit
VERSION = 1
LARGEST = 16 << 20
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_HASH = re.compile(r"[0-9a-f]{64}")
_COLLATION = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"


class LockUnreadable(Exception):
    """The lock is not what this program writes: nothing may be read by it. `problems` says why."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class LockMismatch(Exception):
    """A skill on disk is not the one in the lock. `name` and `state` say which and how."""

    def __init__(self, name: str, state: "State") -> None:
        super().__init__(f"{name}: {state}")
        self.name = name
        self.state = state


class State(StrEnum):
    """How what stands on disk relates to the lock. `unrecorded`: in the lock, and the workspace has
    no row of exactly these bytes."""

    MATCHED = "matched"
    DRIFTED = "drifted"
    MISSING = "missing"
    UNLISTED = "unlisted"
    UNRECORDED = "unrecorded"


@dataclass(frozen=True, slots=True)
class Given:
    """The verdict that let a skill in. `decided_by` is a handle, or "rule" when none was asked."""

    decision: Decision
    ruleset: str
    scanned_at: datetime
    decided_by: str


@dataclass(frozen=True, slots=True)
class Pin:
    """One skill of the lock. `skill_path` is the path of its SKILL.md in the repository."""

    source: str
    source_type: str
    skill_path: str
    commit: str
    tree_sha: str
    digest: str
    computed_hash: str
    verdict: Given
    ref: str = ""
    source_url: str = ""
    previous_digest: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lock:
    """The pins of a workspace by slug."""

    pins: Mapping[str, Pin] = field(default_factory=dict)

    def with_pin(self, name: str, pin: Pin) -> "Lock":
        return Lock({**self.pins, name: pin})

    def without(self, name: str) -> "Lock":
        return Lock({key: pin for key, pin in self.pins.items() if key != name})

    def state(self, name: str, files: Mapping[str, File] | None) -> State:
        """How the files on disk (None: there is no directory) relate to the lock."""
        return self.state_of(name, None if files is None else digest(files))

    def state_of(self, name: str, found: str | None) -> State:
        """The same by the digest of the files on disk."""
        pin = self.pins.get(name)
        if pin is None:
            return State.UNLISTED
        if found is None:
            return State.MISSING
        return State.MATCHED if found == pin.digest else State.DRIFTED

    def require(self, name: str, files: Mapping[str, File] | None) -> Pin:
        """The pin of exactly these files; raises LockMismatch for anything else."""
        state = self.state(name, files)
        if state is not State.MATCHED:
            raise LockMismatch(name, state)
        return self.pins[name]


def dump(lock: Lock) -> bytes:
    """The lock as UTF-8 JSON: keys sorted, two blanks, one final newline."""
    skills = {name: _pin_json(pin) for name, pin in lock.pins.items()}
    text = json.dumps(
        {"version": VERSION, "skills": skills}, indent=2, sort_keys=True, ensure_ascii=False
    )
    return (text + "\n").encode()


def parse(data: bytes) -> Lock:
    """The lock that the bytes hold; raises LockUnreadable for everything that is not one whole."""
    if len(data) > LARGEST:
        raise LockUnreadable(f"larger than {LARGEST} bytes")
    try:
        top = json.loads(data.decode(), object_pairs_hook=_no_doubles, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise LockUnreadable(f"no JSON: {error}") from error
    if not isinstance(top, dict) or set(top) != {"version", "skills"}:
        raise LockUnreadable("not of the form {version, skills}")
    if top["version"] != VERSION or isinstance(top["version"], bool):
        raise LockUnreadable(f"version {top['version']!r}, only {VERSION} is known")
    if not isinstance(top["skills"], dict):
        raise LockUnreadable("skills is no map")
    problems: list[str] = []
    pins = {name: _read_pin(name, said, problems) for name, said in top["skills"].items()}
    if problems:
        raise LockUnreadable(*problems)
    return Lock({name: pin for name, pin in pins.items() if pin is not None})


def computed_hash(files: Mapping[str, File]) -> str:
    """The hash of the public command line: SHA-256 over path and bytes, in its own order.

    It tells two trees apart only roughly (it has no lengths); `digest` is the one to trust.
    """
    total = sha256()
    for path in sorted(files, key=_collated):
        total.update(path.encode("utf-8", "surrogateescape") + files[path].data)
    return total.hexdigest()


def _pin_json(pin: Pin) -> dict[str, Any]:
    said = {
        **pin.extra,
        "source": pin.source,
        "sourceType": pin.source_type,
        "sourceUrl": pin.source_url,
        "ref": pin.ref,
        "skillPath": pin.skill_path,
        "computedHash": pin.computed_hash,
        "commit": pin.commit,
        "treeSha": pin.tree_sha,
        "digest": pin.digest,
        "previousDigest": pin.previous_digest,
    }
    return {
        **{key: value for key, value in said.items() if value != ""},
        "verdict": {
            "decision": pin.verdict.decision.value,
            "ruleset": pin.verdict.ruleset,
            "scannedAt": pin.verdict.scanned_at.isoformat(),
            "decidedBy": pin.verdict.decided_by,
        },
    }


_KNOWN = {"source", "sourceType", "sourceUrl", "ref", "skillPath", "computedHash", "commit",
          "treeSha", "digest", "previousDigest", "verdict"}  # fmt: skip


def _read_pin(name: str, said: object, problems: list[str]) -> Pin | None:
    before = len(problems)
    if not _SLUG.fullmatch(name):
        problems.append(f"{name!r} is no name of a skill")
    if not isinstance(said, dict):
        problems.append(f"{name}: no map")
        return None
    for key, pattern, needed in (
        ("source", None, True),
        ("sourceType", None, True),
        ("skillPath", None, True),
        ("computedHash", _HASH, True),
        ("commit", _COMMIT, said.get("sourceType") != LOCAL),
        ("treeSha", _COMMIT, True),
        ("digest", _DIGEST, True),
        ("previousDigest", _DIGEST, False),
        ("ref", None, False),
        ("sourceUrl", None, False),
    ):
        value = said.get(key, "")
        if (
            not isinstance(value, str)
            or needed
            and not value
            or pattern
            and value
            and not pattern.fullmatch(value)
        ):
            problems.append(f"{name}: {key} is {'missing' if key not in said else 'not valid'}")
    if _leaves(said.get("skillPath")):
        problems.append(f"{name}: skillPath leaves the repository")
    given = _read_given(name, said.get("verdict"), problems)
    if len(problems) > before or given is None:
        return None
    return Pin(
        source=said["source"], source_type=said["sourceType"], skill_path=said["skillPath"],
        commit=said.get("commit", ""), tree_sha=said["treeSha"], digest=said["digest"],
        computed_hash=said["computedHash"], verdict=given, ref=said.get("ref", ""),
        source_url=said.get("sourceUrl", ""), previous_digest=said.get("previousDigest", ""),
        extra={key: value for key, value in said.items() if key not in _KNOWN},
    )  # fmt: skip


def _read_given(name: str, said: object, problems: list[str]) -> Given | None:
    """The verdict of a pin; a refused skill has no place in a lock."""
    try:
        if not isinstance(said, dict) or set(said) != {
            "decision",
            "ruleset",
            "scannedAt",
            "decidedBy",
        }:
            raise ValueError("verdict is missing or not whole")
        given = Given(
            Decision(said["decision"]),
            _text(said["ruleset"]),
            datetime.fromisoformat(_text(said["scannedAt"])),
            _text(said["decidedBy"]),
        )
        if given.decision is not Decision.ACCEPTED:
            raise ValueError(f"verdict is {given.decision}")
        if given.scanned_at.tzinfo is None:
            raise ValueError("scannedAt has no time zone")
    except ValueError as error:
        problems.append(f"{name}: {error}")
        return None
    return given


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("verdict is not whole")
    return value


def _leaves(path: object) -> bool:
    if not isinstance(path, str):
        return False
    return path.startswith("/") or "\\" in path or ".." in path.split("/")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _collated(path: str) -> tuple[list[tuple[int, str]], list[bool]]:
    """JavaScript's `localeCompare` for the characters that paths are made of: punctuation, digits,
    letters without regard to case; lower case first among equals."""
    primary = [
        (_COLLATION.index(char), "") if char in _COLLATION else (len(_COLLATION), char.lower())
        for char in path
    ]
    return primary, [char.isupper() for char in path]
