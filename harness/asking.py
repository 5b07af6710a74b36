"""One model turn: asked, retried, shown while it grows, recorded when it stands."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import conversation, errors, events
from harness.catalogue import Model, chain, shipped
from harness.events import Delta, Event, Kind
from harness.journal import RunJournal
from harness.providers.clients import make_client
from harness.providers.errors import ProviderError, Voice
from harness.seam import (
    DEFAULT_MODEL,
    BlockDone,
    CallPiece,
    ModelClient,
    ModelRequest,
    Ports,
    RunSpec,
    TextPiece,
    ThinkingPiece,
    ToolSchema,
    TurnDone,
)
from harness.text import storable
from outside.sentences import phrase

OUTPUT_TOKENS = 32_000


@dataclass
class TurnEnd:
    """How a model turn ended. `text` is what it said, `used_tokens` what is in its context now."""

    stop_reason: str = "other"
    text: str = ""
    calls: int = 0
    used_tokens: int = 0


@dataclass
class _Turn:
    """A turn in the making."""

    number: int
    seen: int
    provider: str
    waiting: list[Event] = field(default_factory=list)  # blocks that stand and are not stored yet
    end: TurnEnd = field(default_factory=TurnEnd)
    is_shown: bool = False  # somebody may have seen a part of it


class Asker:
    """Asks the models of the run's chain. One per attempt: it holds their connections."""

    def __init__(self, spec: RunSpec, ports: Ports, journal: RunJournal) -> None:
        self._spec = spec
        self._ports = ports
        self._journal = journal
        self._clients: dict[str, ModelClient] = dict(ports.models or {})
        self._chain = _chain(spec.model or DEFAULT_MODEL)
        self._link = 0  # of the chain; a model that failed for good is not asked again
        self._turns = journal.last_turn
        self._call_ids = {e.data["call_id"] for e in journal.events if e.kind is Kind.TOOL_CALL}

    @property
    def model(self) -> Model:
        """The model that is asked next."""
        provider, name = self._chain[self._link]
        known = self._spec.catalogue or shipped()
        found = known.find(provider, name)
        settings = self._spec.providers.get(provider)
        return found if found.is_known or not settings else known.find(settings.kind, name)

    @property
    def window(self) -> int:
        return self._spec.context_size or self.model.context

    def ask(
        self, system: Sequence[str], tools: Sequence[ToolSchema], *, extra: str = ""
    ) -> TurnEnd:
        """One turn, stored. With `extra` (a question of ours) only its usage is stored.

        Raises ProviderError `context_overflow` or `thinking_mismatch` for the loop to mend, and a
        RunEnded when no model of the chain could be used.
        """
        while True:
            try:
                return self._with_retries(system, tools, extra)
            except ProviderError as problem:
                if problem.code in ("context_overflow", "thinking_mismatch"):
                    raise
                is_last = self._link + 1 == len(self._chain)
                self._journal.record(self._error(problem, ends=is_last))
                if is_last:
                    raise self._ended(problem) from problem
                self._link += 1
                name = "/".join(self._chain[self._link])
                self._journal.record(
                    events.notice(
                        phrase("Going on with %(model)s.") % {"model": name},
                        level="warning",
                        code="fallback",
                    )
                )

    def close(self) -> None:
        for name, client in self._clients.items():
            if name not in (self._ports.models or {}):
                client.close()

    def _with_retries(
        self, system: Sequence[str], tools: Sequence[ToolSchema], extra: str
    ) -> TurnEnd:
        attempt = 1
        while True:
            try:
                return self._once(system, tools, extra)
            except ProviderError as problem:
                delay = self._delay(problem, attempt)
                if delay is None:
                    raise
                self._journal.record(self._error(problem, attempt=attempt, retry_in=delay))
                self._ports.stop.wait(delay)
                attempt += 1

    def _delay(self, problem: ProviderError, attempt: int) -> float | None:
        """Seconds until the next attempt; None when there is none."""
        limits = self._spec.limits
        if not problem.is_retried or attempt >= limits.max_attempts:
            return None
        asked = problem.retry_after_seconds
        if asked is not None:
            return asked if asked <= limits.retry_after_cap_seconds else None
        backoff: float = limits.backoff_seconds * 2 ** (attempt - 1)
        return min(backoff, limits.backoff_cap_seconds) * random.uniform(0.75, 1.25)

    def _once(self, system: Sequence[str], tools: Sequence[ToolSchema], extra: str) -> TurnEnd:
        request = self._request(system, tools, extra)
        self._turns += 1
        client = self._client()
        turn = _Turn(self._turns, self._journal.last_seq, client.kind)
        started = time.monotonic()
        try:
            for piece in client.stream(request, self._ports.stop):
                if isinstance(piece, TurnDone):
                    self._finish(turn, piece, started, keeps=not extra)
                elif not extra:
                    self._take(turn, piece)
                elif isinstance(piece, TextPiece):
                    turn.end.text += piece.text
        except ProviderError as problem:
            problem.dropped_turn = turn.number if turn.is_shown else None
            raise
        return turn.end

    def _request(
        self, system: Sequence[str], tools: Sequence[ToolSchema], extra: str
    ) -> ModelRequest:
        turns = self._journal.conversation()
        if extra:
            last = turns[-1]
            assert isinstance(last, conversation.UserTurn)
            asked = conversation.UserTurn(last.results, (*last.texts, extra))
            turns = (*turns[:-1], asked)
        model = self.model
        return ModelRequest(
            model=model.name,
            system=tuple(system),
            messages=turns,
            tools=tuple(tools),
            max_output_tokens=min(model.output, OUTPUT_TOKENS),
            effort=model.effort(self._spec.effort),
            thinking=model.thinking,
        )

    def _client(self) -> ModelClient:
        provider, model = self._chain[self._link]
        if provider not in self._clients:
            settings = self._spec.providers.get(provider)
            if settings is None:
                raise Voice(provider, model, "").error("not_configured")
            self._clients[provider] = make_client(settings)
        return self._clients[provider]

    def _take(self, turn: _Turn, piece: TextPiece | ThinkingPiece | CallPiece | BlockDone) -> None:
        if isinstance(piece, BlockDone):
            turn.waiting.append(self._block(turn, piece))
            return
        # The block before stands for good once the next one begins; until the end of the turn it
        # would otherwise be missing for whoever looks at the run now.
        if turn.waiting:
            self._journal.record(*turn.waiting)
            turn.waiting = []
        turn.is_shown = True
        self._journal.delta(Delta(turn.number, piece.index, _KINDS[type(piece)], piece.text))

    def _block(self, turn: _Turn, piece: BlockDone) -> Event:
        data: dict[str, Any] = {
            "block": storable(piece.block),
            "provider": turn.provider,
            "turn": turn.number,
            "index": piece.index,
            "seen": turn.seen,
        }
        if piece.kind == "text":
            text = str(piece.block.get("text", ""))
            turn.end.text = f"{turn.end.text}\n\n{text}" if turn.end.text else text
        elif piece.kind == "tool_call":
            turn.end.calls += 1
            data |= self._call(turn, piece, data["block"])
        return Event(Kind(piece.kind), data)

    def _call(self, turn: _Turn, piece: BlockDone, block: Mapping[str, Any]) -> dict[str, Any]:
        call_id = piece.call_id
        if not call_id or call_id in self._call_ids:
            # Some servers count their calls from zero in each answer.
            call_id = f"call_{turn.number}_{piece.index}"
            block = {**block, "id": call_id}
        self._call_ids.add(call_id)
        found: dict[str, Any] = {
            "block": block,
            "call_id": call_id,
            "name": storable(piece.name),
            "input": storable(piece.input or {}),
        }
        return {**found, "invalid": piece.invalid} if piece.invalid else found

    def _finish(self, turn: _Turn, done: TurnDone, started: float, *, keeps: bool) -> None:
        usage = done.usage
        turn.end.stop_reason = done.stop_reason
        turn.end.used_tokens = (
            usage.input_tokens
            + usage.cache_read_tokens
            + usage.cache_write_tokens
            + usage.output_tokens
        )
        model = self.model
        data: events.UsageData = {
            "turn": turn.number,
            "model": done.model or model.name,
            "provider": self._chain[self._link][0],
            "message_id": done.message_id,
            "stop_reason": done.stop_reason,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "cost_microusd": model.cost_microusd(usage),
            "duration_ms": round((time.monotonic() - started) * 1000),
        }
        self._journal.record(*(turn.waiting if keeps else ()), Event(Kind.USAGE, data))
        turn.waiting = []

    def _error(
        self,
        problem: ProviderError,
        *,
        attempt: int = 0,
        retry_in: float | None = None,
        ends: bool = False,
    ) -> Event:
        data: events.ErrorData = {
            "source": "provider",
            "code": problem.code,
            "text": problem.text.mapped(storable),
        }
        if ends:
            data["ends"] = True
        if problem.status:
            data["status"] = problem.status
        if retry_in is not None:
            data["attempt"] = attempt
            data["retry_in_seconds"] = round(retry_in, 3)
        if problem.dropped_turn:
            data["dropped"] = True
            data["turn"] = problem.dropped_turn
        return events.error(data)

    def _ended(self, problem: ProviderError) -> errors.RunEnded:
        if not problem.is_retried:
            return errors.ProviderRefused(problem.text)
        return errors.ProviderFailed(problem.text, partial=self._journal.turn_count > 0)


def _chain(model: str) -> tuple[tuple[str, str], ...]:
    try:
        return chain(model)
    except ValueError as problem:
        words = phrase("The run cannot start: %(why)s.")
        raise errors.Finished(words % {"why": str(problem)}) from problem


_KINDS: dict[type, Any] = {TextPiece: "text", ThinkingPiece: "thinking", CallPiece: "tool_call"}
