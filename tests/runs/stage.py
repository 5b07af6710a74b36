"""What a run needs around it: a remote, a repository, a model connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guardrails import approvals
from guardrails.models import Approval
from repositories import adding, forwarding
from repositories.models import PushRequest, Repository, SpaceRepository
from runs import dispatch, hearing, journal, runner
from runs.models import Run
from tests.cast import Cast
from tests.remote.server import Remote, serve
from workspaces.models import Membership, ModelConnection


@dataclass
class Stage:
    """The cast with a repository and a model; `say` and `execute` are what a page and a worker do."""

    cast: Cast
    remote: Remote
    repository: Repository

    def say(self, text: str, *, by: Membership | None = None) -> list[Run]:
        with self.cast.bound():
            author = (by or self.cast.ada).principal
            _message, runs = dispatch.post(self.cast.conversation, author=author, body=text)
            return runs

    def execute(self, run: Run) -> Run:
        runner.execute(run.workspace_id, run.pk)
        return self.fresh(run)

    def fresh(self, run: Run) -> Run:
        with self.cast.bound():
            return Run.objects.select_related("agent", "conversation").get(pk=run.pk)

    def kinds(self, run: Run) -> list[str]:
        with self.cast.bound():
            return [event.kind.value for event in journal.read(run.pk)]

    def pending(self) -> Approval:
        with self.cast.bound():
            return Approval.objects.pending().get()

    def decide(self, answer: approvals.Answer, *, note: str = "") -> None:
        with self.cast.bound():
            closed = approvals.decide(
                self.pending(), by=self.cast.ada.principal, answer=answer, note=note
            )
            hearing.hear(closed)
        self.forward()

    def forward(self) -> None:
        with self.cast.bound():
            waiting = list(PushRequest.objects.filter(state=PushRequest.State.APPROVED))
        for request in waiting:
            forwarding.forward(request.workspace_id, request.pk)


@contextmanager
def set_stage(cast: Cast, tmp_path: Path, settings: Any) -> Iterator[Stage]:
    with serve(tmp_path / "remote") as remote:
        settings.ALLOW_HOSTS = [f"127.0.0.1:{remote.port}"]
        remote.create("engine", files={"README.md": "# Engine\n"})
        with cast.bound():
            repository = adding.add(remote.address("engine"), by=cast.ada.principal)
            SpaceRepository.objects.create(space=cast.space, repository=repository)
            ModelConnection.objects.create(provider="demo", name="demo", is_default=True)
        adding.fetch(cast.workspace.pk, repository.pk)
        with cast.bound():
            repository.refresh_from_db()
        yield Stage(cast, remote, repository)
