"""The same acts from a shell."""

import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents import mirror
from agents.models import Agent
from tests.agents.conftest import text
from tests.cast import Cast

pytestmark = pytest.mark.django_db


def run(name: str, *args: str, **options: Any) -> str:
    out = StringIO()
    call_command(name, *args, stdout=out, **options)
    return out.getvalue()


@pytest.mark.req("CC-06")
def test_create_agent_refuses_without_a_workspace(cast: Cast) -> None:
    for args in ([], ["--workspace", "never-was"]):
        with pytest.raises(CommandError, match="workspace"):
            run("create_agent", "--name", "scout", *args)


@pytest.mark.req("CC-10")
def test_create_agent_makes_one_and_heals_it(cast: Cast, tmp_path: Path) -> None:
    (tmp_path / "persona.md").write_text("You look around.\n")
    args = ["--workspace", "analytical", "--name", "scout", "--title", "Scout"]
    more = ["--persona", str(tmp_path / "persona.md"), "--skill", "maps", "--reports-to", "@ceo"]
    assert run("create_agent", *args, *more) == "@scout is here.\n"
    with cast.bound():
        row = Agent.objects.get(name="scout")
    whole = text(row)
    assert "reportsTo: ceo\n" in whole
    assert "You look around." in whole
    shutil.rmtree(mirror.directory(row))
    assert "healed" in run("create_agent", *args)
    assert text(row) == whole


@pytest.mark.parametrize("wrong", [["--name", "A b"], ["--name", "x", "--reports-to", "nobody"]])
def test_create_agent_says_what_is_wrong(cast: Cast, wrong: list[str]) -> None:
    with pytest.raises(CommandError):
        run("create_agent", "--workspace", "analytical", *wrong)


def test_check_mirror_finds_and_mends_but_never_touches_an_edited_file(
    cast: Cast, engineer_folder: Path
) -> None:
    assert run("check_mirror") == "Rows and directories agree.\n"
    shutil.rmtree(mirror.directory(cast.ceo))
    (engineer_folder / "AGENTS.md").write_text("mine")
    with pytest.raises(SystemExit):
        run("check_mirror")
    assert not mirror.directory(cast.ceo).exists()
    with pytest.raises(SystemExit):
        run("check_mirror", "--repair", "--workspace", "analytical")
    assert mirror.directory(cast.ceo).is_dir()
    assert (engineer_folder / "AGENTS.md").read_text() == "mine"
    (engineer_folder / "AGENTS.md").unlink()
    assert "mended" in run("check_mirror", "--repair")
    assert run("check_mirror") == "Rows and directories agree.\n"
