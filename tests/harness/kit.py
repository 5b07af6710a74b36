"""What the harness's tests stand on: a journal in memory, a gate and a push desk that answer what
the test says, and a place with real files and checkouts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness import errors, events
from harness.adapters.builtin import BuiltIn
from harness.events import Delta, Event, Kind
from harness.providers.demo import DemoClient
from harness.seam import (
    Allow,
    ChildBegun,
    ChildWish,
    DefinitionLine,
    Forwarded,
    GateCall,
    GitIdentity,
    Limits,
    NoChild,
    Ports,
    ProviderSettings,
    PushAnswer,
    PushWish,
    Root,
    RunSpec,
    SkillLine,
    Verdict,
    Wake,
)
from harness.stop import Stop
from outside import git
from outside.egress import Guard
from tests.remote.server import Remote
from tests.scripted.server import ScriptedServer

QUICK = Limits(backoff_seconds=0.0, shell_timeout_seconds=20.0)


@dataclass
class Journal:
    """The run's events as `runs.journal` keeps them: seq from 1 without gaps."""

    events: list[Event] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    commits: list[list[str]] = field(default_factory=list)  # kinds of each transaction
    on_record: Callable[[Event], None] = lambda event: None
    on_delta: Callable[[Delta], None] = lambda delta: None

    def record(self, *new: Event) -> int:
        self.commits.append([event.kind.value for event in new])
        for event in new:
            self.say(event)
        last = len(self.events)
        for event in self.events[last - len(new) :]:
            self.on_record(event)
        return last

    def delta(self, delta: Delta) -> None:
        self.deltas.append(delta)
        self.on_delta(delta)

    def arrived(self) -> Sequence[Event]:
        return list(self.events)

    def say(self, event: Event) -> None:
        """Somebody writes to the run: its worker, a member, a decision."""
        self.events.append(event.at(len(self.events) + 1))

    def of(self, *kinds: Kind) -> list[Mapping[str, Any]]:
        return [event.data for event in self.events if event.kind in kinds]

    @property
    def kinds(self) -> list[str]:
        return [event.kind.value for event in self.events]

    @property
    def results(self) -> list[str]:
        return [data["content"] for data in self.of(Kind.TOOL_RESULT)]


class Gate:
    """Answers what the test gave it by tool name, else allows; remembers what it was asked."""

    def __init__(self, **answers: Verdict) -> None:
        self.answers = answers
        self.calls: list[GateCall] = []

    def check(self, call: GateCall) -> Verdict:
        self.calls.append(call)
        return self.answers.get(call.tool, Allow())


class Desk:
    def __init__(self, answer: PushAnswer | None = None) -> None:
        self.answer = answer or Forwarded("Pushed.")
        self.wishes: list[PushWish] = []

    def request(self, wish: PushWish) -> PushAnswer:
        self.wishes.append(wish)
        return self.answer


@dataclass
class Shelf:
    bodies: dict[str, str] = field(default_factory=dict)

    def index(self) -> Sequence[SkillLine]:
        return [SkillLine(name, f"How to do {name}") for name in self.bodies]

    def body(self, name: str, *, asked: bool = False) -> str | None:
        return self.bodies.get(name)

    def news(self) -> Sequence[Event]:
        return ()


@dataclass
class Children:
    """Starts what it is told to know; a child ends when the test says so."""

    known: Sequence[str] = ("scout",)
    wishes: list[ChildWish] = field(default_factory=list)

    def types(self) -> Sequence[DefinitionLine]:
        return [
            DefinitionLine(name, f"Looks around as {name}. Use PROACTIVELY.") for name in self.known
        ]

    def begin(self, wish: ChildWish) -> ChildBegun:
        if wish.agent not in self.known:
            raise NoChild(f"There is no agent {wish.agent}.")
        self.wishes.append(wish)
        return ChildBegun(f"child-{len(self.wishes)}", wish.agent, "m", bool(wish.background))


@dataclass
class World:
    """A run's surroundings. `run()` executes until the run ends or waits, and may be repeated."""

    spec: RunSpec
    journal: Journal = field(default_factory=Journal)
    gate: Gate = field(default_factory=Gate)
    desk: Desk = field(default_factory=Desk)
    shelf: Shelf = field(default_factory=Shelf)
    stop: Stop = field(default_factory=Stop)
    children: Children | None = None
    missing: Callable[[Sequence[Event]], str] | None = None

    def run(self, **changes: Any) -> errors.RunEnded:
        """One attempt, as a worker would make it with nothing but the journal."""
        ports = Ports(
            gate=self.gate,
            sink=self.journal,
            stop=self.stop,
            push_desk=self.desk,
            shelf=self.shelf,
            nursery=self.children,
            missing=self.missing,
            models={"demo": DemoClient(pace_seconds=0)},
        )
        try:
            BuiltIn().run(replace(self.spec, **changes), list(self.journal.events), ports)
        except errors.RunEnded as ended:
            return ended

    def decide(self, decision: str, **more: Any) -> None:
        """A member answers what was asked last."""
        asked = self.journal.of(Kind.APPROVAL)[-1]
        self.journal.say(
            events.decided(
                asked["approval_id"],
                call_id=asked["call_id"],
                decision=decision,  # type: ignore[arg-type]
                **more,
            )
        )


def make_spec(base: Path, **changes: Any) -> RunSpec:
    """An engineer with a working directory below `base`, on the demo model, in chat."""
    here = base / "agents" / "engineer"
    here.mkdir(parents=True, exist_ok=True)
    spec = RunSpec(
        run_id="run-1",
        workspace_id="analytical",
        agent_id="agent-1",
        agent_name="engineer",
        agent_title="Engineer",
        model="demo/demo",
        providers={"demo": ProviderSettings("demo", "demo")},
        mode="chat",
        working_directory=here,
        artefact_directory=base / "artefacts",
        roots=(),
        git_identity=GitIdentity(
            "Engineer (agent)", "agent-1@agents.invalid", "Ada <ada@analytical.invalid>"
        ),
        wake=Wake("user_message", "hello", author="ada"),
        limits=QUICK,
    )
    return replace(spec, **changes)


def talking_to(server: ScriptedServer, *, key: str = "k") -> dict[str, Any]:
    """Changes of a spec that make it use this Anthropic server."""
    settings = ProviderSettings("anthropic", "anthropic", api_key=key, base_url=server.url)
    return {"model": "anthropic/claude-opus-5-5", "providers": {"anthropic": settings}}


def make_root(base: Path, remote: Remote, name: str, files: Mapping[str, str]) -> Root:
    """A real checkout of a new repository of the remote."""
    address = remote.create(name, dict(files))
    checkout = git.Checkout(
        git_dir=base / "git" / name,
        work_tree=base / "repos" / name,
        view=base / "server" / name,
        mirror=base / "mirrors" / f"{name}.git",
    )
    guard = Guard.of(hosts=[f"127.0.0.1:{remote.port}"])
    git.fetch_mirror(checkout.mirror, git.Remote(address), guard=guard)
    git.make_checkout(checkout, branch="main", commit=remote.tip(name), address=address)
    return Root(name, checkout.work_tree, writable=True, checkout=checkout, branch="main")
