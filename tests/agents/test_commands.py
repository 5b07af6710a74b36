"""The same acts from a shell."""

import json
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


# --- Every act of the page -----------------------------------------------------------------------

HERE = ["--workspace", "analytical"]
ENGINEER = [*HERE, "--name", "engineer"]


@pytest.mark.req("CC-06")
@pytest.mark.parametrize(
    "command",
    [
        "list_agents", "edit_agent", "delete_agent", "export_agent", "preview_prompt",
        "heal_agent", "take_agent_file",
    ],
)  # fmt: skip
def test_no_command_works_without_a_workspace_or_in_anothers_name(cast: Cast, command: str) -> None:
    name = [] if command == "list_agents" else ["--name", "engineer"]
    for args in ([], ["--workspace", "never-was"], [*HERE, "--as", "ben"], [*HERE, "--as", "eve"]):
        with pytest.raises(CommandError):
            run(command, *name, *args)


def test_list_agents_says_who_is_there_and_how(cast: Cast) -> None:
    assert run("list_agents", *HERE).splitlines() == [
        "ceo\tactive\tneverRun\tChief Executive Officer\t-",
        "engineer\tactive\tneverRun\tEngineer\tceo",
    ]
    lines = [json.loads(line) for line in run("list_agents", *HERE, "--json").splitlines()]
    assert [line["name"] for line in lines] == ["ceo", "engineer"]


def test_edit_agent_changes_what_is_given_and_nothing_else(cast: Cast, tmp_path: Path) -> None:
    (tmp_path / "persona.md").write_text("You build.\n")
    told = run(
        "edit_agent", *ENGINEER, "--rename", "builder", "--persona", str(tmp_path / "persona.md"),
        "--skill", "Masonry", "--silence-timeout-minutes", "30", "--reports-to", "@ada",
        "--lifecycle", "paused",
    )  # fmt: skip
    assert told.startswith("@builder is saved: ")
    with cast.bound():
        row = Agent.objects.select_related("reports_to").get(name="builder")
        assert (row.title, row.persona, row.lifecycle) == ("Engineer", "You build.", "paused")
        assert [name.display for name in row.skill_names.all()] == ["Masonry"]
        assert row.silence_timeout_minutes == 30
        assert row.reports_to == cast.ada.principal
    run(
        "edit_agent",
        *HERE,
        "--name",
        "builder",
        "--reports-to",
        "",
        "--silence-timeout-minutes",
        "",
    )
    with cast.bound():
        row = Agent.objects.get(name="builder")
        assert (row.reports_to_id, row.silence_timeout_minutes) == (None, None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "say what to change"),
        (["--rename", "A b"], "lower-case"),
        (["--rename", "ceo"], "already called that"),
        (["--silence-timeout-minutes", "0"], "greater than or equal to 1"),
        (["--effort", "high"], "not to be had here"),
        (["--adapter-id", "nothing"], "not to be had here"),
        (["--model-id", "none/none"], "not to be had here"),
        (["--reports-to", "nobody"], "Nobody in this workspace"),
        (["--reports-to", "engineer"], "own superior"),
    ],
)
def test_edit_agent_says_what_is_wrong_and_changes_nothing(
    cast: Cast, wrong: list[str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        run("edit_agent", *ENGINEER, *wrong)
    with cast.bound():
        assert Agent.objects.get(name="engineer").version == 1


def test_edit_agent_does_not_write_over_a_hand_edited_file(
    cast: Cast, engineer_folder: Path
) -> None:
    (engineer_folder / "AGENTS.md").write_text("mine")
    with pytest.raises(CommandError, match="--over-file"):
        run("edit_agent", *ENGINEER, "--title", "New")
    assert (engineer_folder / "AGENTS.md").read_text() == "mine"
    run("edit_agent", *ENGINEER, "--title", "New", "--over-file")
    assert "title: New\n" in (engineer_folder / "AGENTS.md").read_text()


def test_a_hand_edited_file_is_taken_or_dropped_from_a_shell(
    cast: Cast, engineer_folder: Path
) -> None:
    file = engineer_folder / "AGENTS.md"
    mine = file.read_text().replace("title: Engineer", "title: Tinkerer")
    file.write_text(mine)
    with pytest.raises(SystemExit):
        run("check_mirror", *ENGINEER)
    assert run("check_mirror", *HERE, "--name", "ceo") == "Rows and directories agree.\n"
    with pytest.raises(CommandError, match="take_agent_file"):
        run("heal_agent", *ENGINEER)
    assert file.read_text() == mine
    assert run("take_agent_file", *ENGINEER) == "@engineer is as its AGENTS.md says.\n"
    assert "agrees" in run("take_agent_file", *ENGINEER)
    with cast.bound():
        assert Agent.objects.get(name="engineer").title == "Tinkerer"
    taken = file.read_text()
    file.write_text(taken.replace("reportsTo: ceo", "reportsTo: nobody"))
    with pytest.raises(CommandError, match="@nobody"):
        run("take_agent_file", *ENGINEER)
    run("heal_agent", *ENGINEER, "--over-file")
    assert file.read_text() == taken


def test_delete_agent_says_what_goes_and_waits_for_a_yes(cast: Cast) -> None:
    with pytest.raises(CommandError, match="--yes"):
        run("delete_agent", *HERE, "--name", "ceo")
    with cast.bound():
        assert Agent.objects.filter(name="ceo").exists()
    told = run("delete_agent", *HERE, "--name", "ceo", "--yes")
    assert "1 that report to it will report to nobody" in told
    with cast.bound():
        assert not Agent.objects.filter(name="ceo").exists()
    with pytest.raises(CommandError, match="No agent"):
        run("delete_agent", *HERE, "--name", "ceo", "--yes")


def test_export_and_preview_print_what_the_pages_show(cast: Cast) -> None:
    made = run("export_agent", *ENGINEER, "--dialect", "fuxi")
    assert made.startswith("---\nname: engineer\n")
    assert run("export_agent", *ENGINEER) == text(cast.engineer)
    page = cast.client(cast.ada).get(cast.path(f"agents/{cast.engineer.pk}/prompt/?mode=plan"))
    printed = run("preview_prompt", *ENGINEER, "--mode", "plan")
    for part in page.context["preview"].parts:
        assert part.text in printed


@pytest.mark.req("JA-80", "JA-81", "JA-84")
def test_begin_conversation_binds_it_to_its_agent(cast: Cast, tmp_path: Path) -> None:
    from spaces.models import Conversation

    space = [*HERE, "--space", "engine-room", "--lead", "engineer"]
    key = run("begin_conversation", *space, "--agent", "Explore", "--text", "Look around").strip()
    with cast.bound():
        row = Conversation.objects.select_related("bound", "agent").get(pk=key)
        assert (row.bound.name, row.agent) == ("Explore", cast.engineer)
        assert row.messages.get().body == "Look around"
    with pytest.raises(CommandError, match="No agent is called `nobody`"):
        run("begin_conversation", *space, "--agent", "nobody")
    file = tmp_path / "x.md"
    file.write_text("---\nname: x\ndescription: X.\n---\n\nYou x.\n")
    with pytest.raises(CommandError, match="not both"):
        run("begin_conversation", *space, "--agent", "Explore", "--agent-file", str(file))
