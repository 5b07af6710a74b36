"""A scripted server that speaks Anthropic Messages (streamed).

Run alone: python -m tests.scripted.anthropic --port 0 --script file.json
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.scripted.script import Answer, Call, Script, Step
from tests.scripted.server import Connection, ScriptedServer, main, serving

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")


class AnthropicConnection(Connection):
    model_paths = ("/v1/messages", "/v1/messages/count_tokens")

    def key(self) -> str:
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return self.headers.get("x-api-key") or bearer

    def tool_names(self, body: dict[str, Any]) -> list[str]:
        return [tool["name"] for tool in body.get("tools", ())]

    def send_fault(self, status: int, kind: str, text: str, **headers: str) -> None:
        data = {"type": "error", "error": {"type": kind, "message": text}}
        self.send_json(status, data, **headers)

    def send_step(self, answer: Answer, body: dict[str, Any]) -> None:
        if self.path.partition("?")[0].endswith("count_tokens"):
            self.send_json(200, {"input_tokens": len(json.dumps(body)) // 4})
            return
        self.begin_stream()
        if answer.fault:
            self._break(answer.fault)
            return
        step = answer.step
        events = list(step_events(step, body, number=len(self.server.requests)))
        if not (step.pause_seconds or step.hold or step.pieces > 1):
            self.chunk(b"".join(map(encode, events)))
        else:
            self._send_slowly(step, events)
        self.end_stream()

    def _send_slowly(self, step: Step, events: Sequence[dict[str, Any]]) -> None:
        held = False
        for event in events:
            self.chunk(encode(event))
            if event["type"] == "content_block_delta":
                time.sleep(step.pause_seconds)
                if step.hold and not held:
                    held = True
                    self.server.wait_released(step.hold)

    def _break(self, fault: str) -> None:
        start: list[dict[str, Any]] = [
            {"type": "message_start", "message": _message("msg_broken", {}, Step())},
            _block_start(0, {"type": "text", "text": ""}),
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": "half a sent"},
            },
        ]
        if fault == "refusal":
            ends: list[dict[str, Any]] = [
                {"type": "content_block_stop", "index": 0},
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "refusal"},
                    "usage": {"output_tokens": 3},
                },
                {"type": "message_stop"},
            ]
            self.chunk(b"".join(map(encode, [*start, *ends])))
            self.end_stream()
            return
        self.chunk(b"".join(map(encode, start)))
        if fault == "garbage":
            self.chunk(b'event: content_block_delta\ndata: {"type": "content_bl\n\n')
            self.end_stream()
        elif fault.startswith("event "):
            self.chunk(f"data: {fault.removeprefix('event ')}\n\n".encode())
            self.end_stream()
        elif fault == "cut":
            self.end_stream()
        elif fault == "overloaded":
            error = {"type": "overloaded_error", "message": "Overloaded"}
            self.chunk(encode({"type": "error", "error": error}))
            self.end_stream()
        else:
            self.break_off()


def encode(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def step_events(step: Step, body: dict[str, Any], *, number: int) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": _message(f"msg_{number}", body, step)}
    index = 0
    if step.thinking:
        yield from _thinking(index, step.thinking)
        index += 1
    if step.text:
        yield from _text(index, step)
        index += 1
    for call in step.calls:
        yield from _tool_use(index, call, call.id or f"toolu_{number}_{index}")
        index += 1
    reason = step.stop or ("tool_use" if step.calls else "end_turn")
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": step.usage.get("output", 20)},
    }
    yield {"type": "message_stop"}


def _message(message_id: str, body: dict[str, Any], step: Step) -> dict[str, Any]:
    usage = {
        "input_tokens": step.usage.get("input", 100),
        "output_tokens": 1,
        "cache_read_input_tokens": step.usage.get("cache_read", 0),
        "cache_creation_input_tokens": step.usage.get("cache_write", 0),
    }
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _thinking(index: int, text: str) -> Iterator[dict[str, Any]]:
    yield _block_start(index, {"type": "thinking", "thinking": "", "signature": ""})
    yield _delta(index, {"type": "thinking_delta", "thinking": text})
    yield _delta(index, {"type": "signature_delta", "signature": "c2lnbmVk"})
    yield {"type": "content_block_stop", "index": index}


def _text(index: int, step: Step) -> Iterator[dict[str, Any]]:
    yield _block_start(index, {"type": "text", "text": ""})
    for piece in split(step.text, step.pieces):
        yield _delta(index, {"type": "text_delta", "text": piece})
    yield {"type": "content_block_stop", "index": index}


def _tool_use(index: int, call: Call, call_id: str) -> Iterator[dict[str, Any]]:
    block = {"type": "tool_use", "id": call_id, "name": call.name, "input": {}}
    yield _block_start(index, block)
    text = json.dumps(call.input) if call.raw is None else call.raw
    for piece in split(text, 2):
        yield _delta(index, {"type": "input_json_delta", "partial_json": piece})
    yield {"type": "content_block_stop", "index": index}


def _block_start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def split(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // max(pieces, 1)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def server(*scripts: Script, port: int = 0, api_key: str = "") -> ScriptedServer:
    return ScriptedServer(AnthropicConnection, scripts, port=port, api_key=api_key, models=MODELS)


def scripted(*steps: Step, **options: Any) -> AbstractContextManager[ScriptedServer]:
    """`with scripted(Step(...), Step(...)) as server:` then talk to `server.url`."""
    return serving(server(Script(steps), **options))


if __name__ == "__main__":
    main(AnthropicConnection)
