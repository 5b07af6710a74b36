"""An agent's checkout, its git routed through a real gateway, and a recording remote behind it."""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import uvicorn

from guardrails import approvals
from guardrails.approvals import Answer
from guardrails.models import Approval
from repositories import adding, checkouts, forwarding, push_requests
from repositories.checkouts import Prepared
from repositories.gateway.environment import run_git_environment
from repositories.gateway.judge import Origin
from repositories.models import PushRequest, SpaceRepository
from tests.cast import Cast
from tests.push import judging
from tests.push.judging import Bench
from tests.remote.server import Remote, serve
from workspaces.models import Membership

IDENTITY = {
    "GIT_AUTHOR_NAME": "Engineer (agent)",
    "GIT_AUTHOR_EMAIL": "engineer@agents.example.org",
    "GIT_COMMITTER_NAME": "Engineer (agent)",
    "GIT_COMMITTER_EMAIL": "engineer@agents.example.org",
}


@dataclass
class Said:
    """What git answered."""

    code: int
    text: str


@dataclass
class Story:
    """The engineer at work in `apple`, whose pushes go through the gateway."""

    cast: Cast
    remote: Remote
    bench: Bench
    gateway: str
    origin: Origin
    prepared: Prepared
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.prepared.path

    def git(self, *arguments: str, **extra: str) -> Said:
        """Runs git in the checkout as the agent does."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **self.environment, **extra},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        return Said(done.returncode, done.stdout + done.stderr)

    def commit(self, text: str, *, file: str = "README.md") -> str:
        """A commit of the agent's. Returns its id."""
        target = self.path / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        self.git("add", "--", file)
        assert self.git("commit", "-qm", f"Write {file}").code == 0
        return self.git("rev-parse", "HEAD").text.strip()

    def requests(self) -> list[PushRequest]:
        with self.cast.bound():
            return list(PushRequest.objects.select_related("approval").order_by("number"))

    def request(self) -> PushRequest:
        (only,) = self.requests()
        return only

    def decide(
        self, request: PushRequest, answer: Answer = Answer.ONCE, *, by: Membership | None = None
    ) -> Approval:
        """A person answers in the inbox."""
        with self.cast.bound():
            assert request.approval is not None
            decided = approvals.decide(
                request.approval,
                by=(by or self.cast.ada).principal,
                answer=answer,
                note="tests red",
            )
            push_requests.answered(decided)
            return decided

    def forward(self, request: PushRequest) -> str:
        """A worker hears the doorbell."""
        return forwarding.forward(request.workspace_id, request.pk)


@pytest.fixture
def remote(tmp_path: Path, settings: Any) -> Iterator[Remote]:
    with serve(tmp_path / "hosted") as running:
        settings.ALLOW_HOSTS = [f"127.0.0.1:{running.port}"]
        yield running


@pytest.fixture
def bench(settings: Any) -> Bench:
    """The judge and the other rooms' ears, as tests hold them. A push is held briefly."""
    settings.CC_PUSH_JUDGE = "tests.push.judging.judge"
    settings.CC_PUSH_SETTLED = "tests.push.judging.settled"
    settings.CC_RUN_CHECK = "tests.push.judging.may_use_git"
    settings.PUSH_HOLD_SECONDS = 0
    settings.MIRROR_FRESH_SECONDS = 3600
    return judging.reset()


@pytest.fixture
def always_fresh(story: "Story", settings: Any) -> None:
    """The mirror asks the remote each time, as it does after some seconds."""
    settings.MIRROR_FRESH_SECONDS = 0


@pytest.fixture
def no_broker(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The wire to the broker is cut: what was rung for."""
    rung: list[str] = []
    monkeypatch.setattr(
        "celery.current_app.send_task", lambda name, *, args, queue: rung.append(name)
    )
    return rung


@pytest.fixture
def gateway() -> Iterator[str]:
    """The gateway process's application, served by uvicorn on loopback."""
    from controlcenter.gateway import application

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listener.close()


@pytest.fixture
def story(
    committed_cast: Cast, remote: Remote, bench: Bench, gateway: str, no_broker: list[str]
) -> Story:
    """Ada's space has `apple`; the engineer has a checkout of it."""
    cast = committed_cast
    address = remote.create("apple", {"README.md": "hello\n"})
    remote.credential = ("x-access-token", "the-write-token-of-the-server")
    return begin(cast, remote, bench, gateway, address)


def begin(cast: Cast, remote: Remote, bench: Bench, gateway: str, address: str) -> Story:
    with cast.bound():
        repository = adding.add(
            address, by=cast.ada.principal, secret="the-write-token-of-the-server"
        )
        SpaceRepository.objects.create(space=cast.space, repository=repository)
    adding.fetch(cast.workspace.pk, repository.pk)
    prepared = next(
        each for each in checkouts.prepare(cast.conversation) if each.name == repository.name
    )
    assert cast.engineer.principal_id is not None
    origin = Origin(
        cast.workspace.pk,
        uuid4(),
        cast.conversation.pk,
        cast.space.pk,
        cast.engineer.principal_id,
        fence=1,
    )
    environment = run_git_environment(
        origin, [prepared], ceiling=prepared.path.parent, gateway_url=gateway
    )
    return Story(cast, remote, bench, gateway, origin, prepared, environment | IDENTITY)


def wait_for(what: Callable[[], object], *, seconds: float = 20) -> None:
    """Returns once `what` is true. Fails after the time."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError("it did not come true in time")
        time.sleep(0.02)
