"""Stages for runs: everything real but the model, or but the adapter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runs import adapters
from tests.cast import Cast
from tests.runs.acting import Actor
from tests.runs.family import SCOUT, Family
from tests.runs.stage import Stage, WithRepository, set_demo, set_stage
from tests.runs.test_definitions import at_home


@pytest.fixture
def stage(committed_cast: Cast, tmp_path: Path, settings: object) -> Iterator[WithRepository]:
    """A workspace with a repository behind real HTTP and the demo model."""
    with set_stage(committed_cast, tmp_path, settings) as stage:
        yield stage


@pytest.fixture
def plain(committed_cast: Cast) -> Stage:
    """The same without a repository."""
    set_demo(committed_cast)
    return Stage(committed_cast)


@pytest.fixture
def actor(committed_cast: Cast) -> Iterator[Actor]:
    """The adapter of @engineer, doing what the test says."""
    actor = Actor()
    adapters.registry()[actor.id] = actor
    with committed_cast.bound():
        committed_cast.engineer.adapter_id = actor.id
        committed_cast.engineer.save(update_fields=["adapter_id"])
    yield actor
    del adapters.registry()[actor.id]


@pytest.fixture
def family(plain: Stage) -> Family:
    at_home(plain, plain.cast.ada, ".fuxi/agents/scout.md", SCOUT)
    return Family(plain)
