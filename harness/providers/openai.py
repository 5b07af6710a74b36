"""OpenAI Chat Completions, streamed through the official client: OpenAI itself and every server
that speaks the same protocol (Ollama, vLLM, llama.cpp, OpenRouter…)."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from harness.conversation import AgentTurn, Turn, UserTurn
from harness.providers import wire
from harness.providers.anthropic import NO_ANSWER, read_arguments
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
    import openai

KIND: ProviderKind = "openai"
THINKING, TEXT, FIRST_CALL = 0, 1, 2  # indexes of the blocks of an answer

StopReason = Literal["end", "tools", "max_tokens", "refusal", "other"]
STOP_REASONS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "max_tokens",
    "content_filter": "refusal",
}


class OpenAIClient:
    """One a run: it holds the run's connection, so that a stop can shut it."""

    kind: ProviderKind = KIND

    def __init__(self, settings: ProviderSettings) -> None:
        import openai  # half a second of import, for those who use it

        self._settings = settings
        self._sockets = wire.Sockets()
        self._messages = MessageCache(_messages)
        self._client = openai.OpenAI(
            api_key=settings.api_key or "none",
            base_url=wire.address(settings),
            max_retries=0,
            http_client=openai.DefaultHttpxClient(**wire.client_options(settings, self._sockets)),
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
        import openai  # imported already, by the client

        answer = self._client.post(
            "/chat/completions",
            content=self._encode(request),
            cast_to=object,
            stream=True,
            stream_cls=openai.Stream[object],
        )
        with answer:
            yield from wire.pieces(answer.response, _Reader(voice), voice)

    def _encode(self, request: ModelRequest) -> bytes:
        system = dumps({"role": "system", "content": "\n\n".join(request.system)})
        rest = body(request, is_openai=not self._settings.base_url)
        return with_messages(rest, system, self._messages.encode(request.messages))

    def models(self) -> tuple[str, ...]:
        """Names the server lists. Raises ProviderError."""
        voice = Voice(self._settings.name, "", KIND)
        try:
            return tuple(model.id for model in self._client.models.list(timeout=10.0).data)
        except Exception as problem:
            raise _translated(problem, voice) from problem

    def close(self) -> None:
        self._client.close()


# The request


def body(request: ModelRequest, *, is_openai: bool) -> dict[str, Any]:
    """The request but for its messages.

    The output limit is `max_completion_tokens` at OpenAI and `max_tokens` at compatible servers,
    which do not all know the newer name.
    """
    limit = "max_completion_tokens" if is_openai else "max_tokens"
    found: dict[str, Any] = {
        "model": request.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        limit: request.max_output_tokens,
    }
    if request.tools:
        found["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.input_schema),
                },
            }
            for tool in request.tools
        ]
    if request.effort:
        found["reasoning_effort"] = request.effort
    return found


def _messages(turn: Turn) -> list[dict[str, Any]]:
    return _user(turn) if isinstance(turn, UserTurn) else [_agent(turn)]


def _user(turn: UserTurn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": f"error: {result.content}" if result.is_error else result.content,
        }
        for result in turn.results
    ]
    if turn.texts:
        found.append({"role": "user", "content": "\n\n".join(turn.texts)})
    return found


def _agent(turn: AgentTurn) -> dict[str, Any]:
    text = "\n\n".join(block.text for block in turn.blocks if block.kind == "text")
    calls = [
        {
            "id": block.call_id,
            "type": "function",
            "function": {"name": block.name, "arguments": json.dumps(block.input or {})},
        }
        for block in turn.calls
    ]
    if calls:
        return {"role": "assistant", "content": text or None, "tool_calls": calls}
    return {"role": "assistant", "content": text or NO_ANSWER}


# The answer


class _Reader:
    """Chunks → pieces. The protocol has no blocks; they are made here: thinking, text, calls."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._thinking: list[str] = []
        self._text: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: Mapping[str, Any] = {}
        self._id = ""
        self._model = ""
        self._finish_reason = ""

    def read(self, chunk: Mapping[str, Any]) -> Iterator[Piece]:
        if "error" in chunk:
            raise self._error(chunk["error"])
        self._id = str(chunk.get("id") or self._id)
        self._model = str(chunk.get("model") or self._model)
        self._usage = chunk.get("usage") or self._usage
        for choice in (chunk.get("choices") or ())[:1]:
            self._finish_reason = choice.get("finish_reason") or self._finish_reason
            yield from self._delta(choice.get("delta") or {})

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Piece]:
        # Servers that show the thinking call it one of these; the protocol itself has no word.
        if thinking := delta.get("reasoning_content") or delta.get("reasoning"):
            self._thinking.append(str(thinking))
            yield ThinkingPiece(THINKING, str(thinking))
        if text := delta.get("content") or delta.get("refusal"):
            if not isinstance(text, str):
                raise TypeError("The content is no text.")
            self._text.append(text)
            yield TextPiece(TEXT, text)
        for part in delta.get("tool_calls") or ():
            yield from self._call(part)

    def _call(self, part: Mapping[str, Any]) -> Iterator[Piece]:
        index = part.get("index") or 0
        function = part.get("function") or {}
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        call["id"] = call["id"] or str(part.get("id") or "")
        call["name"] = call["name"] or str(function.get("name") or "")
        if arguments := function.get("arguments"):
            call["arguments"] += arguments
            yield CallPiece(FIRST_CALL + index, arguments)

    def close(self) -> Iterator[Piece]:
        """The blocks and the end. Raises `closed` when the stream ended before its end."""
        if not self._finish_reason:
            raise self._voice.error("closed")
        if self._thinking:
            yield BlockDone(THINKING, "thinking", {"thinking": "".join(self._thinking)})
        if self._text:
            yield BlockDone(TEXT, "text", {"text": "".join(self._text)})
        for index, call in sorted(self._calls.items()):
            arguments, invalid = read_arguments(call["arguments"])
            yield BlockDone(
                FIRST_CALL + index, "tool_call", call, call["id"], call["name"], arguments, invalid
            )
        yield self._turn_done()

    def _turn_done(self) -> TurnDone:
        usage = self._usage
        cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
        # Some servers say "stop" although they call tools.
        reason = "tools" if self._calls else STOP_REASONS.get(self._finish_reason, "other")
        return TurnDone(
            stop_reason=reason,
            usage=Usage(
                input_tokens=max(0, int(usage.get("prompt_tokens") or 0) - cached),
                output_tokens=int(usage.get("completion_tokens") or 0),
                cache_read_tokens=cached,
            ),
            message_id=self._id,
            model=self._model,
        )

    def _error(self, error: Any) -> ProviderError:
        details = error if isinstance(error, dict) else {"message": error}
        code = details.get("code")
        status = code if isinstance(code, int) else 500
        return self._voice.from_status(status, str(details.get("message", "")), None)


def _translated(problem: Exception, voice: Voice) -> ProviderError:
    import openai  # imported already, by the client

    if isinstance(problem, openai.APIStatusError):
        headers = problem.response.headers
        return voice.from_status(
            problem.status_code, _message_of(problem), wire.retry_after(headers)
        )
    return wire.translated(problem, voice)


def _message_of(problem: "openai.APIStatusError") -> str:
    if isinstance(problem.body, dict) and problem.body.get("message"):
        return str(problem.body["message"])
    return "" if isinstance(problem.body, str) else problem.message
