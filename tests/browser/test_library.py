"""The definition library in Chromium: bring files in, write them, see what counts."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from agents.definitions import DefinitionImport
from agents.paths import conversation_directory
from repositories import agent_files
from repositories.models import Repository
from tests.browser.conftest import Open
from tests.cast import Cast

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIBRARY = "agents/library/"


def text(name: str, body: str = "Look closely.", front: str = "") -> str:
    return f"---\nname: {name}\ndescription: About {name}.\n{front}---\n\n{body}\n"


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is queued is done at once, in the process of the pages."""

    def send_task(name: str, *, args: list[str], queue: str) -> None:
        from uuid import UUID

        if name == "agents.tasks.gather_import":
            agent_files.gather(*map(UUID, args))

    monkeypatch.setattr("celery.current_app.send_task", send_task)


@pytest.fixture
def checkout(committed_cast: Cast) -> Path:
    """A checkout of the repository `engine` in Ada's conversation."""
    cast = committed_cast
    with cast.bound():
        Repository.objects.create(name="engine", address="https://example.org/engine.git")
    home = conversation_directory(cast.workspace.pk, cast.space.pk, cast.conversation.pk)
    place = home / "repos/engine"
    (place / ".claude/agents").mkdir(parents=True)
    (place / ".qwen/agents").mkdir(parents=True)
    (place / ".git").write_text("gitdir: ../../git/engine\n")
    return place


def test_a_definition_is_written_previewed_and_taken_back(visit: Open) -> None:
    page = visit(LIBRARY)
    page.get_by_role("link", name="New definition").click()
    page.get_by_role("link", name="code-reviewer").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("code-reviewer")
    page.get_by_label("Name", exact=True).fill("my-reviewer")
    page.get_by_label("Tools", exact=True).fill("Read, Grepp")
    page.get_by_role("button", name="Preview").click()
    context = page.locator("#context")
    expect(context).to_contain_text("Nothing is written before you save.")
    expect(context).to_contain_text("Grepp")  # the typo is told before it is stored
    page.get_by_label("Tools", exact=True).fill("Read, Grep")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("row", name="my-reviewer")).to_contain_text("effective")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 file is as it was.")).to_be_visible()
    expect(page.get_by_role("row", name="my-reviewer")).to_have_count(0)


def test_a_file_is_edited_and_the_other_ones_change_is_not_lost(
    visit: Open, committed_cast: Cast, data_dir: Path
) -> None:
    cast = committed_cast
    file = data_dir / f"workspaces/{cast.workspace.pk}/organisation/.fuxi/agents/reviewer.md"
    file.parent.mkdir(parents=True)
    file.write_text(text("reviewer", front="x-own: 1 # keep\n"))
    page = visit(LIBRARY)
    page.get_by_role("link", name="reviewer").click()
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_text("x-own")).to_be_visible()
    page.get_by_label("Description").fill("Mine.")
    page.get_by_role("button", name="Preview").click()
    file.write_text(text("reviewer", "Their words.", front="x-own: 1 # keep\n"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was written")
    expect(page.get_by_label("Description")).to_have_value("Mine.")
    page.get_by_role("button", name="Save over theirs").click()
    expect(page.get_by_text("was changed.")).to_be_visible()
    assert "description: Mine.\nx-own: 1 # keep" in file.read_text()


def test_what_counts_and_what_is_double_is_seen(visit: Open, checkout: Path) -> None:
    body = "\n".join(f"Rule {n}: say what you saw, and where." for n in range(12))
    (checkout / ".claude/agents/reviewer.md").write_text(text("reviewer", body))
    (checkout / ".qwen/agents/reviewer.md").write_text(text("reviewer", body, "model: fast\n"))
    page = visit(f"{LIBRARY}?from=engine&q=reviewer")
    rows = page.get_by_role("row", name="reviewer")
    expect(rows.nth(0)).to_contain_text("effective")
    expect(rows.nth(1)).to_contain_text("shadowed")
    rows.nth(1).get_by_role("link").click()
    expect(page.locator("#context")).to_contain_text("fuxi goes before qwen here")
    page.get_by_role("link", name="Duplicates").first.click()
    row = page.get_by_role("row", name="reviewer").first
    expect(row).to_contain_text("same name")
    expect(row).to_contain_text("100 %")
    row.get_by_role("link").click()
    expect(page.locator("#context")).to_contain_text("model")


def test_files_are_uploaded_looked_at_and_imported(
    visit: Open, tmp_path: Path, worker: None
) -> None:
    files = {
        "good.md": text("good", front="tools: Read\n"),
        "again.md": text("good", "Other.", "tools: Read\n"),
        "bad.md": "---\nname: [x\n---\nb\n",
    }
    for name, body in files.items():
        (tmp_path / name).write_text(body)
    page = visit(f"{LIBRARY}import/")
    page.get_by_label("Markdown files").set_input_files([tmp_path / name for name in files])
    page.get_by_role("button", name="Look at the files").click()
    expect(page.get_by_role("row", name="bad.md")).to_contain_text("cannot be read")
    expect(page.get_by_role("row", name="good.md").last).to_contain_text("is called so too")
    page.get_by_role("button", name="Import the chosen ones").click()
    expect(page.get_by_text("1 file was imported.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 file is as it was.")).to_be_visible()


def test_a_text_is_pasted(visit: Open, worker: None) -> None:
    page = visit(f"{LIBRARY}import/")
    page.get_by_role("textbox", name="Text").fill(text("pasted"))
    page.get_by_role("button", name="Look at the text").click()
    page.get_by_role("link", name="Agents of the roster").click()
    page.get_by_role("button", name="Import the chosen ones").click()
    page.get_by_role("link", name="To the agents").click()
    expect(page.get_by_role("row", name="pasted")).to_contain_text("Paused")


def test_a_repository_and_a_folder_are_read(
    visit: Open, tmp_path: Path, worker: None, settings: Any, committed_cast: Cast
) -> None:
    work = tmp_path / "shared/kit"
    (work / ".claude/agents").mkdir(parents=True)
    (work / ".claude/agents/helper.md").write_text(text("helper"))
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(work), *words], check=True)
    settings.ALLOW_PATHS = [str(tmp_path / "shared")]
    page = visit(f"{LIBRARY}import/")
    page.get_by_label("Or its address").fill(str(work))
    page.get_by_role("button", name="Read the repository").click()
    expect(page.get_by_role("row", name="helper.md")).to_be_visible()
    page.go_back()
    page.get_by_label("Path").fill(str(tmp_path / "elsewhere"))
    page.get_by_role("button", name="Read the folder").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was created")
    page.get_by_role("link", name="Choose something else").click()
    page.get_by_label("Path").fill(str(work))
    page.get_by_role("button", name="Read the folder").click()
    page.get_by_role("link", name="The organisation's definitions").click()
    page.get_by_role("button", name="Import the chosen ones").click()
    expect(page.get_by_role("row", name="helper")).to_contain_text("effective")
    with committed_cast.bound():
        assert DefinitionImport.objects.count() == 3


def test_on_a_phone_nothing_scrolls_sideways(visit: Open, checkout: Path) -> None:
    (checkout / ".claude/agents/reviewer.md").write_text(text("reviewer"))
    for rest in (
        LIBRARY, f"{LIBRARY}new/", f"{LIBRARY}import/", f"{LIBRARY}duplicates/?from=engine",
        f"{LIBRARY}trust/?from=engine", f"{LIBRARY}settings/", f"{LIBRARY}prompt/",
    ):  # fmt: skip
        page = visit(rest, phone=True)
        assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0, rest
