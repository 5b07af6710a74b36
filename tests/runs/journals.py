"""Journals as runs write them, drawn by chance: every kind of event, friendly and hostile words."""

import random
from collections.abc import Iterator
from typing import Any

from harness import events
from harness.events import Event, Kind
from tests.runs.acting import block, tool_call, tool_result, usage

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '<div hx-get="/w/x/runs/" hx-trigger="load">x</div>',
    '"><svg onload=alert(1)>',
    "[click](javascript:alert(1))",
    "![x](http://evil.example/x.png)",
    "<style>*{display:none}</style><base href=//evil.example>",
    "</div></article><form action=/accounts/logout/ method=post>",
    "{% load i18n %}{{ run.workspace }}",
    "\u202egnp.exe \u200b zero width",
    "```html\n<script>alert(1)</script>\n```",
    '<a href="#" hx-on:click="alert(1)" style="position:fixed">x</a>',
    "<iframe srcdoc='<script>alert(1)</script>'>",
]
FRIENDLY = [
    "",
    "Done.",
    "# Title\n\n- one\n- two",
    "`code` and **bold**",
    "a < b && c > d",
    "ça va 🙂",
]
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


class Writer:
    """Writes a whole run; `words` are what it finds to say."""

    def __init__(self, seed: int, words: list[str]) -> None:
        self._dice = random.Random(seed)
        self._words = words
        self._turn = self._calls = 0

    def run(self, turns: int) -> Iterator[list[Event]]:
        """Batches as they are recorded, one transaction each."""
        prompt = {"sections": [], "model": "m", "mode": "chat", "tools": ["bash"]}
        yield [Event(Kind.PROMPT, prompt), events.message(self.say(), reason="user_message")]
        for _ in range(turns):
            yield from self._model_turn()
            yield from self._meanwhile()
        yield [events.done(self.pick("succeeded", "failed", "cancelled"), "completed", self.say())]

    def say(self) -> str:
        return self._dice.choice(self._words)

    def pick(self, *among: Any) -> Any:
        return self._dice.choice(among)

    def _model_turn(self) -> Iterator[list[Event]]:
        self._turn += 1
        blocks = []
        if self.pick(True, False):
            blocks.append(block(Kind.THINKING, self._turn, {"thinking": self.say()}, 0))
        blocks.append(block(Kind.TEXT, self._turn, {"type": "text", "text": self.say()}, 1))
        calls = []
        for index in range(self.pick(0, 1, 1, 2)):
            self._calls += 1
            calls.append(f"c{self._calls}")
            given = {"command": self.say(), self.say() or "path": [self.say(), {"a": 1}]}
            name = self.pick("bash", "write", "mcp__x__y", self.say() or "read")
            blocks.append(tool_call(self._turn, 2 + index, calls[-1], name, given))
        yield [*blocks, usage(self._turn)]
        for call in calls:
            yield from self._settle(call)

    def _settle(self, call: str) -> Iterator[list[Event]]:
        if self.pick(True, False):
            yield [events.asked("0198c0de-0000-7000-8000-000000000001", call_id=call)]
            decision = self.pick("allow", "deny")
            yield [
                events.decided(
                    "0198c0de-0000-7000-8000-000000000001",
                    call_id=call,
                    decision=decision,
                    note=self.say(),
                    decided_by="ada",
                )
            ]
            if decision == "deny":
                yield [tool_result(call, self.say(), is_error=True, detail={"denied": True})]
                return
        yield [Event(Kind.TOOL_START, {"call_id": call, "name": "bash"})]
        if self.pick(True, False, False):
            yield from self._child(call)
        if self.pick(True, True, False):
            detail = self.pick({}, {"diff": DIFF}, {"commit": "8c41f0e" * 5}, {"exit_code": 2})
            yield [tool_result(call, self.say(), is_error=self.pick(True, False), detail=detail)]

    def _child(self, call: str) -> Iterator[list[Event]]:
        """A subagent, whose two events may come in either order."""
        known = {"run_id": "0198c0de-0000-7000-8000-000000000002", "call_id": call}
        who = {"agent": self.say() or "scout", "model": self.say()}
        took = {"tokens": 1234, "duration_ms": 1500, "branches": [self.say() or "b"]}
        state = self.pick("succeeded", "failed", "cancelled")
        two = [
            [events.child({"phase": "started", **known, **who})],  # type: ignore[typeddict-item]
            [events.child({"phase": "ended", **known, **who, **took, "state": state})],  # type: ignore[typeddict-item]
        ]
        yield from two if self.pick(True, True, False) else reversed(two)

    def _meanwhile(self) -> Iterator[list[Event]]:
        made: list[Event] = [
            events.steer(self.say(), author="ada"),
            events.steer(self.say(), code="repetition"),
            events.message(self.say(), author=self.say()),
            events.event(
                Kind.MESSAGE,
                {"role": "agent", "text": self.say(), "call_id": "q", "options": [self.say()]},
            ),
            events.notice(self.say(), level=self.pick("info", "warning")),
            Event(Kind.ERROR, {"source": "provider", "code": "closed", "text": self.say()}),
            Event(
                Kind.ERROR,
                {
                    "source": "provider",
                    "code": "overloaded",
                    "text": self.say(),
                    "attempt": 2,
                    "retry_in_seconds": 1.5,
                },
            ),
            Event(Kind.COMPACTION, {"through": 1, "summary": self.say(), "tokens_before": 9}),
            Event(Kind.SANDBOX_VIOLATION, {"call_id": "c", "text": self.say()}),
            Event(Kind.MODE, {"mode": self.say()}),
            Event(
                Kind.CHILD,
                {"phase": "started", "run_id": "r", "call_id": "c", "agent": self.say()},
            ),
        ]
        if self.pick(True, False):
            yield [self.pick(*made)]


def journal(seed: int, *, turns: int = 6, words: list[str] | None = None) -> list[Event]:
    """One whole run, numbered."""
    writer = Writer(seed, words or HOSTILE + FRIENDLY)
    found = [event for batch in writer.run(turns) for event in batch]
    return [event.at(seq) for seq, event in enumerate(found, 1)]
