"""How a run ends: one small family. The runner catches `RunEnded`; anything else is a bug.

RunEnded
  Finished        the run is over: state + terminal reason
    Completed  Cancelled  Denied  MaxTurns  MaxTime  Silent  ContractUnmet  Looping
    BudgetSpent  ProviderFailed  ProviderRefused  DiskFull
  Parked          written down, waits for an approval, a child, a person or a pause
  Released        the worker stops or lost its lease: someone else goes on from the journal
"""

from enum import StrEnum
from typing import ClassVar, Literal

from harness import events


class TerminalReason(StrEnum):
    COMPLETED = "completed"
    PARTIAL_API_ERROR = "partial_api_error"
    API_ERROR = "api_error"
    DENIED = "denied"
    MAX_TURNS = "max_turns"
    MAX_TIME = "max_time"
    SILENCE = "silence"
    CONTRACT = "contract"
    CANCELLED_BY_USER = "cancelled_by_user"
    STOPPED_BY_MODEL = "stopped_by_model"
    LIMIT = "limit"
    ERROR = "error"
    WORKER_LOST = "worker_lost"
    BUDGET = "budget"
    LOOP = "loop"
    PROVIDER_REFUSED = "provider_refused"
    DISK_FULL = "disk_full"


FinalState = Literal["succeeded", "failed", "cancelled"]
WaitingFor = Literal["approval", "child", "person", "pause"]


class RunEnded(Exception):  # an end, not an error
    """The adapter has nothing more to do for now; everything worth keeping is in the journal."""

    def __init__(self, summary: str = "") -> None:
        super().__init__(summary)
        self.summary = summary


class Finished(RunEnded):
    state: FinalState = "failed"
    reason: TerminalReason = TerminalReason.ERROR

    def event(self) -> events.Event:
        """The `done` event; the runner records it in the transaction that moves the state."""
        return events.done(self.state, self.reason.value, self.summary)


class Completed(Finished):
    """`summary` is the agent's last text.

    `seen` is the last seq the agent had read. The runner compares it with the run's cursor in the
    transaction that ends the run: when someone wrote meanwhile, the run goes on instead.
    """

    state: FinalState = "succeeded"
    reason = TerminalReason.COMPLETED

    def __init__(self, summary: str = "", *, seen: int = 0) -> None:
        super().__init__(summary)
        self.seen = seen


class Cancelled(Finished):
    state: FinalState = "cancelled"

    def __init__(
        self,
        summary: str = "",
        *,
        reason: TerminalReason = TerminalReason.CANCELLED_BY_USER,
    ) -> None:
        super().__init__(summary)
        self.reason = reason


class Denied(Finished):
    reason = TerminalReason.DENIED


class MaxTurns(Finished):
    reason = TerminalReason.MAX_TURNS


class MaxTime(Finished):
    reason = TerminalReason.MAX_TIME


class Silent(Finished):
    reason = TerminalReason.SILENCE


class ContractUnmet(Finished):
    """The run insisted once and still ends without its deliverable; `summary` names it."""

    reason = TerminalReason.CONTRACT


class Looping(Finished):
    reason = TerminalReason.LOOP


class BudgetSpent(Finished):
    reason = TerminalReason.BUDGET


class ProviderRefused(Finished):
    """The model declined, or the provider will not have this request: trying again is no use."""

    reason = TerminalReason.PROVIDER_REFUSED


class ProviderFailed(Finished):
    """The provider could not be used after all attempts. `partial`: some work was done."""

    def __init__(self, summary: str = "", *, partial: bool = False) -> None:
        super().__init__(summary)
        self.reason = TerminalReason.PARTIAL_API_ERROR if partial else TerminalReason.API_ERROR


class DiskFull(Finished):
    reason = TerminalReason.DISK_FULL


class Parked(RunEnded):
    """The slot is free. `waiting_for` goes to the run's row; a wake re-queues it."""

    def __init__(
        self, waiting_for: WaitingFor, *, summary: str = "", ids: tuple[str, ...] = ()
    ) -> None:
        super().__init__(summary)
        self.waiting_for = waiting_for
        self.ids = ids  # approvals or child runs it waits for


class Released(RunEnded):
    """Stopped in the middle for the worker's own reasons; the run stays in progress."""

    cause: ClassVar[str] = "worker"
