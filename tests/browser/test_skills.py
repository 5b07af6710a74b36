"""The life of a skill in Chromium: from a source through the gate to an agent, and out again."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Dialog, Page, expect

from skills.install import directory
from skills.models import Skill, SkillRequest
from tests.browser.conftest import Open
from tests.cast import Cast
from tests.remote.server import Remote
from tests.skills import shelf
from workspaces import members
from workspaces.models import Role, User

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NEWS = "document.body.dispatchEvent(new Event('live-changed'))"  # somebody else did something


@pytest.fixture
def site(tmp_path: Path, settings: Any) -> Iterator[Remote]:
    with shelf.site(tmp_path, settings) as running:
        running.create("kit", shelf.KIT)
        yield running


def look_at(page: Page, name: str, cast: Cast) -> None:
    """From the catalogue of `kit` to everything there is to see of one skill."""
    page.get_by_role("button", name=f"Look at {name}", exact=True).click()
    page.wait_for_url("**/skills/requests/**")
    expect(page.get_by_text("Waiting to be fetched")).to_be_visible()
    shelf.work(cast)
    expect(page.get_by_role("link", name="What was found")).to_be_visible()  # it asks by itself


def skill(cast: Cast, slug: str = "release-notes") -> Skill:
    with cast.bound():
        row: Skill = Skill.objects.get(slug=slug)
    return row


@pytest.mark.req("CC-33", "CC-35", "CC-36")
def test_from_a_source_to_an_agent(visit: Open, committed_cast: Cast, site: Remote) -> None:
    page = visit("skills/")
    page.get_by_role("link", name="Add a source").click()
    page.get_by_label("Repository").fill(site.address("kit"))
    page.get_by_role("button", name="Check and add").click()
    page.wait_for_url("**/skills/sources/*-*/")
    expect(page.get_by_text("Being checked").first).to_be_visible()
    shelf.work(committed_cast)
    expect(page.get_by_text("release-notes", exact=True)).to_be_visible()

    page.get_by_label("Name, path or what it says").fill("release-no")
    expect(page.locator("#catalogue article")).to_have_count(1)
    with page.expect_response(lambda answer: "q=release-no" in answer.url):
        page.evaluate(NEWS)
    expect(page.get_by_label("Name, path or what it says")).to_have_value("release-no")
    expect(page.locator("#catalogue article")).to_have_count(1)
    look_at(page, "release-notes", committed_cast)
    expect(page.get_by_text("It needs your yes before it is written.")).to_be_visible()
    page.get_by_role("link", name="Text", exact=True).click()
    expect(page.get_by_text("Ask the owner which version to cut.")).to_be_visible()
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="Let release-notes in?")
    dialog.get_by_label("Reason").fill("We write notes each week.")
    dialog.get_by_role("button", name="Accept and install").click()
    expect(page.get_by_text("Being written, exactly as it was scanned")).to_be_visible()
    shelf.work(committed_cast)
    expect(page.get_by_text("Accepted and installed.")).to_be_visible()

    page.get_by_role("link", name="Give it to an agent").click()
    page.get_by_role("button", name="Give it to engineer").click()
    expect(page.get_by_role("button", name="Take it from engineer")).to_be_visible()
    folder = directory(committed_cast.workspace.pk, "release-notes")
    assert (folder / "SKILL.md").read_text() == shelf.NOTES
    link = folder.parents[1] / "agents/engineer/.agents/skills/release-notes/SKILL.md"
    assert link.read_text() == shelf.NOTES


def test_a_risk_is_taken_by_name_and_reason_only(
    visit: Open, committed_cast: Cast, site: Remote
) -> None:
    source = shelf.add_source(committed_cast, site.address("kit"))
    page = visit(f"skills/sources/{source.pk}/")
    look_at(page, "piped", committed_cast)
    expect(page.get_by_text("Refused by the gate. Nothing was written.")).to_be_visible()
    page.get_by_role("button", name="Accept the risk…").click()
    dialog = page.get_by_role("dialog", name="Take the risk of piped?")
    act = dialog.get_by_role("button", name="Accept the risk")
    expect(act).to_be_disabled()
    dialog.get_by_label("Reason").fill("It is our own installer.")
    dialog.get_by_label("Type piped to go on").fill("pipe")
    expect(act).to_be_disabled()
    dialog.get_by_label("Type piped to go on").fill("piped")
    act.click()
    shelf.work(committed_cast)
    expect(page.get_by_text("It is our own installer.")).to_be_visible()
    row = skill(committed_cast, "piped")
    assert row.verdict == "quarantine"
    page.goto(page.url.partition("/skills/")[0] + f"/skills/{row.pk}/findings/")
    page.get_by_role("link", name="scripts/setup.sh:2").first.click()
    expect(page.locator("#L2.found")).to_be_visible()


def test_what_nobody_may_accept_offers_no_button(
    visit: Open, committed_cast: Cast, site: Remote
) -> None:
    source = shelf.add_source(committed_cast, site.address("kit"))
    page = visit(f"skills/sources/{source.pk}/", phone=True)
    look_at(page, "pointed", committed_cast)
    expect(page.get_by_text("nobody can accept, not even the owner")).to_be_visible()
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0


def test_two_admins_on_one_held_skill(visit: Open, committed_cast: Cast, site: Remote) -> None:
    source = shelf.add_source(committed_cast, site.address("kit"))
    asked = shelf.look(committed_cast, source, "warned")
    with committed_cast.bound():
        user = User.objects.create_user("grace@example.org", "x", name="Grace Hopper")
        grace = members.join(user, Role.ADMIN)
    ben = visit(f"skills/requests/{asked.pk}/", who=committed_cast.ben)
    ben.get_by_role("button", name="Ask an admin").click()
    expect(ben.get_by_text("Held: it waits for an admin. Nothing was written.")).to_be_visible()

    ada, other = visit("inbox/"), visit("skills/held/", who=grace)
    ada.get_by_role("link", name="warned").click()
    other.get_by_role("link", name="warned").click()
    for page, act in ((ada, "Refuse…"), (other, "Accept and install…")):
        page.get_by_role("button", name=act).click()
    ada.get_by_role("dialog").get_by_label("Reason").fill("It asks for every tool.")
    other.get_by_role("dialog").get_by_label("Reason").fill("Fine by me.")
    ada.get_by_role("dialog").get_by_role("button", name="Refuse", exact=True).click()
    expect(ada.get_by_text("refused it. Nothing was written.").first).to_be_visible()
    other.get_by_role("dialog").get_by_role("button", name="Accept and install").click()
    expect(other.get_by_text("decided this already")).to_be_visible()
    expect(other.get_by_text("It asks for every tool.").first).to_be_visible()
    assert shelf.fresh(committed_cast, asked).state == SkillRequest.State.REFUSED


@pytest.mark.req("CC-37")
def test_an_update_is_read_side_by_side_before_it_comes(
    visit: Open, committed_cast: Cast, site: Remote
) -> None:
    source = shelf.add_source(committed_cast, site.address("kit"))
    shelf.install(committed_cast, source, "release-notes")
    site.commit(
        "kit",
        {
            "skills/release-notes/SKILL.md": shelf.NOTES.replace(
                "2. Ask the owner which version to cut.",
                "2. Derive the version from the commits.",
            ),
            "skills/release-notes/scripts/run.sh": "#!/bin/sh\nrm -f NOTES.md.old\n",
        },
    )
    page = visit(f"skills/sources/{source.pk}/")
    page.get_by_role("button", name="Read again").click()
    shelf.work(committed_cast)
    expect(page.get_by_role("link", name="Installed, update")).to_be_visible()
    page.get_by_role("link", name="Installed, update").click()
    page.get_by_role("button", name="Look at the update").click()
    page.wait_for_url("**/skills/requests/**")
    shelf.work(committed_cast)
    expect(page.get_by_role("link", name="Side by side")).to_be_visible()
    expect(page.locator(".manifest .new")).to_contain_text("File deletes")
    page.get_by_role("link", name="Side by side").click()
    sides = page.locator(".lines.sides").first
    expect(sides.locator(".del").last).to_contain_text("Ask the owner")
    expect(sides.locator(".add").last).to_contain_text("Derive the version")
    page.get_by_role("button", name="Update").click()
    shelf.work(committed_cast)
    expect(page.get_by_text("Accepted and installed.")).to_be_visible()
    folder = directory(committed_cast.workspace.pk, "release-notes")
    assert "Derive the version" in (folder / "SKILL.md").read_text()


def test_what_is_chosen_stays_chosen_when_there_is_news(
    visit: Open, committed_cast: Cast, site: Remote
) -> None:
    source = shelf.add_source(committed_cast, site.address("kit"))
    shelf.install(committed_cast, source, "release-notes")
    page = visit("skills/")
    expect(page.get_by_role("button", name="Update")).to_be_hidden()
    page.get_by_label("Choose all on this page").check()
    expect(page.get_by_role("button", name="Update")).to_be_visible()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    with page.expect_response("**/skills/places/**"):
        page.evaluate(NEWS)
    expect(page.get_by_label("release-notes", exact=True)).to_be_checked()
    assert not [url for url in requests if url.partition("?")[0].endswith("/skills/")]
    for _once_more in range(2):
        with page.expect_download() as packed:
            page.get_by_role("button", name="Export").click()
        assert packed.value.suggested_filename == "release-notes.zip"


def test_uninstalling_says_who_loses_it(visit: Open, committed_cast: Cast, site: Remote) -> None:
    source = shelf.add_source(committed_cast, site.address("kit"))
    row = shelf.install(committed_cast, source, "release-notes")
    page = visit(f"skills/{row.pk}/agents/")
    page.get_by_role("button", name="Give it to engineer").click()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Uninstall…").click()
    dialog = page.get_by_role("dialog", name="Uninstall release-notes?")
    expect(dialog).to_contain_text("1 agent loses it: @engineer")
    dialog.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Uninstall…").click()
    dialog.get_by_role("button", name="Uninstall", exact=True).click()
    expect(page.locator("#toasts")).to_contain_text("@engineer no longer have it")
    assert not directory(committed_cast.workspace.pk, "release-notes").exists()


def test_a_skill_is_written_and_a_refusal_loses_nothing(visit: Open, committed_cast: Cast) -> None:
    page = visit("skills/new/")
    page.get_by_label("Name", exact=True).fill("release-notes")
    text = page.get_by_label("SKILL.md")
    expect(text).to_have_value(holding("name: release-notes"))
    text.fill(shelf.NOTES + "\n**Bold** and <script>alert(1)</script>\n")
    expect(page.locator("#editor-preview strong")).to_have_text("Bold")
    expect(page.locator("#editor-preview script")).to_have_count(0)
    page.get_by_role("button", name="Add a file").click()
    page.get_by_label("Path of the file").fill("scripts/setup.sh")
    page.get_by_label("Text of the file").fill(shelf.SCRIPT)
    expect(page.locator("[data-unsaved-word]")).to_contain_text("not saved")

    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.get_by_role("link", name="Cancel").click()
    expect(text).to_have_value(holding("**Bold**"))
    assert asked == ["beforeunload"]

    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/skills/requests/**")
    shelf.work(committed_cast)
    expect(page.get_by_text("Refused by the gate. Nothing was written.")).to_be_visible()
    page.get_by_role("link", name="Go on writing").click()
    expect(page.get_by_label("SKILL.md")).to_have_value(holding("**Bold**"))
    expect(page.get_by_label("Text of the file")).to_have_value(shelf.SCRIPT)
    page.get_by_role("button", name="Remove this file").click()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/skills/requests/**")
    shelf.work(committed_cast)
    expect(page.get_by_text("Accepted and installed.")).to_be_visible()
    assert [
        path.name for path in directory(committed_cast.workspace.pk, "release-notes").iterdir()
    ] == ["SKILL.md"]


def test_an_agents_skills_are_chosen_as_chips(
    visit: Open, committed_cast: Cast, site: Remote
) -> None:
    source = shelf.add_source(committed_cast, site.address("kit"))
    shelf.install(committed_cast, source, "release-notes")
    page = visit(f"agents/{committed_cast.ceo.pk}/")
    entry = page.get_by_label(re.compile("^Skills"))
    entry.fill("release-notes")
    entry.press("Enter")
    entry.fill("not-here")
    entry.press("Enter")
    expect(page.locator(".tokens .chip")).to_have_count(2)
    expect(page.locator(".tokens .chip.bad")).to_contain_text("not installed")
    entry.press("Backspace")
    expect(page.locator(".tokens .chip")).to_have_count(1)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("ceo is saved")
    with committed_cast.bound():
        names = [row.display for row in committed_cast.ceo.skill_names.all()]
    assert names == ["release-notes"]


def holding(part: str) -> re.Pattern[str]:
    """A text that holds this."""
    return re.compile(re.escape(part))
