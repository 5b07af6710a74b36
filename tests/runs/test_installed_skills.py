"""Linked skills that are no longer what was accepted: the run says so and does not load them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agents.seeding import seed
from harness import events
from runs.models import RunEvent
from skills import install
from skills.models import Skill
from tests.runs.stage import WithRepository
from tests.scripted.script import Call, Step


def notices(stage: WithRepository) -> list[str]:
    with stage.cast.bound():
        rows = RunEvent.objects.filter(kind=events.Kind.NOTICE.value).order_by("seq")
        return [row.data["text"] for row in rows if row.data.get("code") == "skills_withheld"]


@pytest.mark.req("CC-32", "CC-36")
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda root: (root / "testing/SKILL.md").write_text("CANARY-77\n"), "not those that were"),
        (lambda root: (root / "skills-lock.json").write_text("{"), "cannot be read"),
        (lambda root: (root / "testing").rename(root / "away"), "files are gone"),
        (lambda root: Skill.objects.filter(slug="testing").update(decision="held"), "last verdict"),
    ],
)
def test_a_run_says_which_skill_it_does_not_load(
    stage: WithRepository, spoil: Callable[[Path], object], words: str
) -> None:
    seed(stage.cast.workspace.pk)
    with stage.cast.bound():
        spoil(install.root(stage.cast.workspace.pk))
    with stage.model(
        Step(calls=[Call("skill", {"name": "testing"})]), Step(text="Without it.")
    ) as model:
        [run] = stage.say("@engineer test it")
        stage.execute(run)
    asked = str([request["messages"] for request in model.requests])
    assert "CANARY-77" not in asked
    assert ".agents/skills/testing/SKILL.md" not in str(model.requests)
    told = [text for text in notices(stage) if "testing" in text or "skills-lock" in text]
    assert len(told) == 1
    assert words in told[0]
