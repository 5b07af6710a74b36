"""The HTTP half of the scripted servers: stdlib, threads, chunked answers, control paths."""

import argparse
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from tests.scripted.script import Answer, Script, Unexpected, counted, load


class Connection(BaseHTTPRequestHandler):
    """One client connection. The protocol half lives in the subclasses' methods."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "ScriptedServer"
    model_paths: ClassVar[tuple[str, ...]]
    server_word: ClassVar[str] = "scripted"

    # Protocol half

    def past_turns(self, body: dict[str, Any]) -> int:
        return sum(1 for message in body["messages"] if message["role"] == "assistant")

    def tool_names(self, body: dict[str, Any]) -> list[str]:
        raise NotImplementedError

    def send_step(self, answer: Answer, body: dict[str, Any]) -> None:
        raise NotImplementedError

    def send_fault(self, status: int, kind: str, text: str, **headers: str) -> None:
        raise NotImplementedError

    def key(self) -> str:
        raise NotImplementedError

    # HTTP half

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            self._send_models()
        elif self.path == "/__requests":
            self.send_json(200, self.server.requests)
        else:
            self.send_json(404, {"error": "no such page"})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        if self.path.startswith("/__release/"):
            self.server.release(self.path.rsplit("/", 1)[1])
            self.send_json(200, {})
        elif not self.path.partition("?")[0].endswith(self.model_paths):
            self.server.complain(f"unexpected path {self.path}")
            self.send_json(404, {"error": f"no such page: {self.path}"})
        else:
            self._answer(raw)

    def _answer(self, raw: bytes) -> None:
        body = json.loads(raw)
        self.server.requests.append(body)
        self.server.on_request()
        if self.server.api_key and self.key() != self.server.api_key:
            self.fault("401", Answer(self.server.scripts[0].steps[0]))
            return
        try:
            answer = self.server.choose(raw.decode(), self.past_turns(body), self.tool_names(body))
        except Unexpected as problem:
            self.server.complain(str(problem))
            # 418 is not retried by anybody, so the test ends at its first unexpected call.
            self.send_fault(418, "invalid_request_error", f"script: {problem}")
            return
        if answer.fault in ERRORS or answer.fault in ("mute", "html", "silent"):
            self.fault(answer.fault, answer)
        else:
            with suppress(BrokenPipeError, ConnectionResetError):
                self.send_step(answer, body)

    def fault(self, name: str, answer: Answer) -> None:
        if name == "mute":
            self._wait_for_client()
        elif name == "silent":
            self.begin_stream()
            self._wait_for_client()
        elif name == "html":
            page = b"<!doctype html><title>Welcome</title><h1>It works!</h1>"
            self.send_bytes(200, page, "text/html")
        else:
            status, kind, text = ERRORS[name]
            headers = {"retry-after": answer.step.retry_after} if status in (429, 529) else {}
            self.send_fault(status, kind, text, **headers)

    def _wait_for_client(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            while self.connection.recv(1):
                pass

    def _send_models(self) -> None:
        if self.server.api_key and self.key() != self.server.api_key:
            self.fault("401", Answer(self.server.scripts[0].steps[0]))
            return
        self.send_json(200, {"data": [{"id": name} for name in self.server.models]})

    def begin_stream(self, content_type: str = "text/event-stream") -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", f"req_{len(self.server.requests)}")
        self.end_headers()
        self.wfile.flush()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def break_off(self) -> None:
        """Closes in the middle of a chunk, as a dying server does."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def send_json(self, status: int, data: Any, **headers: str) -> None:
        self.send_bytes(status, json.dumps(data).encode(), "application/json", **headers)

    def send_bytes(self, status: int, data: bytes, content_type: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


ERRORS: dict[str, tuple[int, str, str]] = {
    "400": (400, "invalid_request_error", "messages: bad request"),
    "overflow": (
        400,
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    "binding": (
        400,
        "invalid_request_error",
        "messages.1.content.0: Invalid `signature` in `thinking` block."
        " The block is bound to a different conversation.",
    ),
    "401": (401, "authentication_error", "invalid x-api-key"),
    "403": (403, "permission_error", "your key may not use this model"),
    "404": (404, "not_found_error", "model: no-such-model"),
    "429": (429, "rate_limit_error", "too many requests"),
    "500": (500, "api_error", "internal server error"),
    "529": (529, "overloaded_error", "Overloaded"),
}


class ScriptedServer(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self,
        connection: type[Connection],
        scripts: Sequence[Script],
        *,
        port: int = 0,
        api_key: str = "",
        models: Sequence[str] = (),
    ) -> None:
        super().__init__(("127.0.0.1", port), connection)
        self.scripts = list(scripts)
        self.api_key = api_key
        self.models = list(models)
        self.requests: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.on_request: Callable[[], None] = lambda: None
        self._gates: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._gave_up = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def choose(self, request: str, past_turns: int, tools: Sequence[str]) -> Answer:
        for script in self.scripts:
            if script.when in request:
                return script.answer(request, past_turns=past_turns, tools=tools)
        raise Unexpected("no script is for this conversation")

    def complain(self, text: str) -> None:
        self.complaints.append(text)

    def release(self, name: str) -> None:
        """Lets the step with this `hold` go on, now or when it comes."""
        self._gate(name).set()

    def wait_released(self, name: str) -> None:
        self._gate(name).wait(timeout=300)

    def _gate(self, name: str) -> threading.Event:
        with self._lock:
            return self._gates.setdefault(name, threading.Event())

    def give_up(self) -> None:
        """The test knows that its last steps are never reached."""
        self._gave_up = True

    def assert_done(self) -> None:
        """Every call was expected and every step was used."""
        assert not self.complaints, self.complaints
        if self._gave_up:
            return
        unused = [(script.when, script.unused()) for script in self.scripts if script.unused()]
        assert not unused, f"steps nobody asked for: {unused}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        problem = sys.exc_info()[1]
        if not isinstance(problem, (BrokenPipeError, ConnectionResetError)):
            self.complain(f"the scripted server itself failed: {problem!r}")


@contextmanager
def serving(server: ScriptedServer) -> Iterator[ScriptedServer]:
    """Runs the server in a thread; leaving checks that the script was followed to its end."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
    server.assert_done()


def main(connection: type[Connection]) -> None:
    """`python -m tests.scripted.<protocol> --script file.json`: prints its address, then serves."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="JSON: steps, a script, or a list of scripts")
    parser.add_argument("--turns", type=int, help="instead: a conversation of N tool calls")
    parser.add_argument("--tool", default="read")
    parser.add_argument("--input", default='{"path": "README.md"}', help="JSON of each call")
    parser.add_argument("--api-key", default="")
    chosen = parser.parse_args()
    scripts = (
        load(chosen.script)
        if chosen.script
        else [counted(chosen.turns or 1, tool=chosen.tool, input=json.loads(chosen.input))]
    )
    server = ScriptedServer(connection, scripts, port=chosen.port, api_key=chosen.api_key)
    print(server.url, flush=True)  # noqa: T201 - whoever started us reads the address here
    server.serve_forever()
