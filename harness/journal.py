"""The run's journal as the loop holds it: what is stored, plus what it records itself."""

from collections.abc import Sequence

from harness.conversation import Conversation, Turn, complete_turns, seq_of
from harness.events import Delta, Event, Kind
from harness.seam import EventSink


class RunJournal:
    """Events in order of seq. Whatever is in here is stored; what is not never happened."""

    def __init__(self, history: Sequence[Event], sink: EventSink) -> None:
        self.events = sorted(history, key=seq_of)
        self._sink = sink
        self._others_wrote = True  # before the first look nobody knows
        self._conversation = Conversation()
        self._read = 0  # how many events the conversation has taken
        self.turn_count = len(complete_turns(self.events))

    @property
    def last_seq(self) -> int:
        return seq_of(self.events[-1]) if self.events else 0

    @property
    def last_turn(self) -> int:
        """Number of the last model turn that was begun, whether it came to its end or not."""
        return max((e.data["turn"] for e in self.events if "turn" in e.data), default=0)

    def conversation(self) -> tuple[Turn, ...]:
        """What the model reads now, with what others have written up to now."""
        self.take_in()
        for event in self.events[self._read :]:
            self._conversation.take(event)
        self._read = len(self.events)
        return self._conversation.turns()

    def record(self, *events: Event) -> None:
        """Stored when it returns, in one transaction."""
        last = self._sink.record(*events)
        first = last - len(events) + 1
        if first != self.last_seq + 1:
            self._others_wrote = True
        self.events += [event.at(seq) for seq, event in enumerate(events, first)]
        self.turn_count += sum(event.kind is Kind.USAGE for event in events)

    def take_in(self, *, look: bool = False) -> bool:
        """Adds what others wrote meanwhile; says whether there was any. `look` asks in any case."""
        if not (self._others_wrote or look):
            return False
        self._others_wrote = False
        known = {seq_of(event) for event in self.events}
        new = [event for event in self._sink.arrived() if seq_of(event) not in known]
        if new:
            self.events = sorted([*self.events, *new], key=seq_of)
            self._conversation, self._read = Conversation(), 0
        return bool(new)

    def delta(self, delta: Delta) -> None:
        self._sink.delta(delta)

    def last(self, kind: Kind) -> Event | None:
        return next((e for e in reversed(self.events) if e.kind is kind), None)

    def place_of(self, call_id: str) -> tuple[int, int]:
        """(turn, index) of the block that made the call."""
        for event in reversed(self.events):
            if event.kind is Kind.TOOL_CALL and event.data["call_id"] == call_id:
                return event.data["turn"], event.data["index"]
        return 0, 0
