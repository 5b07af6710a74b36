"""Bad input and trouble: a run ends with its reason in words, and the transcript shows them."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from repositories import places
from repositories.models import Repository
from runs import silence
from runs.models import Run, RunCursor
from tests.runs.stage import Stage, WithRepository, at_request
from tests.scripted import anthropic, openai
from tests.scripted.script import Call, Step
from workspaces.models import Credential, ModelConnection

pytestmark = pytest.mark.django_db(transaction=True)
PROTOCOLS = [(anthropic, ""), (openai, "/v1")]


@pytest.fixture(autouse=True)
def quick(settings: Any) -> None:
    """The same waits between attempts, in thousandths."""
    settings.CC_RUN_LIMITS = {"backoff_seconds": 0.001}


def page_of(stage: Stage, run: Run) -> str:
    """The text that a viewer reads on the run's page."""
    client = stage.cast.client(stage.cast.vera)
    answer = client.get(stage.cast.path(f"runs/{run.pk}/"))
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def assert_ends(stage: Stage, run: Run, *, reason: str, words: str) -> Run:
    done = stage.execute(run)
    assert (done.state, done.terminal_reason) == ("failed", reason), done.summary
    assert words in done.summary
    tries = sum("attempt" in event.data for event in stage.events(run) if event.kind == "error")
    assert page_of(stage, run).count(done.summary) == tries + 1
    stage.assert_whole(run)
    return done


@pytest.mark.parametrize(("protocol", "path"), PROTOCOLS, ids=["anthropic", "openai"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("401", "does not accept the key"),
        ("403", "does not let it use this model"),
        ("404", "knows no model named claude-opus-5-5"),
        ("400", "refused the request"),
        ("html", "does not speak"),
    ],
)
def test_trouble_that_stays_ends_the_run_at_once(
    plain: Stage, protocol: Any, path: str, fault: str, words: str
) -> None:
    with plain.model(Step(first=[fault]), protocol=protocol, path=path) as model:
        [run] = plain.say("@engineer tidy up")
        assert_ends(plain, run, reason="provider_refused", words=words)
        assert len(model.requests) == 1
        model.give_up()


@pytest.mark.parametrize(("protocol", "path"), PROTOCOLS, ids=["anthropic", "openai"])
@pytest.mark.parametrize("fault", ["429", "500", "529", "close", "cut", "garbage"])
def test_trouble_that_passes_is_waited_for_and_told(
    plain: Stage, protocol: Any, path: str, fault: str
) -> None:
    with plain.model(Step(first=[fault, fault], text="Tidied."), protocol=protocol, path=path):
        [run] = plain.say("@engineer tidy up")
        done = plain.execute(run)
    assert (done.state, done.summary) == ("succeeded", "Tidied.")
    assert page_of(plain, run).count("Attempt ") == 2
    assert "half a sent" not in page_of(plain, run)
    plain.assert_whole(run)


@pytest.mark.parametrize(
    ("fault", "words"),
    [("429", "slow down"), ("529", "overloaded"), ("500", "an error of its own")],
)
def test_trouble_that_does_not_pass_ends_the_run(plain: Stage, fault: str, words: str) -> None:
    with plain.model(Step(first=[fault] * 6)) as model:
        [run] = plain.say("@engineer tidy up")
        assert_ends(plain, run, reason="api_error", words=words)
        assert len(model.requests) == 6
        model.give_up()


def test_what_was_done_before_the_provider_broke_is_said_to_be_partial(plain: Stage) -> None:
    with plain.model(Step(calls=[Call("todo", {"todos": []})]), Step(first=["500"] * 6)) as model:
        [run] = plain.say("@engineer tidy up")
        assert_ends(plain, run, reason="partial_api_error", words="an error of its own")
        model.give_up()


def test_a_server_that_is_down_is_named(plain: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    plain.connect("anthropic", f"http://127.0.0.1:{port}")
    [run] = plain.say("@engineer tidy up")
    assert_ends(plain, run, reason="api_error", words="mine cannot be reached")


def test_a_slow_answer_is_waited_for(plain: Stage) -> None:
    with plain.model(Step(text="Tidied, slowly.", pieces=5, pause_seconds=0.1)):
        [run] = plain.say("@engineer tidy up")
        assert plain.execute(run).summary == "Tidied, slowly."


@pytest.mark.parametrize("fault", ["silent", "mute"])
def test_a_server_that_says_nothing_is_given_up(plain: Stage, settings: Any, fault: str) -> None:
    settings.CC_PROVIDER_SECONDS = 0.2
    with plain.model(Step(first=[fault] * 6)) as model:
        [run] = plain.say("@engineer tidy up")
        assert_ends(plain, run, reason="api_error", words="sent nothing for too long")
        model.give_up()


def test_the_watchdog_ends_what_the_provider_s_patience_does_not(plain: Stage) -> None:
    def an_hour_passes() -> None:
        with plain.cast.bound():
            RunCursor.objects.filter(run=run).update(began_at=timezone.now() - timedelta(hours=1))
        silence.watch()

    with plain.model(Step(first=["silent"])) as model:
        [run] = plain.say("@engineer tidy up")
        at_request(model, 1, an_hour_passes)
        assert_ends(plain, run, reason="silence", words="no output")
        model.give_up()


def test_a_model_that_declines_says_so(plain: Stage) -> None:
    with plain.model(Step(first=["refusal"])) as model:
        [run] = plain.say("@engineer tidy up")
        done = plain.execute(run)
        model.give_up()
    assert (done.state, done.terminal_reason) == ("failed", "provider_refused")


# ---------------------------------------------------------------- settings


def test_without_a_model_the_run_says_who_can_set_one(plain: Stage) -> None:
    with plain.cast.bound():
        ModelConnection.objects.all().delete()
    [run] = plain.say("@engineer tidy up")
    assert_ends(plain, run, reason="error", words="No model is set up yet")


def test_an_agent_whose_connection_is_gone_says_so(plain: Stage) -> None:
    with plain.cast.bound():
        plain.cast.engineer.model_id = "gone/model"
        plain.cast.engineer.save(update_fields=["model_id"])
    [run] = plain.say("@engineer tidy up")
    assert_ends(plain, run, reason="error", words="no such connection")


@pytest.mark.parametrize("is_used", [True, False])
def test_a_key_that_cannot_be_unsealed_matters_only_where_it_is_used(
    plain: Stage, is_used: bool
) -> None:
    with plain.cast.bound():
        sealed = Credential.objects.create(kind="model", label="old", sealed=b"of another key")
        if is_used:
            ModelConnection.objects.update(is_default=False)
        ModelConnection.objects.create(
            provider="anthropic", name="old", credential=sealed, is_default=is_used
        )
    [run] = plain.say("@engineer hello")
    if is_used:
        assert_ends(plain, run, reason="error", words="A stored secret cannot be read")
    else:
        assert plain.execute(run).state == "succeeded"


def test_an_adapter_that_is_gone_is_named(plain: Stage) -> None:
    with plain.cast.bound():
        plain.cast.engineer.adapter_id = "telegraph"
        plain.cast.engineer.save(update_fields=["adapter_id"])
    [run] = plain.say("@engineer tidy up")
    assert_ends(plain, run, reason="error", words="no adapter called 'telegraph'")


# ---------------------------------------------------------------- disk and repositories


def test_a_full_disk_is_said_before_the_run_begins(plain: Stage, settings: Any) -> None:
    django_settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    settings.DISK_RESERVE_BYTES = 1 << 60
    [run] = plain.say("@engineer tidy up")
    assert_ends(plain, run, reason="disk_full", words="disk is full")


@pytest.fixture
def disk(request: pytest.FixtureRequest, data_dir: Path, settings: Any) -> Iterator[Path]:
    """The data directory on a disk of its own that is as small as the test says."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    settings.DISK_RESERVE_BYTES = 0
    data_dir.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", request.param, "tmpfs", str(data_dir)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    yield data_dir
    subprocess.run(["umount", "-l", str(data_dir)], check=True)


@pytest.mark.parametrize("disk", ["size=2m"], indirect=True)
def test_a_disk_that_fills_up_in_the_middle_ends_the_run_with_that_reason(
    plain: Stage, disk: Path
) -> None:
    big = Call("write", {"path": "big.txt", "content": "x" * 4_000_000})
    with plain.model(Step(text="I write.", calls=[big])):
        [run] = plain.say("@engineer tidy up")
        assert_ends(plain, run, reason="disk_full", words="disk is full")


@pytest.mark.parametrize("disk", ["size=2m,nr_inodes=3"], indirect=True)
def test_a_disk_without_room_for_the_working_directory_is_said(plain: Stage, disk: Path) -> None:
    [run] = plain.say("@engineer tidy up")
    assert_ends(plain, run, reason="disk_full", words="disk is full")


def test_files_that_vanish_in_the_middle_end_nothing_but_the_call(stage: WithRepository) -> None:
    def all_is_removed() -> None:
        shutil.rmtree(
            django_settings.DATA_DIR / "workspaces" / str(stage.cast.workspace.pk) / "spaces"
        )

    steps = [
        Step(calls=[Call("read", {"path": "repos/engine/README.md"})]),
        Step(calls=[Call("read", {"path": "repos/engine/README.md"})]),
        Step(calls=[Call("bash", {"command": "ls"})]),
        Step(calls=[Call("git_commit", {"repository": "engine", "message": "all"})]),
        Step(text="The files are gone; I stop."),
    ]
    with stage.model(*steps) as model:
        [run] = stage.say("@engineer look around")
        at_request(model, 2, all_is_removed)
        done = stage.execute(run)
    assert done.state == "succeeded"
    results = [e.data for e in stage.events(run) if e.kind == "tool_result"]
    assert [each["is_error"] for each in results] == [False, True, True, True]
    assert "failed inside" not in stage.said(run)
    with stage.model(
        Step(calls=[Call("read", {"path": "repos/engine/README.md"})]), Step(text="Ok.")
    ):
        [again] = stage.say("@engineer look again")
        assert stage.execute(again).state == "succeeded"
    assert "# Engine" in stage.said(again)


def test_an_empty_repository_is_worked_in(stage: WithRepository) -> None:
    stage.remote.create("blank", files={})
    point_to(stage, "blank")
    write = Call("write", {"path": "repos/engine/README.md", "content": "# New\n"})
    steps = [
        Step(calls=[write]),
        Step(calls=[Call("git_commit", {"repository": "engine", "message": "Begin"})]),
        Step(text="Begun."),
    ]
    with stage.model(*steps):
        [run] = stage.say("@engineer begin")
        assert stage.execute(run).state == "succeeded"
    assert all(not e.data["is_error"] for e in stage.events(run) if e.kind == "tool_result")


@pytest.mark.parametrize("kind", ["missing", "private"])
def test_a_repository_that_cannot_be_had_is_named(stage: WithRepository, kind: str) -> None:
    if kind == "private":
        stage.remote.create("private", files={"README.md": "# Secret\n"})
        stage.remote.credential, stage.remote.private_reads = ("bot", "secret"), True
    point_to(stage, kind)
    [run] = stage.say("@engineer tidy up")
    assert_ends(stage, run, reason="error", words="The checkout of engine cannot be had")


def point_to(stage: WithRepository, name: str) -> None:
    """The space's repository is another one, which was never fetched."""
    with stage.cast.bound():
        Repository.objects.update(
            address=stage.remote.address(name), state="queued", last_fetched_at=None
        )
    shutil.rmtree(places.mirror(stage.cast.workspace.pk, "engine"), ignore_errors=True)
