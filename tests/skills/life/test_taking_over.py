"""A worker that was given up for dead and is not: what it still says and writes changes nothing."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from outside import git
from outside.sentences import phrase
from skills import bringing, claiming, fetching, judging, recovery, sources
from skills.models import SkillListing, SkillRequest, SkillSource
from skills.scanning import File, Verdict
from tests.skills.life.conftest import Stage

HOUR = timedelta(hours=1)
State = SkillRequest.State


def unheard_of(stage: Stage) -> None:
    """Nobody has heard of the workers for longer than they may be silent."""
    late = Now() - timedelta(seconds=2 * claiming.BEAT_SECONDS)
    with stage.cast.bound():
        SkillRequest.objects.update(beat_at=late)
        SkillSource.objects.update(beat_at=late)


def claim(stage: Stage, asked: SkillRequest) -> SkillRequest:
    found = claiming.claim(stage.cast.workspace.pk, asked.pk, State.QUEUED, State.FETCHING)
    assert found is not None
    return found


def fail(asked: SkillRequest) -> None:
    with claiming.settling(asked):
        raise git.Unreachable


def test_the_first_of_two_workers_hears_at_its_next_word_that_it_is_stopped(stage: Stage) -> None:
    asked = stage.ask(stage.source(), "skills/tables")
    first = claim(stage, asked)
    claiming.telling(first).stage(phrase("Fetching"))
    unheard_of(stage)
    second = claim(stage, asked)
    with pytest.raises(git.TimedOut):
        claiming.telling(first).stage(phrase("Fetching"))
    with pytest.raises(claiming.Ended):
        claiming.step(first, State.SCANNING, phrase("Scanning"))
    fail(first)
    now = stage.again(asked)
    assert (now.state, now.error) == ("fetching", "")
    claiming.telling(second).stage(phrase("Fetching"))
    assert stage.again(asked).stage == "Fetching"


@pytest.fixture
def in_the_middle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Has something happen once, between a worker's scan and what it makes of the verdict."""

    def arrange(happens: Callable[[], object]) -> None:
        real, left = judging.judge, [happens]

        def judge(files: dict[str, File], folder: str) -> Verdict:
            verdict = real(files, folder)
            if left:
                left.pop()()
            return verdict

        monkeypatch.setattr(judging, "judge", judge)

    return arrange


def test_a_look_that_was_given_away_keeps_no_verdict(
    stage: Stage, in_the_middle: Callable[[Callable[[], object]], None]
) -> None:
    asked = stage.ask(stage.source(), "skills/tables")

    def taken_over() -> None:
        unheard_of(stage)
        claim(stage, asked)

    in_the_middle(taken_over)
    assert stage.examine(asked).state == "fetching", "the other worker is at it"
    unheard_of(stage)
    assert stage.examine(asked).state == "previewed"


def test_an_install_that_was_given_away_writes_nothing(
    stage: Stage, in_the_middle: Callable[[Callable[[], object]], None]
) -> None:
    asked = stage.press_install(stage.look(stage.source(), "skills/tables"))

    def taken_over() -> None:
        unheard_of(stage)
        again = claiming.claim(
            stage.cast.workspace.pk, asked.pk, State.INSTALLING, State.INSTALLING
        )
        assert again is not None

    in_the_middle(taken_over)
    assert stage.write(asked).state == "installing", "the other worker is at it"
    assert not stage.folder().exists()
    unheard_of(stage)
    assert stage.write(asked).state == "installed"
    assert stage.files()


def test_an_install_and_its_successor_write_once(
    stage: Stage, in_the_middle: Callable[[Callable[[], object]], None]
) -> None:
    asked = stage.press_install(stage.look(stage.source(), "skills/tables"))

    def taken_over() -> None:
        unheard_of(stage)
        bringing.write(stage.cast.workspace.pk, asked.pk)

    in_the_middle(taken_over)
    done = stage.write(asked)
    assert (done.state, done.error) == ("installed", "")
    assert stage.files()


@pytest.mark.parametrize("ends", ["well", "badly"])
def test_a_reading_that_was_given_away_lists_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    source, real = stage.source(), fetching.catalogue
    stage.change({"skills/late/SKILL.md": "---\nname: late\ndescription: Late.\n---\nLate.\n"})

    def taken_over(*given: Any) -> Any:
        monkeypatch.setattr(fetching, "catalogue", real)
        unheard_of(stage)
        assert sources._claim(stage.cast.workspace.pk, source.pk) is not None
        if ends == "badly":
            raise git.Unreachable
        return real(*given)

    monkeypatch.setattr(fetching, "catalogue", taken_over)
    now = stage.sync(source)
    assert (now.state, now.error) == ("syncing", "")
    with stage.cast.bound():
        assert not SkillListing.objects.filter(path="skills/late").exists()
    unheard_of(stage)
    assert stage.sync(source).state == "ready"
    with stage.cast.bound():
        assert SkillListing.objects.filter(path="skills/late").exists()


@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_who_is_at_work_is_told_by_the_clock_of_the_database(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, wrong: timedelta
) -> None:
    right = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + wrong)
    source = stage.source()
    asked = stage.ask(source, "skills/tables")
    claim(stage, asked)
    assert sources._claim(stage.cast.workspace.pk, source.pk) is not None
    at_work = (State.FETCHING, State.SCANNING)
    assert recovery._requests(*at_work) == []
    assert recovery._sources() == []
    assert sources._claim(stage.cast.workspace.pk, source.pk) is None
    unheard_of(stage)
    assert recovery._requests(*at_work) == [(stage.cast.workspace.pk, asked.pk)]
    assert recovery._sources() == [(stage.cast.workspace.pk, source.pk)]
