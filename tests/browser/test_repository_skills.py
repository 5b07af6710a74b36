"""Naming a skill in the composer, and seeing which repository an agent works in."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app import App, started
from tests.browser.chromium import Tab
from tests.browser.conftest import Open
from tests.browser.test_main_job import found_workspace
from tests.cast import Cast
from tests.remote.server import Remote, serve
from tests.runs.skilled import PLACE, add, hostile, scan, skill
from tests.runs.stage import WithRepository, set_stage
from tests.scripted.anthropic import server
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import serving

pytestmark = pytest.mark.browser
MANY = 300
SLOW = 90_000  # ms; a worker that is busy elsewhere begins late


@pytest.fixture
def stage(committed_cast: Cast, tmp_path: Path, settings: object) -> Iterator[WithRepository]:
    """A space with a mono-repository of many skills, and a site with a few."""
    with set_stage(committed_cast, tmp_path, settings) as stage:
        many = {f"{PLACE}/part-{n:03}/SKILL.md": skill(f"part-{n:03}") for n in range(MANY)}
        deploy = skill("deploy", description="Brings the site to its visitors, step by step.")
        few = {
            f"{PLACE}/review/SKILL.md": skill("review"),
            f"{PLACE}/deploy/SKILL.md": deploy,
            f"{PLACE}/helper/SKILL.md": hostile("helper"),
        }
        scan(stage, add(stage, "monolith", many | {f"{PLACE}/review/SKILL.md": skill("review")}))
        scan(stage, add(stage, "site", few))
        yield stage


@pytest.fixture
def conversation(visit: Open, stage: WithRepository) -> Open:
    """Opens the conversation as Ada, signed in already."""
    place = f"spaces/{stage.cast.space.slug}/{stage.cast.conversation.pk}/"
    return partial(visit, place)


WRONG = (
    ("@engineer /skill:review it", "Write which one you mean: /skill:monolith:review"),
    ("@engineer /skill:site:helper do it", "is withheld"),
    ("@engineer /skill:nothing", "There is no skill nothing here."),
)


@pytest.mark.req("CC-31", "CC-46")
@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(300)
def test_a_skill_is_found_by_typing_and_a_wrong_one_is_said(conversation: Open) -> None:
    page = conversation()
    text, options = page.get_by_label("Message"), page.locator(".composer [role=option]")
    text.press_sequentially("/ag")
    expect(options).to_have_count(2)
    expect(options.first).to_contain_text("The library")
    text.fill("")
    text.press_sequentially("/")
    expect(options).to_have_count(50)
    expect(page.get_by_text("more; type on to find them.")).to_be_visible()
    text.press_sequentially("skill:visitors")
    expect(options).to_have_count(1)
    text.press_sequentially("-none")
    expect(page.get_by_text("No skill of that name here.")).to_be_visible()
    text.press("Escape")
    expect(page.get_by_text("No skill of that name here.")).to_be_hidden()

    text.fill("")
    text.press_sequentially("/dep")
    expect(options).to_have_count(1)
    expect(options.first).to_contain_text("site")
    text.press("Enter")
    expect(text).to_have_value("/skill:site:deploy ")

    text.fill("")
    text.press_sequentially("please /skill:rev")
    expect(options).to_have_count(2)
    text.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    text.press("Tab")
    expect(text).to_have_value("please /skill:site:review ")

    text.fill("")
    text.press_sequentially("see /etc/hosts")
    expect(options).to_have_count(0)

    phone = conversation(phone=True)
    text = phone.get_by_label("Message")
    for wrong, why in WRONG:
        text.fill(wrong)
        phone.get_by_role("button", name="Send").click()
        expect(phone.locator("#toasts .toast.failed").last).to_contain_text(why)
        expect(text).to_have_value(wrong)
    assert phone.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0


STORY = [
    Step(calls=[Call("write", {"path": "repos/engine/a.txt", "content": "a"})], again=True),
    Step(
        text="Now the site.",
        calls=[Call("write", {"path": "repos/site/b.txt", "content": "b"})],
        hold="first",
        pieces=3,
        again=True,
    ),
    Step(text="Both are changed.", hold="second", pieces=3, again=True),
]


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    with serve(tmp_path / "remote") as remote:
        remote.create("engine", {"README.md": "x", f"{PLACE}/build/SKILL.md": skill("build")})
        few = {
            "README.md": "x",
            f"{PLACE}/style/SKILL.md": skill("style"),
            ".claude/skills/helper/SKILL.md": hostile("helper"),
        }
        remote.create("site", few)
        yield remote


@pytest.fixture
def app(tmp_path: Path, remote: Remote) -> Iterator[App]:
    with started(tmp_path / "data", CC_ALLOW_HOSTS=f"127.0.0.1:{remote.port}") as app:
        yield app
    assert not [line for line in app.lines if "Traceback" in line], "\n".join(app.lines)


@pytest.mark.req("CC-42", "CC-50")
@pytest.mark.timeout(300)
def test_the_chip_follows_what_the_agent_writes_and_a_person_can_change_it(
    app: App, remote: Remote, tab: Tab
) -> None:
    check = Script([Step(text="ready", again=True)], when="connection test", by_turn=True)
    with serving(server(Script(STORY, when="change both", by_turn=True), check)) as model:
        page = tab()
        begin(page, found_workspace(page, app), remote, model.url)
        page.locator("[data-composer-text]").fill("@engineer change both")
        page.keyboard.press("Enter")

        chip = page.locator("[data-works-in=engineer]")
        expect(chip.locator("b")).to_have_text("engine", timeout=SLOW)
        model.release("first")
        expect(chip.locator("b")).to_have_text("site", timeout=SLOW)
        expect(page.locator("#skills-panel")).to_contain_text("1 withheld")
        expect(page.locator("article.run")).to_contain_text("Skills of site that are withheld")
        model.release("second")
        expect(page.locator(".run-head").get_by_text("Succeeded")).to_be_visible(timeout=SLOW)

        chip.click()
        page.locator(".menu:popover-open").get_by_role("button", name="engine").click()
        expect(chip.locator("b")).to_have_text("engine")
        page.reload()
        expect(chip.locator("b")).to_have_text("engine")


def begin(page: Page, home: str, remote: Remote, model: str) -> None:
    """A space with both repositories and a scripted model."""
    page.goto(home + "setup/")
    page.get_by_label("Key", exact=True).first.fill("sk-ant-scripted-0000000000")
    page.get_by_text("Another address").click()
    page.get_by_placeholder("https://api.anthropic.com").fill(model)
    page.get_by_role("button", name="Connect Anthropic").click()
    expect(page.get_by_text("answers as")).to_be_visible()
    for name in ("engine", "site"):
        page.goto(home + "repositories/")
        page.locator("[name=address]").fill(remote.address(name))
        page.locator("[name=address]").press("Enter")
        expect(page.get_by_text("Ready").first).to_be_visible()
    page.goto(home + "spaces/new/")
    page.get_by_label("Name").fill("Engine room")
    page.get_by_label("engine", exact=True).check()
    page.get_by_label("site", exact=True).check()
    page.get_by_role("button", name="Open the space").click()
    page.wait_for_url("**/spaces/engine-room/**")
