from collections.abc import Iterator
from pathlib import Path

import pytest

from outside.egress import Guard
from tests.remote.server import Remote, serve


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    """A hosting site on loopback that records every read and every write."""
    with serve(tmp_path / "hosted") as running:
        yield running


@pytest.fixture
def guard(remote: Remote) -> Guard:
    """The operator allowed the loopback site, and nothing else."""
    return Guard.of(hosts=[f"127.0.0.1:{remote.port}"])
