"""A workspace with a repository behind real HTTP and a model that follows a script."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cast import Cast
from tests.runs.stage import Stage, set_stage


@pytest.fixture
def stage(committed_cast: Cast, tmp_path: Path, settings: object) -> Iterator[Stage]:
    """Everything that a run needs, all of it real but the model."""
    with set_stage(committed_cast, tmp_path, settings) as stage:
        yield stage
