from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox import choose
from harness.seam import RunSpec
from harness.stop import Stop
from harness.tools.base import Output, Workbench
from harness.tools.files import Files
from harness.tools.shells import Shells
from harness.tools.surface import ALL
from tests.harness.kit import Desk, Shelf, World, make_spec
from tests.remote.server import Remote, serve

Use = Callable[..., Output]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(make_spec(tmp_path))


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    with serve(tmp_path / "hosted") as running:
        yield running


@pytest.fixture
def bench_for() -> Iterator[Callable[[RunSpec], Workbench]]:
    """Makes the workbench of a spec; background commands end with the test."""
    made: list[Shells] = []

    def make(spec: RunSpec) -> Workbench:
        sandbox = choose(spec)
        shells = Shells(sandbox, spec.artefact_directory, shown=spec.limits.tool_output_bytes)
        made.append(shells)
        return Workbench(
            spec=spec,
            files=Files(spec),
            shells=shells,
            sandbox=sandbox,
            stop=Stop(),
            push_desk=Desk(),
            shelf=Shelf({"testing": "Write the test first."}),
            show=lambda call_id, text: None,
        )

    yield make
    for shells in made:
        shells.finish_all()


def use(bench: Workbench, name: str, /, **given: Any) -> Output:
    """Runs a tool as the loop does, without a gate."""
    tool = next(tool for tool in ALL if tool.name == name)
    parsed = tool.parse(given)
    tool.plan(parsed, bench)
    return tool.run(parsed, bench, "call-1")
