"""A worker that has lost its run pushes nothing, although its shell and its harness live on."""

import os
import subprocess
from typing import Any

import pytest
from django.utils import timezone

from guardrails import rule_changes
from guardrails.classes import ActionClass
from guardrails.decisions import Decision
from guardrails.rule_changes import NewRule
from harness.seam import PushWish, Refused
from repositories.models import PushRequest
from runs import recovery
from tests.push.conftest import gateway
from tests.runs.acting import Actor, Scene
from tests.runs.stage import WithRepository, elsewhere
from tests.runs.test_decisions import commits

__all__ = ["gateway"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def free_to_push(stage: WithRepository) -> WithRepository:
    """Nobody is asked: only the fence is in the way."""
    with stage.cast.bound():
        rule = NewRule(decision=Decision.ALLOW, action_class=ActionClass.GIT_PUSH)
        rule_changes.write(rule, by=stage.cast.ada)
    return stage


def wish(scene: Scene) -> PushWish:
    [root] = scene.spec.roots
    return PushWish(root.name, root.path, "origin", (), force=False, call_id="c1")


def typed(scene: Scene) -> subprocess.CompletedProcess[str]:
    """`git push` as a shell without a sandbox types it."""
    [root] = scene.spec.roots
    return subprocess.run(
        ["git", "push", "origin", "HEAD"],
        cwd=root.path,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **scene.spec.environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.req("CC-56")
def test_what_a_lost_worker_pushes_is_not_taken(
    free_to_push: WithRepository, actor: Actor, gateway: str, settings: Any
) -> None:
    stage, settings.GATEWAY_URL, settings.GATEWAY_SOCKET = free_to_push, gateway, ""
    said: list[str] = []

    def is_lost(scene: Scene) -> None:
        commits(scene)
        stage.change(run, lease_until=timezone.now())
        elsewhere(recovery.sweep)
        answer = scene.ports.push_desk.request(wish(scene))
        assert isinstance(answer, Refused), answer
        said.extend([answer.reason, typed(scene).stderr])
        scene.write("I thought I had pushed.")

    def goes_on(scene: Scene) -> None:
        assert typed(scene).returncode == 0
        scene.write("It is pushed.")

    actor.plays(is_lost, goes_on)
    [run] = stage.say("@engineer push it")
    assert stage.execute(run).state == "queued"
    assert "goes on elsewhere" in said[0]
    assert "has ended" in said[1]
    assert stage.remote.writes == []
    assert stage.execute(run).state == "succeeded"
    assert len(stage.remote.writes) == 1
    with stage.cast.bound():
        states = PushRequest.objects.order_by("number").values_list("state", flat=True)
        assert list(states) == ["refused", "forwarded"]
    stage.assert_whole(run)
