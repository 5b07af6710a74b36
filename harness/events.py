"""Run events: the only thing a run consists of.

An `Event` is (seq, kind, data). `data` is plain JSON in the shape of the TypedDict of its kind;
the small functions at the end build events so that no caller spells a key. A `Delta` is a piece
of a block that still grows: it is shown, never stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, NotRequired, Self, TypedDict, cast

from outside.sentences import Sentence


class Kind(StrEnum):
    PROMPT = "prompt"
    MESSAGE = "message"
    THINKING = "thinking"
    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_START = "tool_start"
    TOOL_RESULT = "tool_result"
    USAGE = "usage"
    ERROR = "error"
    SANDBOX_VIOLATION = "sandbox_violation"
    STEER = "steer"
    APPROVAL = "approval"
    CHILD = "child"
    MODE = "mode"
    COMPACTION = "compaction"
    NOTICE = "notice"
    DONE = "done"


class PromptData(TypedDict):
    """Stored when the assembled system prompt differs from the last one stored."""

    sections: list[dict[str, str]]  # [{"name", "text"}]
    model: str
    mode: str
    tools: list[str]


class MessageData(TypedDict):
    """Something said to the agent (role user) or a question of the agent to a person (agent).

    A question carries the `call_id` of its ask_user call; its answer is a user message with the
    same `call_id`. `context` is what else the model is told before the text (wake context,
    earlier conversation), fixed here so that a later rebuild gives the same bytes.
    """

    role: Literal["user", "agent"]
    text: str
    author: NotRequired[str]  # handle
    message_id: NotRequired[str]
    reason: NotRequired[str]  # wake reason
    context: NotRequired[str]
    call_id: NotRequired[str]
    options: NotRequired[list[str]]


class BlockData(TypedDict):
    """A finished block of a model turn. `block` is the provider's own JSON, signatures included."""

    block: dict[str, Any]
    provider: str  # provider kind whose dialect `block` is in: anthropic, openai, demo
    turn: int  # 1.. over the whole run
    index: int
    seen: int  # highest seq the model had been shown when it wrote this


class ToolCallData(BlockData):
    call_id: str
    name: str
    input: dict[str, Any]
    invalid: NotRequired[str]  # why the arguments could not be read; the call is never executed


class ToolStartData(TypedDict):
    call_id: str
    name: str


class ToolResultData(TypedDict):
    call_id: str
    name: str
    content: str  # what the model reads
    is_error: bool
    detail: dict[str, Any]  # for the page: diff, exit_code, artefact, paths, commit…
    duration_ms: int


class UsageData(TypedDict):
    """One model call. Cache tokens are apart from `input_tokens`, never inside it."""

    turn: int
    model: str
    provider: str
    message_id: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_microusd: int | None  # None: the catalogue has no price for the model
    duration_ms: int


class ErrorData(TypedDict):
    source: Literal["provider", "tool", "harness"]
    code: str
    text: str  # what happened, in words
    words: NotRequired[dict[str, Any]]  # how the text was made, for readers of other languages
    status: NotRequired[int]
    ends: NotRequired[bool]  # the run ends by it, and its last event says the same words
    attempt: NotRequired[int]
    retry_in_seconds: NotRequired[float]
    dropped: NotRequired[bool]  # a partial block was shown and is not part of the run
    turn: NotRequired[int]


class SandboxViolationData(TypedDict):
    call_id: str
    text: str


class SteerData(TypedDict):
    text: str
    words: NotRequired[dict[str, Any]]
    author: NotRequired[str]  # handle; absent when the harness itself steers
    code: NotRequired[str]  # why the harness steers


class ApprovalData(TypedDict):
    """Asked: the gate or the push desk holds the call. Decided: the answer, binding and final.

    `outcome` is set when the effect was carried out elsewhere (a held push that the gateway
    forwarded): the call gets it as its result and is not executed again.
    """

    phase: Literal["asked", "decided"]
    approval_id: str
    call_id: str
    decision: NotRequired[Literal["allow", "deny"]]
    note: NotRequired[str]
    words: NotRequired[dict[str, Any]]  # of the note
    decided_by: NotRequired[str]
    outcome: NotRequired[str]
    failed: NotRequired[bool]  # allowed, but the effect did not succeed; `outcome` says why


class ChildData(TypedDict):
    """A run that this one started as a subagent. Ended: `result` is what the model reads of it.

    With `background` the call had its result when the child began, and the child's own comes as
    something said; else it is the result of the call. Counts are of the child and its own children.
    """

    phase: Literal["started", "ended"]
    run_id: str
    call_id: str
    agent: str
    description: NotRequired[str]
    model: NotRequired[str]
    background: NotRequired[bool]
    state: NotRequired[str]
    reason: NotRequired[str]
    result: NotRequired[str]
    turns: NotRequired[int]
    calls: NotRequired[int]
    tokens: NotRequired[int]
    cost_microusd: NotRequired[int]
    duration_ms: NotRequired[int]
    branches: NotRequired[list[str]]  # of worktrees that were kept


class ModeData(TypedDict):
    mode: str


class CompactionData(TypedDict):
    """Everything with a seq up to `through` is replaced by `summary` in what the model reads."""

    through: int
    summary: str
    tokens_before: int


class NoticeData(TypedDict):
    text: str
    words: NotRequired[dict[str, Any]]
    level: Literal["info", "warning"]
    code: NotRequired[str]


class DoneData(TypedDict):
    state: Literal["succeeded", "failed", "cancelled"]
    reason: str
    summary: str
    words: NotRequired[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Event:
    kind: Kind
    data: Mapping[str, Any]
    seq: int | None = None  # None until recorded

    def at(self, seq: int) -> Self:
        return replace(self, seq=seq)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of block `index` of turn `turn`, shown while it grows.

    `output` is what a running tool prints; `call_id` says which.
    """

    turn: int
    index: int
    kind: Literal["text", "thinking", "tool_call", "output"]
    text: str
    call_id: str = ""


def event(kind: Kind, data: Mapping[str, Any] | Any) -> Event:
    return Event(kind, cast(Mapping[str, Any], data))


def message(text: str, **more: Any) -> Event:
    data: MessageData = {"role": "user", "text": text, **more}  # type: ignore[typeddict-item]
    return event(Kind.MESSAGE, data)


def notice(
    text: str, *, level: Literal["info", "warning"] = "info", code: str | None = None
) -> Event:
    data: NoticeData = {"text": text, "level": level}
    if code:
        data["code"] = code
    return event(Kind.NOTICE, _with_words(data, text))


def steer(text: str, *, author: str = "", code: str = "") -> Event:
    """Said to the agent in the middle of its work; `code` when the harness itself says it."""
    data: SteerData = {"text": text}
    if author:
        data["author"] = author
    if code:
        data["code"] = code
    return event(Kind.STEER, _with_words(data, text))


def asked(approval_id: str, *, call_id: str) -> Event:
    data: ApprovalData = {"phase": "asked", "approval_id": approval_id, "call_id": call_id}
    return event(Kind.APPROVAL, data)


def decided(
    approval_id: str,
    *,
    call_id: str,
    decision: Literal["allow", "deny"],
    note: str = "",
    decided_by: str = "",
    outcome: str | None = None,
    failed: bool = False,
) -> Event:
    """The decision on a held call, as `runs` records it before it wakes the run."""
    data: ApprovalData = {
        "phase": "decided",
        "approval_id": approval_id,
        "call_id": call_id,
        "decision": decision,
        "note": note,
        "decided_by": decided_by,
    }
    if outcome is not None:
        data["outcome"] = outcome
        data["failed"] = failed
    return event(Kind.APPROVAL, _with_words(data, note))


def child(data: ChildData) -> Event:
    return event(Kind.CHILD, data)


def done(state: Literal["succeeded", "failed", "cancelled"], reason: str, summary: str) -> Event:
    data: DoneData = {"state": state, "reason": reason, "summary": summary}
    return event(Kind.DONE, _with_words(data, summary))


def error(data: ErrorData) -> Event:
    return event(Kind.ERROR, _with_words(data, data["text"]))


def _with_words(data: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """With what a reader of another language needs: how a sentence of ours was made."""
    return {**data, "words": text.made()} if isinstance(text, Sentence) else data
