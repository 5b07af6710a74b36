"""Who is here and what they do: people and agents in one list, kept in Valkey only.

A *row* is one tab of a person or one run of an agent, with an expiry of its own, so that nothing
stays behind a process that died. An *entry* is what a reader sees: one per person or agent, made
of its rows by `merge`. A *scope* is the circle that sees the list (a workspace's id).
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from live import scripts, valkey, wire
from live.later import later
from live.limits import limits
from live.publish import after_commit, guarded

Kind = Literal["human", "agent"]
AgentState = Literal["thinking", "running", "blocked", "done"]

# A crowd of this size is still fanned out every 100 ms; a larger one more seldom.
ROWS_PER_WINDOW = 100
ENTRIES_A_MESSAGE = 100


@dataclass(frozen=True)
class Row:
    """`source` is the tab or the run; `since` orders the rows of one principal (milliseconds);
    `version` orders the news about one row."""

    kind: Kind
    id: str
    source: str
    state: str
    locus: str = ""
    typing: bool = False
    is_private: bool = False
    since: int = 0
    version: int = 0

    @property
    def member(self) -> str:
        return f"{self.kind}|{self.id}|{self.source}"

    def encode(self) -> str:
        return wire.encode({"v": self.version, **asdict(self)})

    @classmethod
    def decode(cls, text: bytes) -> "Row":
        values = json.loads(text)
        del values["v"]
        return cls(**values)


@dataclass(frozen=True)
class Entry:
    """`run` is the agent's representative run; empty for a person."""

    kind: Kind
    id: str
    state: str
    locus: str = ""
    typing: bool = False
    run: str = ""
    is_private: bool = False


def topic(scope: str) -> str:
    return f"w/{scope}/presence"


def merge(rows: Iterable[Row]) -> list[Entry]:
    """One entry for each principal, people first, then by id.

    A person is where the tab is that was used last, an active one before an idle one. An agent
    shows one representative run: a live one before a finished one, then the latest start, then
    the id."""
    found: dict[tuple[Kind, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.kind, row.id].append(row)
    order = sorted(found, key=lambda key: (key[0] == "agent", key[1]))
    return [_entry(max(found[key], key=_weight)) for key in order]


def set_agent(
    scope: str,
    agent: str,
    state: AgentState,
    *,
    run: str,
    started: int,
    locus: str = "",
    is_private: bool = False,
    seq: int = 0,
) -> None:
    """After the commit, every reader of the scope sees what the agent does.

    One call for each run of the agent that changes; readers see the representative one.
    `started`: when the run began, in milliseconds. `seq`: the run's event behind this; news
    older than what is known changes nothing. `locus`: the topic where it works.
    The row runs out after 30 s: the runner repeats it with its heartbeat, and the sweeper does so
    for a parked run, which no worker holds. `done` stays for 20 s by itself. Never raises."""
    row = Row("agent", agent, run, state, locus, False, is_private, started, seq)
    seconds = limits().done_seconds if state == "done" else limits().expiry_seconds
    note: wire.Control = ("presence", f"{scope} {row.member}")
    after_commit(lambda: guarded(note, lambda: put(scope, [row], seconds), again=True))


def snapshot(scope: str) -> list[Entry]:
    """The list as it is now, private places included: the caller decides what it shows to whom.
    Empty when Valkey does not answer."""
    try:
        rows = _script(scripts.ROWS)(keys=_keys(scope)[:2])
    except valkey.DOWN:
        return []
    return merge(map(Row.decode, rows))


def public(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """The payload of the scope's topic: a private place is left out, its people are not."""
    hidden = {"locus": "", "typing": False, "run": ""}
    return [_seen(entry) | (hidden if entry.is_private else {}) for entry in entries]


def parts(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The list as the data of one or more messages; part 0 begins it anew."""
    starts = range(0, len(seen), ENTRIES_A_MESSAGE) or [0]
    return [
        {"entries": seen[start : start + ENTRIES_A_MESSAGE], "part": part}
        for part, start in enumerate(starts)
    ]


def put(scope: str, rows: list[Row], seconds: float) -> None:
    """The rows are there for `seconds`; readers hear of it if something changed."""
    if not rows:
        return
    args: list[str | int] = [int(seconds * 1000)]
    for row in rows:
        args += [row.member, row.encode()]
    if _script(scripts.PUT)(keys=_keys(scope)[:2], args=args):
        fan_out(scope)


def linger(scope: str, members: list[str], seconds: float) -> None:
    """The rows end in `seconds`: long enough for a person who only turns a page."""
    _script(scripts.LINGER)(keys=_keys(scope)[:1], args=[int(seconds * 1000), *members])
    later(seconds + 0.05, lambda: guarded(("resync", topic(scope)), lambda: sweep(scope)))


def sweep(scope: str) -> None:
    """Readers hear of rows that ran out, whoever left them behind."""
    if _script(scripts.EXPIRED)(keys=_keys(scope)[:1]):
        fan_out(scope)


def fan_out(scope: str) -> None:
    """The readers of the scope get the whole list, at most once a window over all processes; what
    comes inside a window is sent at its end."""
    window = limits().fan_out_seconds
    rows = _script(scripts.GATE)(keys=_keys(scope), args=[int(window * 1000), ROWS_PER_WINDOW])
    if rows is None:
        later(window, lambda: guarded(("resync", topic(scope)), lambda: _catch_up(scope)))
        return
    entries = merge(map(Row.decode, rows))
    if not _is_news(scope, entries):
        return
    where = topic(scope)
    for part in parts(public(entries)):
        wire.send(where, wire.head(where, "presence", data=part), None)
    _tell_private_places(scope, entries)


def _is_news(scope: str, entries: list[Entry]) -> bool:
    """Whether the list differs from the one that was told last: a turned page is no news."""
    text = wire.encode([asdict(entry) for entry in entries])
    digest = hashlib.sha256(text.encode()).hexdigest()
    known: Any = valkey.client().set(f"live:presence:{scope}:told", digest, get=True, ex=3600)
    return known is None or known.decode() != digest


def _catch_up(scope: str) -> None:
    if valkey.client().exists(_keys(scope)[3]):
        fan_out(scope)


def _tell_private_places(scope: str, entries: list[Entry]) -> None:
    """Who is in a private place is told there, with the list of those who are in it."""
    places: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.is_private and entry.locus:
            places[entry.locus].append(entry)
    known = f"live:presence:{scope}:private"
    before: set[Any] = set(valkey.client().smembers(known))
    left = {place.decode() for place in before} - set(places)
    for place in [*places, *left]:
        for part in parts([_seen(entry) for entry in places.get(place, [])]):
            wire.send_ephemeral(place, "presence", part)
    if left:
        valkey.client().srem(known, *left)
    if places:
        valkey.client().sadd(known, *places)


def _weight(row: Row) -> tuple[Any, ...]:
    if row.kind == "agent":
        return (row.state != "done", row.since, row.source)
    return (row.state == "online", row.version, row.source)


def _entry(row: Row) -> Entry:
    run = row.source if row.kind == "agent" else ""
    return Entry(row.kind, row.id, row.state, row.locus, row.typing, run, row.is_private)


def _seen(entry: Entry) -> dict[str, Any]:
    seen = asdict(entry)
    del seen["is_private"]
    return seen


def _keys(scope: str) -> list[str]:
    """Expiries, rows, the gate of the fan-out, the note that more has happened since."""
    return [f"live:presence:{scope}:{name}" for name in ("until", "rows", "gate", "more")]


def _script(text: str) -> Any:
    return valkey.client().register_script(text)
