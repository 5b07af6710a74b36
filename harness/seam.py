"""The seam: everything that crosses between the harness and the rooms above it.

Values go in (`RunSpec`, the history), events come out (`EventSink`), and the harness asks its
questions through small protocols (`Gate`, `PushDesk`, `SkillShelf`, `Nursery`). The rooms above
implement them; the harness knows none of them by name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from harness.actions import ActionClass
from harness.events import Delta, Event
from harness.stop import Stop
from outside.egress import Guard
from outside.git import Checkout

if TYPE_CHECKING:
    from harness.catalogue import ModelCatalogue

Mode = Literal["chat", "plan", "orchestrate", "review"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
ProviderKind = Literal["anthropic", "openai", "demo"]

BUILT_IN_ADAPTER = "cc-harness"
DEFAULT_MODEL = "anthropic/claude-opus-5-5"


# What a run is made from


@dataclass(frozen=True)
class ProviderSettings:
    """How to reach a provider. `kind` is the protocol it speaks, `name` the prefix of models."""

    name: str
    kind: ProviderKind
    api_key: str = field(default="", repr=False)
    base_url: str = ""  # empty: the provider's own address
    timeout_seconds: float = 300.0  # without a single byte
    guard: Guard | None = None  # checks `base_url` on each connection; None trusts it


@dataclass(frozen=True)
class Root:
    """A checkout the run works in. `writable` is what the mode allows.

    `path` is the absolute work tree; the agent reaches it as `repos/<name>` from its working
    directory. `checkout` is what git works on; without it there are files but no git.
    """

    name: str
    path: Path
    writable: bool
    checkout: Checkout | None = None
    branch: str = ""


@dataclass(frozen=True)
class GitIdentity:
    name: str
    email: str
    co_author: str = ""  # "Ada <ada@example.org>": the member who asked

    @property
    def trailer(self) -> str:
        return f"Co-Authored-By: {self.co_author}" if self.co_author else ""


@dataclass(frozen=True)
class Wake:
    """Why the run exists and what was said. `reason` is one of DESIGN 10's wake reasons."""

    reason: str
    text: str
    author: str = ""  # handle of who asked
    message_id: str = ""
    context: str = ""  # ticket, workflow step, earlier decision: in words


@dataclass(frozen=True)
class Said:
    """One earlier message of the conversation."""

    author: str
    text: str


@dataclass(frozen=True)
class Colleague:
    handle: str
    title: str
    kind: Literal["agent", "person"] = "agent"


@dataclass(frozen=True)
class PromptInputs:
    """What the prompt sections are written from, in the words of the workspace."""

    instance_name: str = "Control Center"
    workspace_name: str = ""
    space_name: str = ""
    system_prompt: str = ""
    persona: str = ""
    skill_names: tuple[str, ...] = ()
    team: tuple[Colleague, ...] = ()
    reports_to: str = ""
    memory: str = ""
    references: str = ""  # what instruction files say, as reference
    # Another default prompt, made from the variables that only the assembled one knows.
    rewrite: Callable[[Mapping[str, str]], str] | None = None
    conversation: tuple[Said, ...] = ()
    # `lead`: the rewritten prompt is a definition's. `subagent`: it is all there is, but for where
    # the work is done. Both get memory and references as messages, not in the system prompt.
    role: Literal["agent", "lead", "subagent"] = "agent"
    tells_of_place: bool = True  # a subagent hears of instruction files and the state of git
    appended: str = ""  # the end of a subagent's system prompt
    preloaded: tuple[str, ...] = ()  # skills whose whole text is in the conversation from the start


@dataclass(frozen=True)
class Limits:
    max_turns: int = 100
    max_attempts: int = 6  # of one model call
    backoff_seconds: float = 1.0  # doubles each attempt
    backoff_cap_seconds: float = 60.0
    retry_after_cap_seconds: float = 900.0  # a provider that asks for more is not waited for
    compaction_share: float = 0.8  # of the context window
    tool_output_bytes: int = 30_000  # shown to the model; the rest becomes an artefact
    shell_timeout_seconds: float = 120.0
    shell_timeout_cap_seconds: float = 600.0
    identical_calls_steer: int = 3
    identical_calls_end: int = 5


@dataclass(frozen=True)
class RunSpec:
    """One dispatch of one agent, as plain values. Built by `runs.runner` for each attempt."""

    run_id: str
    workspace_id: str
    agent_id: str
    agent_name: str  # slug
    agent_title: str
    model: str  # "provider/model", with fallbacks "a|b"; empty means DEFAULT_MODEL
    providers: Mapping[str, ProviderSettings]  # by provider name
    mode: Mode
    working_directory: Path
    artefact_directory: Path  # where output too long for the model is kept
    roots: tuple[Root, ...]
    git_identity: GitIdentity
    wake: Wake
    prompt: PromptInputs = PromptInputs()
    effort: Effort | None = None
    context_size: int | None = None  # tokens; None: the catalogue's window
    limits: Limits = Limits()
    environment: Mapping[str, str] = field(default_factory=dict)  # of child processes, added
    home_directory: Path | None = None  # HOME inside the sandbox; None: a new one each command
    allowed_tools: frozenset[str] | None = None  # None: all of the mode
    denied_tools: frozenset[str] = frozenset()
    may_delegate: bool = False  # there is somebody whom the run may start as a subagent
    skill_directories: tuple[Path, ...] = ()  # readable, never writable
    sandbox: Literal["auto", "required", "off"] = "auto"
    gateway_socket: Path | None = None  # reachable from the sandbox although the network is not
    notices: tuple[tuple[str, str], ...] = ()  # (code, sentence): said once when the run begins
    contract: str = ""  # what the run must deliver, in words; empty: nothing in particular
    catalogue: "ModelCatalogue | None" = None  # None: the one that comes with the product


# What the harness asks


@dataclass(frozen=True)
class GateCall:
    """A tool call, put to the gate just before its effect.

    A facet that is None was not stated: nobody knows what the call touches there. An empty tuple
    says that it touches nothing. `command` is the raw line of a shell call, for the gate to read.
    `approval_id` is a decision "allow" that already exists for this call: the gate may still
    deny (the world moved), it does not ask for the same thing again. With `asked_by_desk` the
    push desk asks for what this call does: the gate answers deny, or allow where it would ask.
    """

    call_id: str
    tool: str
    classes: frozenset[ActionClass]
    summary: str  # one line in words, as the inbox shows it
    input: Mapping[str, Any]
    command: str = ""
    paths: tuple[str, ...] | None = ()  # relative to the checkout where inside, else absolute
    hosts: tuple[str, ...] | None = ()
    refs: tuple[str, ...] | None = ()
    repositories: tuple[str, ...] | None = ()
    approval_id: str | None = None
    asked_by_desk: bool = False


@dataclass(frozen=True)
class Allow:
    rule: str = ""


@dataclass(frozen=True)
class Deny:
    reason: str
    rule: str = ""


@dataclass(frozen=True)
class Ask:
    """An approval is open (the gate made it); the run parks until it is decided."""

    approval_id: str
    reason: str = ""


Verdict = Allow | Deny | Ask


class Gate(Protocol):
    def check(self, call: GateCall) -> Verdict:
        """The rule's answer now. Asking twice for the same open call gives the same approval."""
        ...


@dataclass(frozen=True)
class Held:
    """The push waits for a decision; the decided approval event carries its outcome."""

    approval_id: str
    text: str = ""


@dataclass(frozen=True)
class Forwarded:
    text: str  # what the remote has now


@dataclass(frozen=True)
class Refused:
    reason: str


PushAnswer = Held | Forwarded | Refused


@dataclass(frozen=True)
class PushWish:
    repository: str  # name of the root
    path: Path
    remote: str
    refspecs: tuple[str, ...]
    force: bool
    call_id: str


class PushDesk(Protocol):
    """Judges and forwards pushes. The agent never holds a credential that could push."""

    def request(self, wish: PushWish) -> PushAnswer: ...


class EventSink(Protocol):
    def record(self, *events: Event) -> int:
        """Stores the events in one transaction, in order, with seqs that follow each other.

        Returns the seq of the last. A gap to the seq the harness knew before means that others
        wrote meanwhile; it then calls `arrived`. Raises `Released` when the run is not ours.
        """
        ...

    def delta(self, delta: Delta) -> None:
        """Shows a growing block. Never stored, may be dropped."""
        ...

    def arrived(self) -> Sequence[Event]:
        """What others wrote to this run since the last call, by seq (steer, message, decision)."""
        ...


@dataclass(frozen=True)
class SkillLine:
    name: str
    description: str
    repository: str = ""  # empty: a linked workspace skill
    location: str = ""  # path an agent may read, relative to its working directory
    runs_in: str | None = None  # the agent in which it runs (`context: fork`); "" the default one

    @property
    def full_name(self) -> str:
        """The name by which it is asked for."""
        return f"{self.repository}:{self.name}" if self.repository else self.name


class NoSkill(Exception):
    """The skill is there and may not be read now; the text is a sentence that says why."""


class SkillShelf(Protocol):
    def index(self) -> Sequence[SkillLine]:
        """Front matter of the linked skills and of the active repository's; bodies never.

        Asked for before each turn: it follows the repository that the agent works in.
        """
        ...

    def body(self, name: str, *, asked: bool = False) -> str | None:
        """The scanned body of `name` or `repo:name`; None when there is none of that name.

        Without `asked` only what is in the index can be had; a person who asks reaches every
        repository of the space. Raises NoSkill.
        """
        ...

    def news(self) -> Sequence[Event]:
        """Events that tell of what changed on the shelf since the last call, for the journal."""
        ...


@dataclass(frozen=True)
class DefinitionLine:
    name: str
    description: str
    origin: str = ""  # in words: whose file, which dialect


@dataclass(frozen=True)
class DefinitionWish:
    """An agent definition for the library of the member who asked; `tools` None: all of them."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str = ""
    replaces: bool = False  # a file of that name may be written over


@dataclass(frozen=True)
class DefinitionKept:
    path: str  # in its owner's home
    owner: str  # handle
    before: bytes | None
    after: bytes
    remarks: tuple[str, ...] = ()  # what the reader says of the file, and what stands in its way


class NotKept(Exception):
    """Nothing was written; the text is a sentence for the model that says why."""


class Catalog(Protocol):
    """Agent definitions that there are, resolved anew each time it is asked."""

    def definitions(self) -> Sequence[DefinitionLine]: ...

    def keep(self, wish: DefinitionWish) -> DefinitionKept:
        """The file stands in the library of the member who asked. Raises NotKept."""
        ...


@dataclass(frozen=True)
class ChildWish:
    """A subagent that the agent wants. `agent` empty means the default type of the conversation."""

    call_id: str
    description: str
    prompt: str
    agent: str = ""
    model: str = ""
    background: bool | None = None  # None: as its definition says
    isolation: str = ""
    unasked: bool = False  # the gate has not been asked about it


@dataclass(frozen=True)
class ChildBegun:
    run_id: str
    agent: str
    model: str
    background: bool = False


class NoChild(Exception):
    """No subagent was started; the text is a sentence for the model that says why."""


class Nursery(Protocol):
    """Starts subagents: child runs with a conversation of their own, below the same gate."""

    def types(self) -> Sequence[DefinitionLine]:
        """Whom this run may start now, by name, with what its definition says of itself."""
        ...

    def begin(self, wish: ChildWish) -> ChildBegun:
        """The child of this call; asking twice gives the same one. Raises NoChild."""
        ...


# What a model says


@dataclass(frozen=True)
class ToolSchema:
    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """One model call in neutral form; each provider writes its own wire from it."""

    model: str  # without the provider's prefix
    system: tuple[str, ...]  # the first part is byte-stable between turns
    messages: tuple[Any, ...]  # harness.conversation.Turn
    tools: tuple[ToolSchema, ...]
    max_output_tokens: int
    effort: Effort | None = None
    thinking: Literal["adaptive", "effort", "none"] = "none"


@dataclass(frozen=True, slots=True)
class TextPiece:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPiece:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    index: int
    text: str  # a piece of the arguments' JSON


@dataclass(frozen=True, slots=True)
class BlockDone:
    """A whole block, in the provider's own JSON."""

    index: int
    kind: Literal["text", "thinking", "tool_call"]
    block: dict[str, Any]
    call_id: str = ""
    name: str = ""
    input: dict[str, Any] | None = None
    invalid: str = ""  # the arguments were no JSON object; says why


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TurnDone:
    stop_reason: Literal["end", "tools", "max_tokens", "refusal", "overflow", "other"]
    usage: Usage
    message_id: str
    model: str


Piece = TextPiece | ThinkingPiece | CallPiece | BlockDone | TurnDone


class ModelClient(Protocol):
    kind: ProviderKind

    def stream(self, request: ModelRequest, stop: Stop) -> Iterator[Piece]:
        """Ends with a `TurnDone`, or raises `harness.providers.errors.ProviderError`.

        A stop shuts the socket down and raises the stop's end within a second.
        """
        ...

    def models(self) -> Sequence[str]:
        """Names the provider offers. Raises ProviderError."""
        ...

    def close(self) -> None: ...


# The doors of a run, bundled


@dataclass(frozen=True)
class Ports:
    gate: Gate
    sink: EventSink
    stop: Stop
    push_desk: PushDesk
    shelf: SkillShelf
    catalog: Catalog | None = None
    nursery: Nursery | None = None
    missing: Callable[[Sequence[Event]], str] | None = (
        None  # what of the contract is missing, or ""
    )
    models: Mapping[str, ModelClient] | None = None  # by provider name; tests and bench only
