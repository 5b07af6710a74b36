"""Point 7 of the main job: a process dies in the middle of a run, and the open page shows it whole.

The page is never reloaded: what it shows at the end is what it was told, each thing once.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app import App, started
from tests.browser.chromium import Tab
from tests.browser.test_main_job import found_workspace
from tests.scripted.anthropic import server
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import ScriptedServer, serving

pytestmark = [pytest.mark.browser, pytest.mark.soak, pytest.mark.timeout(600)]
SETTLED = 120_000  # ms; a run that lost its worker goes on within 60 s, here beside other work
WORDS = ["I look around first.", "Now I write it down, word for word.", "It is all there."]
STORY = [
    Step(text=WORDS[0], calls=[Call("glob", {"pattern": "**/*"})], again=True),
    Step(
        text=WORDS[1],
        calls=[Call("write", {"path": "notes.md", "content": "- one\n"})],
        hold="killed",
        pieces=4,
        again=True,
    ),
    Step(calls=[Call("read", {"path": "notes.md"})], again=True),
    Step(text=WORDS[2], again=True),
]
# What a browser says while the server is away.
AWAY = ("WebSocket", "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "status of 50")
VICTIMS = ["cc-worker:runs", "cc-web", "cc-scheduler", "postgres", "valkey-server"]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with started(tmp_path / "data") as app:
        yield app


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    check = Script([Step(text="ready", again=True)], when="connection test", by_turn=True)
    with serving(server(Script(STORY, when="write it down", by_turn=True), check)) as model:
        yield model


def in_the_middle(page: Page, app: App, model: ScriptedServer) -> None:
    """The page shows a conversation in which the engineer is in the middle of a sentence."""
    home = found_workspace(page, app)
    page.goto(home + "setup/")
    page.get_by_label("Key", exact=True).first.fill("sk-ant-scripted-0000000000")
    page.get_by_text("Another address").click()
    page.get_by_placeholder("https://api.anthropic.com").fill(model.url)
    page.get_by_role("button", name="Connect Anthropic").click()
    expect(page.get_by_text("answers as")).to_be_visible()
    page.goto(home + "spaces/new/")
    page.get_by_label("Name").fill("Engine room")
    page.get_by_role("button", name="Open the space").click()
    page.locator("[data-composer-text]").fill("@engineer write it down")
    page.keyboard.press("Enter")
    expect(page.locator("article.run").get_by_text("Now")).to_be_visible(timeout=SETTLED)


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_run_survives_the_death_of_a_process(
    app: App, model: ScriptedServer, tab: Tab, victim: str
) -> None:
    page = tab(allowed=AWAY)
    in_the_middle(page, app, model)

    for pid in app.pids(victim):
        os.kill(pid, signal.SIGKILL)
    model.release("killed")

    run = page.locator("article.run")
    expect(run.locator(".run-head").get_by_text("Succeeded")).to_be_visible(timeout=SETTLED)
    expect(page.locator(":root")).to_have_attribute("data-live", "on", timeout=SETTLED)
    for words in WORDS:
        expect(run.get_by_text(words, exact=True)).to_have_count(1)
    for tool in ("glob", "write", "read"):
        expect(run.locator(f"[data-tool={tool}]")).to_have_count(1)
    seen = [each.get_attribute("data-seq") for each in run.locator(".ev").all()]
    page.reload()
    expect(run.get_by_text(WORDS[2], exact=True)).to_have_count(1)
    assert seen == [each.get_attribute("data-seq") for each in run.locator(".ev").all()]
    assert len(set(seen)) == len(seen)
