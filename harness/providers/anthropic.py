"""Anthropic's Messages, streamed through the official client.

The client makes the request (address, key, headers, errors); the events of the answer are read as
plain JSON, so that blocks are stored exactly as they came, signatures included.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from harness.conversation import AgentTurn, Block, Turn, UserTurn
from harness.providers import wire
from harness.providers.encoding import MessageCache, dumps, with_messages
from harness.providers.errors import ProviderError, Voice
from harness.seam import (
    BlockDone,
    CallPiece,
    ModelRequest,
    Piece,
    ProviderKind,
    ProviderSettings,
    TextPiece,
    ThinkingPiece,
    TurnDone,
    Usage,
)
from harness.stop import Stop

if TYPE_CHECKING:
    import anthropic

KIND: ProviderKind = "anthropic"
CACHED = {"type": "ephemeral"}
NO_ANSWER = "(no answer)"

StopReason = Literal["end", "tools", "max_tokens", "refusal", "overflow", "other"]
STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}


class AnthropicClient:
    """One a run: it holds the run's connection, so that a stop can shut it."""

    kind: ProviderKind = KIND

    def __init__(self, settings: ProviderSettings) -> None:
        import anthropic  # two seconds of import, for those who use it

        self._settings = settings
        self._sockets = wire.Sockets()
        self._messages = MessageCache(lambda turn: [_message(turn)])
        self._client = anthropic.Anthropic(
            api_key=settings.api_key or "none",
            base_url=wire.address(settings),
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(
                **wire.client_options(settings, self._sockets)
            ),
        )

    def stream(self, request: ModelRequest, stop: Stop) -> Iterator[Piece]:
        voice = Voice(self._settings.name, request.model, KIND)
        stop.check()
        with stop.closing(self._sockets.shut):
            try:
                yield from self._pieces(request, voice)
            except ProviderError:
                stop.check()
                raise
            except Exception as problem:
                stop.check()
                raise _translated(problem, voice) from problem

    def _pieces(self, request: ModelRequest, voice: Voice) -> Iterator[Piece]:
        import anthropic  # imported already, by the client

        # The client's own way from arguments to bytes copies the whole conversation each time.
        answer = self._client.post(
            "/v1/messages",
            content=self._encode(request),
            cast_to=object,
            stream=True,
            stream_cls=anthropic.Stream[object],
        )
        with answer:
            yield from wire.pieces(answer.response, _Reader(voice), voice)

    def _encode(self, request: ModelRequest) -> bytes:
        past, last = request.messages[:-1], _message(request.messages[-1])
        last["content"][-1]["cache_control"] = CACHED
        return with_messages(body(request), self._messages.encode(past), dumps(last))

    def models(self) -> tuple[str, ...]:
        """Names the provider lists. Raises ProviderError."""
        voice = Voice(self._settings.name, "", KIND)
        try:
            return tuple(model.id for model in self._client.models.list(timeout=10.0).data)
        except Exception as problem:
            raise _translated(problem, voice) from problem

    def close(self) -> None:
        self._client.close()


# The request


def body(request: ModelRequest) -> dict[str, Any]:
    """The request but for its messages. Cache breakpoints: after the stable part of the system
    prompt (tools stand before it), at its end, and at the end of the conversation."""
    found: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "system": [
            {"type": "text", "text": text, "cache_control": CACHED} for text in request.system
        ],
        "stream": True,
    }
    if request.tools:
        found["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.input_schema)}
            for t in request.tools
        ]
    if request.thinking == "adaptive":
        # Without a display the words between two tool calls would come back empty.
        found["thinking"] = {"type": "adaptive", "display": "summarized"}
    if request.effort:
        found["output_config"] = {"effort": request.effort}
    return found


def _message(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, UserTurn):
        return {"role": "user", "content": _user_content(turn)}
    return {"role": "assistant", "content": _agent_content(turn)}


def _user_content(turn: UserTurn) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [
        {
            "type": "tool_result",
            "tool_use_id": result.call_id,
            "content": result.content or "(no output)",
            **({"is_error": True} if result.is_error else {}),
        }
        for result in turn.results
    ]
    return content + [{"type": "text", "text": text} for text in turn.texts]


def _agent_content(turn: AgentTurn) -> list[dict[str, Any]]:
    content = [found for block in turn.blocks if (found := _agent_block(block))]
    return content or [{"type": "text", "text": NO_ANSWER}]


def _agent_block(block: Block) -> dict[str, Any] | None:
    if block.kind == "text" and not block.text.strip():
        return None
    if block.provider == KIND:
        return dict(block.block)
    if block.kind == "text":
        return {"type": "text", "text": block.text}
    if block.kind == "tool_call":
        call = {"type": "tool_use", "id": block.call_id, "name": block.name}
        return {**call, "input": dict(block.input or {})}
    return None


# The answer


class _Reader:
    """Server-sent events → pieces. Unknown events and deltas are let pass."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._blocks: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, list[str]] = {}
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._stop_reason = ""
        self._is_finished = False

    def read(self, event: Mapping[str, Any]) -> Iterator[Piece]:
        match event.get("type"):
            case "content_block_delta":
                yield from self._delta(event["index"], event["delta"])
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
            case "content_block_stop":
                yield from self._block_done(event["index"])
            case "message_start":
                self._message = event["message"]
                self._usage = dict(self._message.get("usage") or {})
            case "message_delta":
                self._stop_reason = event["delta"].get("stop_reason") or ""
                # Totals, not increments: the last one holds.
                last = event.get("usage") or {}
                self._usage.update({k: v for k, v in last.items() if v is not None})
            case "message_stop":
                self._is_finished = True
                yield self._turn_done()
            case "error":
                raise self._error(event.get("error") or {})

    def close(self) -> Iterator[Piece]:
        """Nothing is left; raises `closed` when the stream ended before its end."""
        if not self._is_finished:
            raise self._voice.error("closed")
        yield from ()

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[Piece]:
        block = self._blocks[index]
        match delta.get("type"):
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
                yield TextPiece(index, delta["text"])
            case "input_json_delta":
                self._arguments.setdefault(index, []).append(delta["partial_json"])
                yield CallPiece(index, delta["partial_json"])
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
                yield ThinkingPiece(index, delta["thinking"])
            case "signature_delta":
                block["signature"] = block.get("signature", "") + delta["signature"]
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or []), delta["citation"]]

    def _block_done(self, index: int) -> Iterator[Piece]:
        block = self._blocks.pop(index)
        match block["type"]:
            case "text":
                yield BlockDone(index, "text", block)
            case "thinking" | "redacted_thinking":
                yield BlockDone(index, "thinking", block)
            case "tool_use":
                arguments, invalid = read_arguments("".join(self._arguments.pop(index, [])))
                block["input"] = arguments
                yield BlockDone(
                    index,
                    "tool_call",
                    block,
                    str(block["id"]),
                    str(block["name"]),
                    arguments,
                    invalid,
                )

    def _turn_done(self) -> TurnDone:
        usage = self._usage
        return TurnDone(
            stop_reason=STOP_REASONS.get(self._stop_reason, "other"),
            usage=Usage(
                input_tokens=int(usage.get("input_tokens") or 0),
                output_tokens=int(usage.get("output_tokens") or 0),
                cache_read_tokens=int(usage.get("cache_read_input_tokens") or 0),
                cache_write_tokens=int(usage.get("cache_creation_input_tokens") or 0),
            ),
            message_id=str(self._message.get("id", "")),
            model=str(self._message.get("model", "")),
        )

    def _error(self, error: Mapping[str, Any]) -> ProviderError:
        status = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500}
        known = status.get(error.get("type", ""), 500)
        return self._voice.from_status(known, str(error.get("message", "")), None)


def read_arguments(text: str) -> tuple[dict[str, Any], str]:
    """A call's arguments, and why they are none (then the arguments are empty)."""
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as problem:
        return {}, f"The arguments are not valid JSON: {problem}."
    if not isinstance(found, dict):
        return {}, "The arguments are not a JSON object."
    return found, ""


def _translated(problem: Exception, voice: Voice) -> ProviderError:
    """What the client raised, in our words. A bug of ours passes through unchanged."""
    import anthropic  # imported already, by the client

    if isinstance(problem, anthropic.APIStatusError):
        headers = problem.response.headers
        return voice.from_status(
            problem.status_code, _message_of(problem), wire.retry_after(headers)
        )
    return wire.translated(problem, voice)


def _message_of(problem: "anthropic.APIStatusError") -> str:
    inner = problem.body.get("error") if isinstance(problem.body, dict) else None
    if isinstance(inner, dict) and inner.get("message"):
        return str(inner["message"])
    return "" if isinstance(problem.body, str) else problem.message
