"""What a run needs around it: a model connection, and for some a remote with a repository."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection

from agents.paths import conversation_directory
from guardrails import approvals
from guardrails.models import Approval
from harness.events import Event
from repositories import adding, forwarding
from repositories.models import PushRequest, Repository, SpaceRepository
from runs import dispatch, hearing, journal, runner
from runs.models import Run
from tests.cast import Cast
from tests.remote.server import Remote, serve
from tests.scripted import anthropic
from tests.scripted.script import Step
from tests.scripted.server import ScriptedServer
from workspaces.models import Membership, ModelConnection


@dataclass
class Stage:
    """The cast with a model; `say` and `execute` are what a page and a worker do."""

    cast: Cast

    def say(
        self, text: str, *, by: Membership | None = None, client_key: UUID | None = None
    ) -> list[Run]:
        with self.cast.bound():
            _message, runs = dispatch.post(
                self.cast.conversation,
                author=(by or self.cast.ada).principal,
                body=text,
                client_key=client_key,
            )
            return runs

    def execute(self, run: Run) -> Run:
        runner.execute(run.workspace_id, run.pk)
        return self.fresh(run)

    def act(self, act: Callable[..., Any], run: Run, **more: Any) -> Any:
        """What a member's click does: one act in one transaction."""
        with self.cast.bound():
            return act(Run.objects.get(pk=run.pk), by=self.cast.ada.principal, **more)

    def fresh(self, run: Run) -> Run:
        with self.cast.bound():
            return Run.objects.select_related("agent", "conversation").get(pk=run.pk)

    def runs(self) -> list[Run]:
        with self.cast.bound():
            return list(Run.objects.order_by("queued_at"))

    def events(self, run: Run) -> list[Event]:
        with self.cast.bound():
            return journal.read(run.pk)

    def kinds(self, run: Run) -> list[str]:
        return [event.kind.value for event in self.events(run)]

    def said(self, run: Run) -> str:
        """Everything that stands in the run's journal, as one text."""
        return "\n".join(str(event.data) for event in self.events(run))

    def change(self, run: Run, **fields: Any) -> None:
        """Puts the run's row where time or a death would have brought it."""
        with self.cast.bound():
            Run.objects.filter(pk=run.pk).update(**fields)

    def spec_directory(self, run: Run) -> Path:
        """Where the run's agent works."""
        fresh = self.fresh(run)
        home = conversation_directory(fresh.workspace_id, fresh.space_id, fresh.conversation_id)
        folder: Path = home / "agents" / fresh.agent.name
        return folder

    def pending(self) -> Approval:
        with self.cast.bound():
            return Approval.objects.pending().get()

    def decide(
        self,
        answer: approvals.Answer,
        *,
        note: str = "",
        approval: Approval | None = None,
        by: Membership | None = None,
    ) -> None:
        with self.cast.bound():
            closed = approvals.decide(
                approval or self.pending(),
                by=(by or self.cast.ada).principal,
                answer=answer,
                note=note,
            )
            hearing.hear(closed)
        self.forward()

    def forward(self) -> None:
        with self.cast.bound():
            waiting = list(PushRequest.objects.filter(state=PushRequest.State.APPROVED))
        for request in waiting:
            forwarding.forward(request.workspace_id, request.pk)

    @contextmanager
    def model(
        self, *steps: Step, protocol: Any = anthropic, path: str = "", **options: Any
    ) -> Iterator[ScriptedServer]:
        """The workspace's model speaks from a script, over real HTTP."""
        with protocol.scripted(*steps, **options) as server:
            name = protocol.__name__.rpartition(".")[2]
            self.connect(name, server.url + path)
            yield server

    def connect(self, provider: str, url: str, model: str = "claude-opus-5-5") -> None:
        with self.cast.bound():
            ModelConnection.objects.all().delete()
            ModelConnection.objects.create(
                provider=provider,
                name="mine",
                base_url=url,
                default_model=model,
                is_default=True,
                is_house_address=True,
            )

    def assert_whole(self, run: Run) -> None:
        """Invariant: events count 1..n, and `done` is there once, last, if the run has ended."""
        with self.cast.bound():
            fresh = Run.objects.select_related("cursor").get(pk=run.pk)
            rows = list(fresh.events.order_by("seq").values_list("seq", "kind"))
        assert [seq for seq, _kind in rows] == list(range(1, len(rows) + 1))
        assert fresh.cursor.last_seq == len(rows)
        assert fresh.cursor.fence == fresh.fence
        ends = [seq for seq, kind in rows if kind == "done"]
        assert ends == ([len(rows)] if fresh.state in Run.ENDED else [])


@dataclass
class WithRepository(Stage):
    """The same with a repository in the space, behind real HTTP."""

    remote: Remote
    repository: Repository


@contextmanager
def set_stage(cast: Cast, tmp_path: Path, settings: Any) -> Iterator[WithRepository]:
    with serve(tmp_path / "remote") as remote:
        settings.ALLOW_HOSTS = [f"127.0.0.1:{remote.port}"]
        remote.create("engine", files={"README.md": "# Engine\n"})
        with cast.bound():
            repository = adding.add(remote.address("engine"), by=cast.ada.principal)
            SpaceRepository.objects.create(space=cast.space, repository=repository)
        set_demo(cast)
        adding.fetch(cast.workspace.pk, repository.pk)
        with cast.bound():
            repository.refresh_from_db()
        yield WithRepository(cast, remote, repository)


def set_demo(cast: Cast) -> None:
    with cast.bound():
        ModelConnection.objects.create(provider="demo", name="demo", is_default=True)


def together(acts: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the acts return (or raise), each in a thread of its own, all begun at one moment."""
    gate = threading.Barrier(len(acts))
    results: list[Any] = [None] * len(acts)

    def play(index: int) -> None:
        try:
            gate.wait(30)
            results[index] = acts[index]()
        except Exception as problem:  # noqa: BLE001 - handed back to the test
            results[index] = problem
        finally:
            connection.close()

    threads = [threading.Thread(target=play, args=(index,)) for index in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    return results


@contextmanager
def beside(act: Callable[[], Any]) -> Iterator[list[Any]]:
    """The act runs in a thread while the test goes on; leaving waits for its result."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.extend(together([act])))
    thread.start()
    try:
        yield results
    finally:
        thread.join(100)
    for result in results:
        if isinstance(result, Exception):
            raise result


def elsewhere(act: Callable[[], Any]) -> Any:
    """The same act in another thread, with a connection of its own; waits for it."""
    [result] = together([act])
    if isinstance(result, Exception):
        raise result
    return result


def at_request(model: ScriptedServer, number: int, act: Callable[[], Any]) -> None:
    """While the model has its request of that number, before it answers, this happens."""

    def come() -> None:
        if len(model.requests) == number:
            elsewhere(act)

    model.on_request = come
