"""`python -m tests.shots`: the pictures in docs/images, taken from the real app.

The model follows a script, so that the pictures are the same each time; all else is real.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.app import ROOT, started
from tests.browser.chromium import DESK, FLAGS, PHONE, chromium
from tests.remote.server import serve
from tests.scripted.anthropic import server
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import serving

IMAGES = ROOT / "docs" / "images"
ASK = "@engineer the berth search forgets Mondays. Find out why, mend it with a test, and push it."
BERTHS = '''def weekdays(start, end):
    """The days of a stay, first and last included."""
    return [day for day in range(start, end)]
'''
TEST = """from berths import weekdays


def test_the_last_day_counts():
    assert weekdays(0, 6)[-1] == 6
"""
STORY = [
    Step(
        thinking="The search drops one day of the week; that smells like a range without its end.",
        text="I look at how the days are counted.",
        calls=[Call("read", {"path": "repos/harbour/berths.py"})],
    ),
    Step(
        text="`range` leaves the last day out, and a week that ends on a Monday loses it. "
        "First a test that fails today.",
        calls=[Call("write", {"path": "repos/harbour/test_berths.py", "content": TEST})],
    ),
    Step(
        text="Now the mend.",
        calls=[
            Call(
                "edit",
                {
                    "path": "repos/harbour/berths.py",
                    "old": "range(start, end)",
                    "new": "range(start, end + 1)",
                },
            )
        ],
    ),
    Step(
        calls=[
            Call(
                "git_commit",
                {"message": "Count the last day of a stay", "repository": "harbour"},
            )
        ]
    ),
    Step(text="It is committed. I ask for the push.", calls=[Call("git_push", {})]),
    Step(text="The mend is at the remote. The test would have caught it since spring."),
]


def main() -> int:
    path = chromium()
    if path is None:
        sys.stderr.write("The pictures need Chromium.\n")
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with stage() as (address, remote_address, model), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = new_page(browser)
        home = found(page, address, model)
        page.goto(home + "orgchart/")
        settle(page)
        shot(page, "orgchart-light")
        conversation = ask(page, home, remote_address)
        page.locator(".approval.open").wait_for()
        every_way(browser, page, conversation, "space")
        every_way(browser, page, home + "inbox/", "inbox")
        every_way(browser, page, home + "agents/", "agents")
        every_way(browser, page, home, "home")
        browser.close()
    return 0


@contextmanager
def stage() -> Iterator[tuple[str, str, str]]:
    """The app, a remote with a small repository, a scripted model: their addresses."""
    check = Script([Step(text="ready", again=True)], when="connection test", by_turn=True)
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder) / "remote") as remote:
        remote.create("harbour", {"README.md": "# Harbour\n", "berths.py": BERTHS})
        with (
            serving(server(Script(STORY[:-1], when="forgets Mondays"), check)) as model,
            started(Path(folder) / "data", CC_ALLOW_HOSTS=f"127.0.0.1:{remote.port}") as app,
        ):
            yield app.address, remote.address("harbour"), model.url


def found(page: Page, address: str, model: str) -> str:
    page.goto(address)
    page.get_by_label("Your name").fill("Inês Carvalho")
    page.get_by_label("Email").fill("ines@example.org")
    page.get_by_label("Password", exact=True).fill("a harbour at low tide")
    page.get_by_label("Workspace").fill("Maré")
    page.locator("main form button[type=submit]").first.click()
    page.wait_for_url("**/w/mare/**")
    home = f"{address}/w/mare/"
    page.goto(home + "setup/")
    settle(page)
    shot(page, "setup-light")
    page.get_by_label("Key", exact=True).first.fill("sk-ant-scripted-0000000000")
    page.get_by_text("Another address").click()
    page.get_by_placeholder("https://api.anthropic.com").fill(model)
    page.get_by_role("button", name="Connect Anthropic").click()
    page.get_by_text("answers as").wait_for()
    return home


def ask(page: Page, home: str, remote: str) -> str:
    page.goto(home + "repositories/")
    page.locator("[name=address]").fill(remote)
    page.locator("[name=address]").press("Enter")
    page.get_by_text("Ready").first.wait_for()
    page.goto(home + "spaces/new/")
    page.get_by_label("Name").fill("harbour")
    page.get_by_label("harbour", exact=True).check()
    for name in ("engineer", "qa"):
        page.get_by_label(name).check()
    page.get_by_role("button", name="Open the space").click()
    page.wait_for_url("**/spaces/harbour/**")
    page.locator("[data-composer-text]").fill(ASK)
    page.keyboard.press("Enter")
    return page.url


def every_way(browser: Browser, signed_in: Page, address: str, name: str) -> None:
    """Light, dark, and on a phone."""
    state = signed_in.context.storage_state()
    for theme, phone in (("light", False), ("dark", False), ("light", True)):
        context = browser.new_context(
            viewport=PHONE if phone else DESK,  # type: ignore[arg-type]
            color_scheme=theme,  # type: ignore[arg-type]
            storage_state=state,
        )
        page = context.new_page()
        page.goto(address)
        settle(page)
        shot(page, f"{name}-phone" if phone else f"{name}-{theme}")
        context.close()


def new_page(browser: Browser) -> Page:
    context = browser.new_context(viewport=DESK)  # type: ignore[arg-type]
    context.set_default_timeout(60_000)
    return context.new_page()


def settle(page: Page) -> None:
    """Fonts are there, what is loaded late has come, and the page is live."""
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    page.locator("html[data-live-state=live]").wait_for()


def shot(page: Page, name: str) -> None:
    page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
