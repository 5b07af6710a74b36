"""Races and deaths around a forward: whatever happens, the remote is written once."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from guardrails import approvals
from guardrails.approvals import AlreadyDecided, Answer
from guardrails.models import Approval
from repositories import forwarding, push_requests, pushing, recovery
from repositories.models import PushRequest
from tests.push.conftest import Story, wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak, pytest.mark.timeout(900)]

APPROVERS = 20
ROUNDS = int(os.environ.get("CC_SOAK_ROUNDS", "25"))

WORKER = """
import sys
from pathlib import Path
from uuid import UUID
import django
django.setup()
from django.conf import settings
settings.DATA_DIR = Path(sys.argv[1])
settings.CC_PUSH_SETTLED = "tests.push.judging.settled"
from repositories import forwarding
print(forwarding.forward(UUID(sys.argv[2]), UUID(sys.argv[3])))
"""


def hold(story: Story, text: str) -> PushRequest:
    """A fresh push that waits."""
    story.commit(text)
    (outcome,) = pushing.push_from_checkout(story.origin, "apple", ["main"])
    assert outcome.request_id is not None
    with story.cast.bound():
        row: PushRequest = PushRequest.objects.select_related("approval").get(pk=outcome.request_id)
    return row


def start_worker(story: Story, request: PushRequest, **environment: str) -> "subprocess.Popen[str]":
    """A worker process of its own at this forward, which can be killed."""
    from django.conf import settings

    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            WORKER,
            str(settings.DATA_DIR),
            str(request.workspace_id),
            str(request.pk),
        ],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "controlcenter.settings",
            "DATABASE_URL": database_url(),
            "CC_ALLOW_HOSTS": settings.ALLOW_HOSTS[0],
            "CC_DB_POOL": "0",
            **environment,
        },
        stdout=subprocess.PIPE,
        text=True,
    )


def database_url() -> str:
    given = connection.settings_dict
    password = f":{given['PASSWORD']}" if given["PASSWORD"] else ""
    host = f"?host={given['HOST']}&port={given['PORT']}" if given["HOST"] else ""
    return f"postgresql://{given['USER']}{password}@/{given['NAME']}{host}"


def lapse(story: Story, request: PushRequest) -> None:
    """The lease of a dead worker has run out."""
    with story.cast.bound():
        past = timezone.now() - timedelta(seconds=1)
        PushRequest.objects.filter(pk=request.pk).update(forward_until=past)


def test_twenty_approvers_decide_and_forward_once(story: Story) -> None:
    def act(request: PushRequest, number: int) -> str:
        try:
            with story.cast.bound():
                by = (story.cast.ada, story.cast.ben)[number % 2].principal
                answer = Answer.ONCE if number % 5 else Answer.DENY
                decided = approvals.decide(request.approval, by=by, answer=answer)
                push_requests.answered(decided)
            result = decided.state
        except AlreadyDecided:
            result = "late"
        forwarding.forward(request.workspace_id, request.pk)
        connections.close_all()
        return result

    for number in range(ROUNDS):
        before = len(story.remote.writes)
        request = hold(story, f"round {number}\n")
        with ThreadPoolExecutor(APPROVERS) as pool:
            results = list(pool.map(partial(act, request), range(APPROVERS)))
        wait_for(partial(is_settled, story, request))
        decisions = [each for each in results if each != "late"]
        assert len(decisions) == 1, results
        after = reread(story, request)
        assert after.state == ("forwarded" if decisions == ["approved"] else "refused")
        assert len(story.remote.writes) - before == (after.state == "forwarded")
        if after.state == "refused":
            story.git("reset", "-q", "--hard", "origin/main")


def is_settled(story: Story, request: PushRequest) -> bool:
    return not reread(story, request).is_open


def reread(story: Story, request: PushRequest) -> PushRequest:
    with story.cast.bound():
        row: PushRequest = PushRequest.objects.get(pk=request.pk)
    return row


@pytest.mark.parametrize("point", ["push.claimed", "push.forwarded"])
@pytest.mark.parametrize("round_", range(max(1, ROUNDS // 5)))
def test_a_death_at_each_marked_point_is_recovered_once(
    story: Story, no_broker: list[str], point: str, round_: int
) -> None:
    request = hold(story, f"{point} {round_}\n")
    story.decide(request)
    worker = start_worker(story, request, CC_CRASH=point)
    assert worker.wait(60) == -9
    assert reread(story, request).state == "forwarding"
    assert story.forward(request) == "forwarding", "the lease still holds"
    lapse(story, request)
    no_broker.clear()
    recovery.sweep()
    assert no_broker == [push_requests.FORWARD]
    assert story.forward(request) == "forwarded"
    assert len(story.remote.writes) == 1
    assert [end.state for end in story.bench.ends] == ["forwarded"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_worker_killed_while_the_remote_writes(story: Story, moment: str) -> None:
    request = hold(story, "one\n")
    story.decide(request)
    workers: list[subprocess.Popen[str]] = []

    def kill() -> None:
        workers[0].kill()
        workers[0].wait()

    setattr(story.remote, f"{moment}_write", kill)
    workers.append(start_worker(story, request))
    wait_for(lambda: story.remote.tip("apple") != story.prepared.base, seconds=60)
    story.remote.before_write = story.remote.after_write = None
    workers[0].wait(60)
    lapse(story, request)
    assert story.forward(request) == "forwarded"
    assert len(story.remote.writes) == 1


def test_a_worker_that_comes_back_from_the_dead_changes_nothing(story: Story) -> None:
    request = hold(story, "one\n")
    story.decide(request)
    zombie = forwarding._claim(request.workspace_id, request.pk)
    assert zombie is not None
    lapse(story, request)
    assert story.forward(request) == "forwarded"
    zombie.renewed = 0
    forwarding._carry_out(zombie)
    after = reread(story, request)
    assert (after.state, after.attempts) == ("forwarded", 2)
    assert len(story.remote.writes) == 1
    assert len(story.bench.ends) == 1


def test_a_remote_that_is_down_is_tried_again_and_written_once(story: Story, settings: Any) -> None:
    settings.PUSH_RETRY_SECONDS = 0
    request = hold(story, "one\n")
    story.decide(request)
    story.remote.fail_with = 503
    assert story.forward(request) == "forwarding"
    lapse(story, request)
    assert story.forward(request) == "forwarding"
    story.remote.fail_with = 0
    lapse(story, request)
    assert story.forward(request) == "forwarded"
    assert len(story.remote.writes) == 1


def test_a_remote_that_stays_down_ends_in_words(story: Story, settings: Any) -> None:
    settings.PUSH_RETRY_SECONDS = 0
    request = hold(story, "one\n")
    story.decide(request)
    story.remote.fail_with = 503
    for _ in range(forwarding.MAX_ATTEMPTS):
        story.forward(request)
        lapse(story, request)
    after = reread(story, request)
    assert (after.state, after.outcome) == (
        "failed",
        "The remote does not answer. Check the address, or try again later.",
    )


def test_a_decision_that_nobody_heard_is_found_by_the_sweep(
    story: Story, no_broker: list[str]
) -> None:
    request = hold(story, "one\n")
    with story.cast.bound():
        approvals.decide(request.approval, by=story.cast.ada.principal, answer=Answer.ONCE)
        assert Approval.objects.get().state == "approved"
    recovery.sweep()
    assert reread(story, request).state == "approved"
    assert push_requests.FORWARD in no_broker
    assert story.forward(request) == "forwarded"


def test_a_large_push_leaves_the_memory_of_the_gateway_flat(story: Story) -> None:
    random, megabytes = Random(7), 300
    with (story.path / "large").open("wb") as file:
        for _ in range(megabytes):
            file.write(random.randbytes(1 << 20))
    story.git("-c", "core.bigFileThreshold=1m", "add", ".")
    story.git("commit", "-qm", "Large")
    before = resident_bytes()
    said = story.git("push", "origin", "main")
    assert "held, request 1" in said.text
    assert story.request().pack_bytes > megabytes << 20
    assert resident_bytes() - before < 60 << 20


def resident_bytes() -> int:
    """The most this process has had in memory so far."""
    line = next(
        each for each in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in each
    )
    return int(line.split()[1]) * 1024
