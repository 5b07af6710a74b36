"""The help page of the API: its examples are run as they stand, and answer as it says."""

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from controlcenter.views import HELP
from tests.cast import Cast
from workspaces import tokens

EXAMPLE = re.compile(r"```sh\n(.*?)```(?:\n\n```json\n(.*?)```)?", re.DOTALL)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("page", ["api.md", "pt/api.md"])
def test_every_example_works_as_it_stands(
    page: str, live_server: LiveServer, committed_cast: Cast
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("this machine has no curl")
    cast = committed_cast
    with cast.bound():
        _row, token = tokens.issue(cast.ada, name="docs", may_write=True, days=None)
    known = {
        "CC": f"{live_server.url}{cast.path('api')}",
        "TOKEN": token,
        "AGENT": str(cast.engineer.pk),
        "SPACE": cast.space.slug,
    }
    (set_up, _none), *examples = EXAMPLE.findall((HELP / page).read_text())
    [ask] = re.findall(r"alias ask='(.*)'\n", set_up)
    assert len(examples) >= 12
    for command, answer in examples:
        script = f'set -e\nask() {{ {ask} "$@"; }}\n{command}'
        done = subprocess.run(
            ["bash", "-c", script], env=known | {"PATH": "/usr/bin:/bin"}, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        if answer:
            agrees(json.loads(answer), json.loads(done.stdout), command)
        else:
            assert done.stdout == "", command


def agrees(shown: Any, real: Any, where: str) -> None:
    """The real answer has what is shown: the same keys, the same kinds, and plain values alike."""
    if isinstance(shown, dict):
        assert shown.keys() <= real.keys(), where
        for key, value in shown.items():
            agrees(value, real[key], f"{where} {key}")
    elif isinstance(shown, list) and shown and isinstance(shown[0], dict):
        assert isinstance(real, list), where
        agrees(shown[0], real[0], where)
    else:
        assert type(shown) is type(real), where
        assert not isinstance(shown, str) or "…" in shown or shown == real, where
