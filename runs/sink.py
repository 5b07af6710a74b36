"""Where a run's events go: the journal, and from there every open tab."""

import logging
from collections.abc import Sequence
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection

from harness.errors import Released
from harness.events import Delta, Event, Kind
from harness.stop import Stop
from live import TextStream
from workspaces.ids import uuid7
from workspaces.tenancy import bind

from . import journal, topics
from .broadcast import block_name
from .models import Run, RunEvent

log = logging.getLogger(__name__)
RETRY_SECONDS = 0.5
RETRIES = 100


class JournalSink:
    """The executing worker's pen: fenced, and patient while the database is away."""

    def __init__(self, run: Run, *, stop: Stop, seen: int) -> None:
        self._run, self._stop, self._seen = run, stop, seen
        self._streams: dict[tuple[int, int], TextStream] = {}
        self._own: set[int] = set()

    def record(self, *events: Event) -> int:
        """Stores the events; see `harness.seam.EventSink`. Raises Released when the run is lost."""
        ids = [uuid7() for _ in events]
        for attempt in range(RETRIES):
            try:
                last = self._record_once(events, ids, is_retry=attempt > 0)
                break
            except journal.FenceLost as error:
                raise Released(str(error)) from error
            except (OperationalError, InterfaceError) as error:
                log.warning("run %s waits for the database: %s", self._run.pk, error)
                connection.close()
                self._stop.wait(RETRY_SECONDS)
        else:
            raise Released("The database did not come back.")
        self._own.update(range(last - len(events) + 1, last + 1))
        self._end_streams(events)
        return last

    def delta(self, delta: Delta) -> None:
        """Shows a growing block."""
        key = (delta.turn, delta.index)
        stream = self._streams.get(key)
        if stream is None:
            topic = topics.run(self._run.workspace_id, self._run.pk)
            name = block_name(self._run.attempt, delta.turn, delta.index, delta.kind)
            stream = self._streams[key] = TextStream(topic, name)
        stream.write(delta.text)

    def arrived(self) -> Sequence[Event]:
        """What others wrote since the last call."""
        with bind(self._run.workspace_id):
            found = journal.read(self._run.pk, after=self._seen)
        connection.close()
        self._seen = max((event.seq or 0 for event in found), default=self._seen)
        theirs = [event for event in found if event.seq not in self._own]
        self._own = {seq for seq in self._own if seq > self._seen}
        return theirs

    def close(self) -> None:
        """Blocks that still grow are given up."""
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    def _record_once(self, events: Sequence[Event], ids: list[UUID], *, is_retry: bool) -> int:
        try:
            with bind(self._run.workspace_id):
                if is_retry:
                    stored = RunEvent.objects.filter(pk__in=ids).order_by("-seq").first()
                    if stored is not None:
                        return stored.seq
                return journal.record(self._run, events, fence=self._run.fence, ids=ids)
        finally:
            # No run holds a connection while a model, a tool or a person works.
            connection.close()

    def _end_streams(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.kind in {Kind.TEXT, Kind.THINKING, Kind.TOOL_CALL}:
                stream = self._streams.pop((event.data["turn"], event.data["index"]), None)
                if stream is not None:
                    stream.close()
            elif event.kind is Kind.ERROR and event.data.get("dropped"):
                self.close()
