"""Agents and their chart as admins use them, in a real browser."""

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from django.utils import timezone
from playwright.sync_api import Dialog, Locator, Page, expect

from agents import mirror
from agents.creating import Profile, create
from agents.models import Agent
from tests.browser.conftest import Open
from tests.cast import PASSWORD, Cast
from workspaces import members
from workspaces.models import Membership, ModelConnection, Principal, Role, User, Workspace

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def seeded(committed_cast: Cast) -> None:
    """The team is there: else the pages ask again and again for it."""
    with committed_cast.bound():
        Workspace.objects.filter(pk=committed_cast.workspace.pk).update(seeded_at=timezone.now())


@pytest.fixture
def grace(committed_cast: Cast) -> Membership:
    """A second admin."""
    with committed_cast.bound():
        user = User.objects.create_user("grace@example.org", PASSWORD, name="Grace Hopper")
        return members.join(user, Role.ADMIN)


def stored(cast: Cast, agent: Agent) -> Agent:
    with cast.bound():
        return Agent.objects.select_related("reports_to").get(pk=agent.pk)


def settings_of(agent: Agent) -> str:
    return f"agents/{agent.pk}/"


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).last.click()


# --- Settings ------------------------------------------------------------------------------------


@pytest.mark.req("CC-24", "CC-20", "CC-19")
def test_every_field_is_edited_in_place_and_saved_at_once(
    visit: Open, committed_cast: Cast
) -> None:
    cast = committed_cast
    with cast.bound():
        ModelConnection.objects.create(provider="anthropic", name="mine", is_default=True)
        ModelConnection.objects.create(provider="demo", name="demo")
    page = visit(settings_of(cast.engineer))
    effort = page.locator("[name=effort]")
    assert effort.locator("option").count() == 1
    page.locator("[name=model_id]").select_option("mine/claude-opus-5-5")
    expect(effort.locator("option[value=high]")).to_have_count(1)
    effort.select_option("high")
    page.locator("[name=model_id]").select_option("demo/demo")
    expect(effort.locator("option")).to_have_count(1)
    page.locator("[name=model_id]").select_option("mine/claude-opus-5-5")
    expect(effort.locator("option[value=high]")).to_have_count(1)
    effort.select_option("high")
    page.get_by_label("Name", exact=True).fill("builder")
    page.get_by_label("Job title").fill("Builder")
    page.get_by_label("Reports to").select_option(label="@ada")
    page.get_by_label("Lifecycle").select_option("paused")
    page.get_by_label("Context window, tokens").fill("100000")
    page.get_by_label("Silence limit, minutes").fill("240")
    page.get_by_label("Persona").fill("You build.\nWell.")
    page.get_by_label("Agent instructions").fill("Ask first.")
    expect(page.locator("[data-unsaved-word]")).to_contain_text("not saved")
    save(page)
    expect(page.get_by_text("builder is saved.")).to_be_visible()
    row = stored(cast, cast.engineer)
    assert (row.name, row.title, row.lifecycle) == ("builder", "Builder", "paused")
    assert (row.model_id, row.effort) == ("mine/claude-opus-5-5", "high")
    assert (row.context_size, row.silence_timeout_minutes) == (100_000, 240)
    assert (row.persona, row.system_prompt) == ("You build.\nWell.", "Ask first.")
    assert row.reports_to == cast.ada.principal
    assert row.version == 2
    assert (mirror.directory(row) / "AGENTS.md").is_file()


@pytest.mark.req("CC-24")
def test_what_is_unsaved_is_not_left_unasked(visit: Open, committed_cast: Cast) -> None:
    page = visit(settings_of(committed_cast.engineer))
    page.get_by_label("Job title").fill("Changed")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    address = page.url
    page.get_by_role("link", name="Org chart").first.click()
    page.wait_for_function("() => true")
    expect(page.get_by_label("Job title")).to_have_value("Changed")
    assert (asked, page.url) == (["beforeunload"], address)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("engineer is saved.")).to_be_visible()
    page.get_by_role("link", name="Org chart").first.click()
    page.wait_for_url("**/orgchart/")
    assert len(asked) == 1


@pytest.mark.req("CC-24")
def test_two_admins_see_each_other_and_lose_nothing(
    visit: Open, committed_cast: Cast, grace: Membership
) -> None:
    cast = committed_cast
    ada, other = visit(settings_of(cast.engineer)), visit(settings_of(cast.engineer), who=grace)
    ada.get_by_label("Job title").fill("By Ada")
    ada.get_by_label("Persona").fill("Ada's persona.")
    other.get_by_label("Persona").fill("Grace's persona.")
    other.get_by_label("Agent instructions").fill("Grace's instructions.")
    save(ada)
    expect(ada.get_by_text("engineer is saved.")).to_be_visible()
    save(other)
    expect(other.get_by_text("Somebody else saved this agent")).to_be_visible()
    expect(
        other.get_by_text("Taken over from them, since you had not touched it: Job title")
    ).to_be_visible()
    assert stored(cast, cast.engineer).persona == "Ada's persona."
    expect(other.get_by_label("Job title")).to_have_value("By Ada")
    clash = other.get_by_role("group", name="Persona")
    expect(clash).to_contain_text("Ada's persona.")
    expect(clash).to_contain_text("Grace's persona.")
    clash.get_by_label("Stored now").check()
    save(other)
    expect(other.get_by_text("engineer is saved.")).to_be_visible()
    row = stored(cast, cast.engineer)
    assert (row.title, row.persona) == ("By Ada", "Ada's persona.")
    assert row.system_prompt == "Grace's instructions."


@pytest.mark.req("CC-25", "CC-77", "CC-78")
def test_a_new_agent_begins_without_a_name(visit: Open, committed_cast: Cast) -> None:
    page = visit("agents/")
    page.get_by_role("button", name="New agent").first.click()
    page.wait_for_url("**/agents/*-*/")
    expect(page.get_by_label("Name", exact=True)).to_have_value("")
    page.get_by_label("Name", exact=True).fill("Scout One")
    save(page)
    expect(page.get_by_text("Use lower-case letters, digits and hyphens")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("scout")
    save(page)
    expect(page.get_by_text("scout is saved.")).to_be_visible()
    with committed_cast.bound():
        assert (mirror.directory(Agent.objects.get(name="scout")) / "AGENTS.md").is_file()


def test_a_double_click_saves_and_creates_once(visit: Open, committed_cast: Cast) -> None:
    page = visit("agents/")
    page.get_by_role("button", name="New agent").first.dblclick()
    page.wait_for_url("**/agents/*-*/")
    with committed_cast.bound():
        assert Agent.objects.filter(name="").count() == 1
    page.get_by_label("Name", exact=True).fill("scout")
    page.get_by_role("button", name="Save", exact=True).last.dblclick()
    expect(page.get_by_text("scout is saved.")).to_be_visible()
    with committed_cast.bound():
        assert Agent.objects.get(name="scout").version == 2


def test_deleting_says_what_goes(visit: Open, committed_cast: Cast) -> None:
    page = visit(settings_of(committed_cast.ceo))
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete this agent?")
    for line in ("its directory", "0 runs", "What it said", "1 agent that reports", "name is free"):
        expect(dialog).to_contain_text(line)
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("ceo is deleted.")).to_be_visible()
    assert stored(committed_cast, committed_cast.engineer).reports_to is None


def test_several_are_archived_and_brought_back(visit: Open, committed_cast: Cast) -> None:
    page = visit("agents/")
    for name in ("ceo", "engineer"):
        page.locator(
            f"input[type=checkbox][name=agent][value='{_agent(committed_cast, name).pk}']"
        ).check()
    page.get_by_role("button", name="Archive").first.click()
    expect(page.get_by_text("2 agents are now: Archived")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 agents are now: Archived")).to_have_count(0)
    assert {_agent(committed_cast, name).lifecycle for name in ("ceo", "engineer")} == {"active"}


def _agent(cast: Cast, name: str) -> Agent:
    with cast.bound():
        return Agent.objects.get(name=name)


def test_a_search_filters_the_list_and_the_table_at_once(visit: Open) -> None:
    page = visit("agents/")
    expect(page.locator("#team tr[data-principal]")).not_to_have_count(1)
    page.get_by_label("Name, title or skill").press_sequentially("engin")
    expect(page.locator("#team tr[data-principal]")).to_have_count(1)
    expect(page.locator("#roster")).not_to_contain_text("ceo")
    page.get_by_label("Name, title or skill").fill("")
    expect(page.locator("#team tr[data-principal]")).not_to_have_count(1)
    page.locator("#team").get_by_role("link", name="engineer").click()
    expect(page.get_by_label("Job title")).to_be_visible()


# --- Org chart -----------------------------------------------------------------------------------


def node(page: Page, who: Principal | None) -> Locator:
    assert who is not None
    return page.locator(f"#node-{who.pk}")


def drag(page: Page, who: Locator, onto: Locator) -> None:
    start, end = who.bounding_box(), onto.bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + start["width"] / 2 + 20, start["y"] + start["height"] / 2, steps=3)
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=8)
    expect(onto).to_have_class(re.compile("drop-here"))
    page.mouse.up()


def press_until_gone(page: Page, key: str, words: str) -> None:
    """Presses like a person: a key is not heard at once by what has just appeared."""
    with page.expect_response("**/orgchart/undo/"):
        page.wait_for_timeout(600)
        page.keyboard.press(key)
    expect(page.get_by_text(words)).to_have_count(0)


@pytest.mark.req("CC-23")
def test_a_box_is_dragged_onto_its_new_superior_and_back(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    page = visit("orgchart/")
    engineer = node(page, cast.engineer.principal)
    drag(page, engineer, node(page, cast.ada.principal))
    expect(page.get_by_text("@engineer now reports to @ada.")).to_be_visible()
    assert stored(cast, cast.engineer).reports_to == cast.ada.principal
    with page.expect_response("**/orgchart/"):  # what the move itself tells every open tab
        page.evaluate("document.body.dispatchEvent(new CustomEvent('live-roster'))")
    expect(page.locator(".chart-said")).to_contain_text("@engineer now reports to @ada.")
    press_until_gone(page, "z", "now reports to")
    assert stored(cast, cast.engineer).reports_to == cast.ceo.principal


@pytest.mark.req("CC-23")
def test_nobody_ends_up_below_themselves(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    page = visit("orgchart/")
    drag(page, node(page, cast.ceo.principal), node(page, cast.engineer.principal))
    expect(page.get_by_role("alert")).to_contain_text("own superior")
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed.")
    assert stored(cast, cast.ceo).reports_to is None


@pytest.mark.req("CC-23")
def test_what_another_moved_meanwhile_closes_no_circle(
    visit: Open, committed_cast: Cast, grace: Membership
) -> None:
    cast = committed_cast
    with cast.bound():
        one, _new = create(Profile(name="one"))
        two, _new = create(Profile(name="two"))
    ada, other = visit("orgchart/"), visit("orgchart/", who=grace)
    drag(ada, node(ada, one.principal), node(ada, two.principal))
    expect(ada.get_by_text("@one now reports to @two.")).to_be_visible()
    drag(other, node(other, two.principal), node(other, one.principal))
    expect(other.get_by_role("alert")).to_contain_text("own superior")
    assert stored(cast, one).reports_to == two.principal
    assert stored(cast, two).reports_to is None


@pytest.mark.req("CC-23")
def test_the_keyboard_moves_folds_and_finds(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    page = visit("orgchart/")
    node(page, cast.engineer.principal).focus()
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog", name="Who is above?")
    expect(dialog).to_contain_text("engineer")
    dialog.get_by_label("Reports to").select_option("")
    dialog.get_by_role("button", name="Move").press("Enter")
    expect(page.get_by_text("@engineer now reports to nobody.")).to_be_visible()
    expect(node(page, cast.engineer.principal)).to_be_focused()
    press_until_gone(page, "z", "now reports to")
    node(page, cast.ceo.principal).focus()
    page.keyboard.press("c")
    expect(node(page, cast.engineer.principal)).to_have_count(0)
    assert "closed=" in page.url
    page.keyboard.press("c")
    expect(node(page, cast.engineer.principal)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("engin")
    expect(node(page, cast.ceo.principal)).to_have_class(re.compile("dim"))
    expect(node(page, cast.engineer.principal)).not_to_have_class(re.compile("dim"))


def test_the_chart_zooms_fits_prints_and_is_a_file(
    visit: Open, committed_cast: Cast, tmp_path: Path
) -> None:
    page = visit("orgchart/")
    word = page.locator("[data-zoom-word]")
    before = word.inner_text()
    page.get_by_role("button", name="Zoom out").click()
    expect(word).not_to_have_text(before)
    page.get_by_role("button", name="Fit").click()
    page.evaluate("() => { window.print = () => { document.title = 'printed'; }; }")
    page.get_by_role("button", name="Print").click()
    expect(page).to_have_title("printed")
    page.emulate_media(media="print")
    expect(page.locator(".rail")).not_to_be_visible()
    expect(node(page, committed_cast.engineer.principal)).to_be_visible()
    page.emulate_media(media="screen")
    with page.expect_download() as download:
        page.get_by_role("link", name="SVG").click()
    file = tmp_path / "chart.svg"
    download.value.save_as(file)
    words = {each.text for each in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")}
    assert {"ceo", "engineer"} <= words


def test_what_is_under_the_pointer_stays_there_when_one_zooms(
    visit: Open, committed_cast: Cast
) -> None:
    line = [committed_cast.engineer]
    with committed_cast.bound():
        for number in range(6):
            below, _new = create(Profile(name=f"n{number}", reports_to=line[-1].principal))
            line.append(below)
    page = visit("orgchart/")
    node(page, line[3].principal).focus()
    for _ in range(8):
        page.keyboard.press("+")
    expect(page.locator("[data-zoom-word]")).to_have_text("200 %")
    settled = page.locator(".board-sheet:not(.zooming)")
    settled.wait_for()
    place, name = page.locator("[data-board-place]"), node(page, line[3].principal).locator(".who")
    name.evaluate("element => element.scrollIntoView({inline: 'center', block: 'center'})")
    before, width = name.bounding_box(), place.evaluate("place => place.scrollWidth")
    assert before is not None
    for _ in range(3):
        place.evaluate(WHEEL, [before["x"], before["y"], 10])
    expect(page.locator("[data-zoom-word]")).to_have_text("172 %")
    settled.wait_for()
    after = name.bounding_box()
    assert after is not None
    assert after["x"] == pytest.approx(before["x"], abs=3)
    assert after["width"] == pytest.approx(before["width"] * 0.86, rel=0.03)
    assert place.evaluate("place => place.scrollWidth") < width


WHEEL = """(place, [clientX, clientY, deltaY]) => place.dispatchEvent(
    new WheelEvent("wheel", {deltaY, ctrlKey: true, clientX, clientY}))"""


def test_a_phone_shows_an_indented_tree(visit: Open, committed_cast: Cast) -> None:
    page = visit("orgchart/", phone=True)
    outline = page.locator(".outline")
    expect(outline.get_by_text("engineer").first).to_be_visible()
    expect(page.locator("#chart svg.board, .board svg").first).not_to_be_visible()
    boss, below = (
        outline.get_by_text(name, exact=True).first.bounding_box() for name in ("ceo", "engineer")
    )
    assert boss is not None
    assert below is not None
    assert below["x"] > boss["x"]
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_a_viewer_sees_the_chart_and_moves_nobody(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    page = visit("orgchart/", who=cast.vera)
    node(page, cast.engineer.principal).focus()
    page.keyboard.press("m")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("document.getElementById('chart').dataset.move") is None


@pytest.mark.req("CC-80")
def test_the_chart_shows_the_live_state(visit: Open, committed_cast: Cast) -> None:
    from tests.agents.test_editing import start_run

    cast = committed_cast
    start_run(cast, cast.engineer)
    page = visit("orgchart/")
    expect(node(page, cast.engineer.principal)).to_contain_text("Running")
    expect(node(page, cast.ceo.principal)).to_contain_text("No runs yet")


@pytest.mark.req("CC-80")
@pytest.mark.parametrize("phone", [False, True])
def test_what_comes_live_leaves_the_boxes_where_they_are(
    visit: Open, committed_cast: Cast, *, phone: bool
) -> None:
    from tests.agents.test_editing import start_run

    cast = committed_cast
    page = visit("orgchart/", phone=phone)
    who = cast.engineer.principal_id
    box = page.locator(f'[data-leaf="{who}"]' if phone else f"#node-{who}")
    expect(box).to_contain_text("No runs yet")
    box.evaluate("element => { element.isTheSame = true; }")
    start_run(cast, cast.engineer)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('live-roster'))")
    expect(box).to_contain_text("Running")
    assert box.evaluate("element => element.isTheSame === true")
    if not phone:
        expect(box).to_have_class(re.compile(r"\brunning\b"))


@pytest.mark.req("CC-74")
def test_the_adapter_for_new_agents_stays_in_the_browser(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    page = visit("setup/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.url} {request.post_data}"))
    choice = page.locator("[data-default-adapter]")
    assert choice.get_attribute("name") is None
    choice.select_option(label="Control Center (built-in)")
    choice.dispatch_event("change")
    assert page.evaluate("localStorage.getItem('default-adapter')") == ""
    page.evaluate("localStorage.setItem('default-adapter', 'not-here')")
    page.goto(page.url.replace("setup/", settings_of(cast.engineer)))
    expect(page.locator("[data-new-agent]")).to_have_count(0)
    page.goto(page.url.replace(settings_of(cast.engineer), "agents/"))
    page.get_by_role("button", name="New agent").first.click()
    page.wait_for_url("**/agents/*-*/")
    expect(page.locator("[data-new-agent]")).to_have_count(1)
    assert not [each for each in sent if "not-here" in each or "default" in each]
    with cast.bound():
        assert not Agent.objects.exclude(adapter_id=None).exists()
