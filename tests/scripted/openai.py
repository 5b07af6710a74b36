"""A scripted server that speaks OpenAI Chat Completions (streamed).

Run alone: python -m tests.scripted.openai --port 0 --script file.json
Clients use `server.url + "/v1"`.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.scripted.anthropic import split
from tests.scripted.script import Answer, Script, Step
from tests.scripted.server import Connection, ScriptedServer, main, serving

MODELS = ("small", "large")


class OpenAIConnection(Connection):
    model_paths = ("/chat/completions",)

    def key(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    def tool_names(self, body: dict[str, Any]) -> list[str]:
        return [tool["function"]["name"] for tool in body.get("tools", ())]

    def send_fault(self, status: int, kind: str, text: str, **headers: str) -> None:
        data = {"error": {"message": text, "type": kind, "code": None}}
        self.send_json(status, data, **headers)

    def send_step(self, answer: Answer, body: dict[str, Any]) -> None:
        self.begin_stream()
        if answer.fault:
            self._break(answer.fault)
            return
        step = answer.step
        chunks = list(step_chunks(step, body, number=len(self.server.requests)))
        if not (step.pause_seconds or step.hold or step.pieces > 1):
            self.chunk(b"".join(map(encode, chunks)) + DONE)
        else:
            self._send_slowly(step, chunks)
        self.end_stream()

    def _send_slowly(self, step: Step, chunks: Sequence[dict[str, Any]]) -> None:
        held = False
        for data in chunks:
            self.chunk(encode(data))
            time.sleep(step.pause_seconds)
            if step.hold and not held and data["choices"] and data["choices"][0]["delta"]:
                held = True
                self.server.wait_released(step.hold)
        self.chunk(DONE)

    def _break(self, fault: str) -> None:
        self.chunk(encode(_chunk("broken", {}, {"role": "assistant", "content": "half a sent"})))
        if fault == "garbage":
            self.chunk(b'data: {"id": "chatcm\n\n')
            self.end_stream()
        elif fault.startswith("event "):
            self.chunk(f"data: {fault.removeprefix('event ')}\n\n".encode())
            self.end_stream()
        elif fault == "cut":
            self.end_stream()
        elif fault == "refusal":
            self.chunk(encode(_chunk("broken", {}, {}, "content_filter")) + DONE)
            self.end_stream()
        else:
            self.break_off()


DONE = b"data: [DONE]\n\n"


def encode(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def step_chunks(step: Step, body: dict[str, Any], *, number: int) -> Iterator[dict[str, Any]]:
    name = f"chatcmpl_{number}"
    if step.thinking:
        yield _chunk(name, body, {"role": "assistant", "reasoning_content": step.thinking})
    for piece in split(step.text, step.pieces) if step.text else ():
        yield _chunk(name, body, {"role": "assistant", "content": piece})
    for index, call in enumerate(step.calls):
        head = {"name": call.name, "arguments": ""}
        call_id = call.id or f"call_{number}_{index}"
        start = {"index": index, "id": call_id, "type": "function", "function": head}
        yield _chunk(name, body, {"tool_calls": [start]})
        text = json.dumps(call.input) if call.raw is None else call.raw
        for piece in split(text, 2):
            part = {"index": index, "function": {"arguments": piece}}
            yield _chunk(name, body, {"tool_calls": [part]})
    reason = step.stop or ("tool_calls" if step.calls else "stop")
    yield _chunk(name, body, {}, reason)
    if body.get("stream_options", {}).get("include_usage"):
        yield {**_chunk(name, body, {}), "choices": [], "usage": _usage(step)}


def _usage(step: Step) -> dict[str, Any]:
    cached = step.usage.get("cache_read", 0)
    prompt = step.usage.get("input", 100) + cached
    output = step.usage.get("output", 20)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _chunk(
    name: str, body: dict[str, Any], delta: dict[str, Any], reason: str | None = None
) -> dict[str, Any]:
    return {
        "id": name,
        "object": "chat.completion.chunk",
        "created": 0,
        "model": body.get("model", "scripted"),
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def server(*scripts: Script, port: int = 0, api_key: str = "") -> ScriptedServer:
    return ScriptedServer(OpenAIConnection, scripts, port=port, api_key=api_key, models=MODELS)


def scripted(*steps: Step, **options: Any) -> AbstractContextManager[ScriptedServer]:
    return serving(server(Script(steps), **options))


if __name__ == "__main__":
    main(OpenAIConnection)
