"""A host with repositories of skills, and one of them as a source."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skills.models import SkillSource
from tests.cast import Cast
from tests.remote.server import Remote
from tests.skills import shelf


@pytest.fixture
def site(tmp_path: Path, settings: Any) -> Iterator[Remote]:
    with shelf.site(tmp_path, settings) as running:
        yield running


@pytest.fixture
def source(cast: Cast, site: Remote) -> SkillSource:
    """`kit`: a good skill, a warned one, one that runs a download, one that nobody may accept, one
    in an examples folder."""
    return shelf.add_source(cast, site.create("kit", shelf.KIT))
