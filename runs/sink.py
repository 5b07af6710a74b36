"""Where a run's events go: the journal, and from there every open tab."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, OperationalError

from harness.errors import Released
from harness.events import Delta, Event, Kind
from workspaces.ids import uuid7
from workspaces.tenancy import bind

from . import journal, topics
from .broadcast import block_name, speaker
from .growing import Growing
from .keeper import Held, do_nothing
from .patience import patiently
from .transcript import Calls

Place = tuple[int, int, str]  # turn, index, kind of what grows
BLOCKS = frozenset({Kind.TEXT, Kind.THINKING, Kind.TOOL_CALL})


class JournalSink:
    """The executing worker's pen: fenced, and patient while the database is away."""

    def __init__(self, held: Held, history: Sequence[Event] = ()) -> None:
        self._held, self._run = held, held.run
        self._seen = max((event.seq or 0 for event in history), default=0)
        self._calls = Calls(history)
        self._streams: dict[Place, Growing] = {}
        self._printing: dict[str, Place] = {}  # by call
        self._own: set[int] = set()
        held.tick = self._show_growing

    def record(self, *events: Event) -> int:
        """Stores the events; see `harness.seam.EventSink`. Raises Released when the run is lost."""
        ids = [uuid7() for _ in events]
        try:
            last = patiently(self._held, lambda is_retry: self._record(events, ids, is_retry))
        except journal.FenceLost as error:
            raise Released(str(error)) from error
        self._own.update(range(last - len(events) + 1, last + 1))
        self._end_streams(events)
        self._note(events)
        return last

    def delta(self, delta: Delta) -> None:
        """Shows a growing block."""
        key = (delta.turn, delta.index, delta.kind)
        stream = self._streams.get(key)
        if stream is None:
            topic = topics.run(self._run.workspace_id, self._run.pk)
            name = block_name(self._run.attempt, delta.turn, delta.index, delta.kind)
            stream = self._streams[key] = Growing(topic, name)
            if delta.call_id:
                self._printing[delta.call_id] = key
        stream.write(delta.text)
        self._held.had_output = True

    def arrived(self) -> Sequence[Event]:
        """What others wrote since the last call."""
        found = patiently(self._held, lambda _is_retry: self._read())
        self._seen = max((event.seq or 0 for event in found), default=self._seen)
        theirs = [event for event in found if event.seq not in self._own]
        self._own = {seq for seq in self._own if seq > self._seen}
        for event in theirs:
            self._calls.take(event)
        return theirs

    def close(self) -> None:
        """Blocks that still grow are given up; the tabs have been told of all that is stored."""
        self._held.tick = do_nothing
        self._give_up()
        speaker().flush()

    def _give_up(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    def _show_growing(self) -> None:
        for stream in list(self._streams.values()):
            stream.show()

    def _read(self) -> list[Event]:
        with bind(self._run.workspace_id):
            return journal.read(self._run.pk, after=self._seen)

    def _record(self, events: Sequence[Event], ids: list[UUID], is_retry: bool) -> int:
        if is_retry and (last := self._stored(ids)):
            return last
        try:
            return journal.record(
                self._run, events, fence=self._run.fence, ids=ids, calls=self._calls
            )
        except IntegrityError as error:
            if not is_retry:
                raise
            raise OperationalError("The first attempt was on its way to its commit.") from error

    def _stored(self, ids: list[UUID]) -> int:
        with bind(self._run.workspace_id):
            return journal.repeat(self._run, ids, calls=self._calls)

    def _note(self, events: Sequence[Event]) -> None:
        """What the agent does now, for the presence list."""
        kinds = [event.kind for event in events]
        self._held.doing = "running" if kinds[-1:] == [Kind.TOOL_START] else "thinking"

    def _end_streams(self, events: Sequence[Event]) -> None:
        for event in events:
            data = event.data
            if event.kind in BLOCKS:
                self._end_stream((data["turn"], data["index"], event.kind.value))
            elif event.kind is Kind.TOOL_RESULT and data["call_id"] in self._printing:
                self._end_stream(self._printing.pop(data["call_id"]))
            elif event.kind is Kind.ERROR and data.get("dropped"):
                self._give_up()

    def _end_stream(self, place: Place) -> None:
        stream = self._streams.pop(place, None)
        if stream is not None:
            stream.close()
