"""The main job as a new user lives it, points 1 to 6 of the story, in Chromium."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app import App, started
from tests.browser.chromium import Tab
from tests.remote.server import Remote, serve
from tests.scripted.anthropic import server
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import serving

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)
CHANGELOG = "# Changelog\n\n- First entry.\n"
STORY = [
    Step(
        text="I look around first.",
        calls=[Call("glob", {"pattern": "**/*"})],
    ),
    Step(
        text="Now I write it.",
        calls=[Call("write", {"path": "repos/engine/CHANGELOG.md", "content": CHANGELOG})],
        hold="reload",
        pieces=4,
    ),
    Step(calls=[Call("git_commit", {"message": "Add a changelog", "repository": "engine"})]),
    Step(text="I push it.", calls=[Call("git_push", {"repository": "engine"})]),
    Step(text="The changelog is pushed. It took one yes."),
]


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    with serve(tmp_path / "remote") as remote:
        remote.create("engine", {"README.md": "# Engine\n"})
        yield remote


@pytest.fixture
def app(tmp_path: Path, remote: Remote) -> Iterator[App]:
    with started(tmp_path / "data", CC_ALLOW_HOSTS=f"127.0.0.1:{remote.port}") as app:
        yield app
    assert not [line for line in app.lines if "Traceback" in line], "\n".join(app.lines)


def found_workspace(page: Page, app: App) -> str:
    """First visit: account, workspace, team. Gives the workspace's address."""
    page.goto(app.address)
    page.get_by_label("Your name").fill("Ada Lovelace")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password", exact=True).fill("difference engine no. 2")
    page.get_by_label("Workspace").fill("Analytical")
    page.locator("main form button[type=submit]").first.click()
    page.wait_for_url("**/w/analytical/**")
    return f"{app.address}/w/analytical/"


@pytest.mark.req("CC-75", "CC-76", "CC-13", "CC-40", "CC-52", "CC-56", "CC-60", "CC-89")
@pytest.mark.timeout(300)
def test_from_a_fresh_clone_to_a_push_that_a_person_allowed(
    app: App, remote: Remote, tab: Tab
) -> None:
    check = Script([Step(text="ready")], when="connection test")
    with serving(server(Script(STORY, when="add a CHANGELOG"), check)) as model:
        page = tab()
        home = found_workspace(page, app)

        page.goto(home + "agents/")
        for name in ("ceo", "qa", "architect", "engineer", "librarian"):
            expect(page.locator("#roster").get_by_text(name, exact=True).first).to_be_visible()
        page.goto(home + "orgchart/")
        expect(page.locator("#chart").get_by_text("engineer").first).to_be_visible()

        page.goto(home + "setup/")
        page.get_by_label("Key", exact=True).first.fill("sk-ant-scripted-0000000000")
        page.get_by_text("Another address").click()
        page.get_by_placeholder("https://api.anthropic.com").fill(model.url)
        page.get_by_role("button", name="Connect Anthropic").click()
        expect(page.get_by_text("answers as")).to_be_visible()

        page.goto(home + "repositories/")
        page.locator("[name=address]").fill(remote.address("engine"))
        page.locator("[name=address]").press("Enter")
        expect(page.get_by_text("Ready").first).to_be_visible()

        page.goto(home + "spaces/new/")
        page.get_by_label("Name").fill("Engine room")
        page.get_by_label("engine", exact=True).check()
        page.get_by_role("button", name="Open the space").click()
        page.wait_for_url("**/spaces/engine-room/**")
        page.locator("[data-composer-text]").fill("@engineer add a CHANGELOG and push it")
        page.keyboard.press("Enter")

        run = page.locator("article.run")
        expect(run).to_have_count(1)
        expect(run.get_by_text("I look around first.")).to_be_visible()
        expect(run.locator("[data-tool=glob]")).to_have_count(1)
        expect(run.get_by_text(re.compile("Now"))).to_be_visible()

        page.reload()  # in the middle of a text that is being written
        expect(run.get_by_text("I look around first.")).to_be_visible()
        model.release("reload")
        expect(run.get_by_text("Now I write it.")).to_be_visible()
        expect(run.locator(".diff").get_by_text("- First entry.").first).to_be_visible()

        approval = run.locator(".approval.open")
        expect(approval.get_by_role("heading", name="Push 1 commit")).to_be_visible()
        assert remote.writes == []
        page.goto(home + "inbox/")
        expect(page.get_by_text("Push 1 commit").first).to_be_visible()
        page.go_back()

        approval.get_by_role("button", name="Approve once").click()
        expect(run.get_by_text("It took one yes.")).to_be_visible()
        expect(run.locator(".run-head").get_by_text("Succeeded")).to_be_visible()
        assert len(remote.writes) == 1
        assert "CHANGELOG.md" in remote.git("engine", "ls-tree", "--name-only", "main")
        assert [each.get_attribute("data-seq") for each in run.locator(".ev").all()] == sorted(
            [each.get_attribute("data-seq") for each in run.locator(".ev").all()], key=_number
        )

        page.goto(home + "agents/")
        row = page.locator("#roster .item", has_text="engineer").first
        expect(row.get_by_text("Idle")).to_be_visible()


def _number(text: str | None) -> int:
    return int(text or 0)
