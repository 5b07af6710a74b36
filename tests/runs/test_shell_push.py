"""A `git push` typed in a run's shell reaches the gateway, in the sandbox too, and is held."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from repositories.models import PushRequest
from tests.runs.stage import WithRepository
from tests.scripted.script import Call, Step

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.needs("bwrap", "socat")]
COMMAND = (
    "cd repos/engine && echo more >> README.md && git add README.md &&"
    " git -c user.name=E -c user.email=e@x.invalid commit -qm More && git push origin HEAD 2>&1"
)
STORY = [
    Step(calls=[Call("bash", {"command": COMMAND})]),
    Step(text="It is held."),
]


@pytest.fixture
def gateway(tmp_path: Path, settings: Any) -> Iterator[None]:
    """The gateway's own application on a unix socket, as the start serves it."""
    from controlcenter.gateway import application

    path = tmp_path / "g.sock"
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(str(path))
    settings.GATEWAY_SOCKET, settings.PUSH_HOLD_SECONDS = str(path), 0.2
    config = uvicorn.Config(application, lifespan="off", log_config=None)
    served = uvicorn.Server(config)
    thread = threading.Thread(target=served.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    while not served.started:
        time.sleep(0.01)
    yield
    served.should_exit = True
    thread.join(10)


@pytest.mark.req("CC-55", "CC-56")
def test_it_is_held_and_says_so(stage: WithRepository, gateway: None, settings: Any) -> None:
    with stage.model(*STORY):
        [run] = stage.say("@engineer push from the shell")
        stage.execute(run)
    with stage.cast.bound():
        results = [event.data for event in run.events.filter(kind="tool_result")]
        assert "held, request 1" in results[0]["content"], results
        assert PushRequest.objects.get().number == 1
    assert stage.remote.writes == []
