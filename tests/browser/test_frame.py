"""The frame around every page: palette, panes, keys, menus, as Ada and Vera use them."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.cast import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def conversation(cast: Cast) -> str:
    return f"spaces/{cast.space.slug}/{cast.conversation.pk}/"


def test_the_palette_goes_anywhere(visit: Open) -> None:
    page = visit("agents/")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("org")
    places = page.get_by_role("listbox", name="Places")
    expect(places.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/orgchart/")
    expect(page.locator(".rail [aria-current=page]")).to_contain_text("Org chart")


def test_j_and_k_move_in_the_list_and_enter_opens(visit: Open, committed_cast: Cast) -> None:
    page = visit("agents/")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.getAttribute('href')")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.getAttribute('href')") == first
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{first}")


def test_on_a_phone_one_pane_shows_and_back_goes_back(visit: Open, committed_cast: Cast) -> None:
    page = visit(conversation(committed_cast), phone=True)
    expect(page.locator("#main")).to_be_visible()
    expect(page.locator("#list")).to_be_hidden()
    page.get_by_role("link", name="Participants, runs, repositories").click()
    expect(page.locator("#context")).to_be_visible()
    expect(page.locator("#main")).to_be_hidden()
    page.go_back()
    expect(page.locator("#main")).to_be_visible()
    page.get_by_role("link", name="Back to spaces").click()
    expect(page.locator("#list")).to_be_visible()


def test_the_context_is_a_drawer_where_two_panes_fit(visit: Open, committed_cast: Cast) -> None:
    page = visit(conversation(committed_cast))
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(page.locator("#context")).to_be_hidden()
    page.get_by_role("link", name="Participants, runs, repositories").click()
    expect(page.locator("#context")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#context")).to_be_hidden()


@pytest.mark.req("FX-152")
def test_a_mention_is_completed_and_the_text_is_sent_once(
    visit: Open, committed_cast: Cast
) -> None:
    page = visit(conversation(committed_cast))
    text = page.get_by_label("Message")
    text.click()
    text.press_sequentially("ask @engi")
    expect(page.get_by_role("option", name="engineer")).to_be_visible()
    text.press("Enter")
    expect(text).to_have_value("ask @engineer ")
    text.press_sequentially("and @general")
    expect(page.get_by_role("option", name="agent-general-purpose")).to_be_visible()
    text.press("Enter")
    expect(text).to_have_value("ask @engineer and @agent-general-purpose ")
    text.press_sequentially("for nothing")
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.post_data else None)
    text.press("Enter")
    text.press("Enter")
    expect(text).to_have_value("")
    assert len(posts) == 1


def test_a_text_that_is_refused_stays_and_the_reason_is_said(
    visit: Open, committed_cast: Cast
) -> None:
    page = visit(conversation(committed_cast))
    text = page.get_by_label("Message")
    # By a script: what one types or pastes does not become as long.
    text.evaluate("text => { text.value = 'word '.repeat(25_000); }")
    text.press("Enter")
    expect(page.locator("#toasts .toast.failed")).to_contain_text("at most 100000")
    assert len(text.input_value()) == 125_000


def test_a_text_that_is_much_too_long_is_not_pasted_in_part(
    visit: Open, committed_cast: Cast
) -> None:
    page = visit(conversation(committed_cast))
    text = page.get_by_label("Message")
    text.fill("before")
    page.evaluate(
        """() => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", "z".repeat(10_000_000));
            document.querySelector("[data-composer-text]").dispatchEvent(
                new ClipboardEvent("paste", {clipboardData, cancelable: true, bubbles: true}));
        }"""
    )
    expect(page.locator("#toasts")).to_contain_text("10000000 characters")
    expect(text).to_have_value("before")


def test_a_page_whose_socket_is_refused_asks_why_without_a_fault(visit: Open) -> None:
    page = visit("agents/")
    with page.expect_response(lambda answer: answer.url == page.url) as asked:
        pass
    assert asked.value.ok


def test_who_only_views_sees_no_way_to_write(visit: Open, committed_cast: Cast) -> None:
    page = visit(conversation(committed_cast), who=committed_cast.vera)
    expect(page.get_by_label("Message")).to_be_hidden()


def test_the_menu_of_the_rail_opens_inside_the_window(visit: Open) -> None:
    page = visit("agents/")
    page.get_by_role("button", name="your menu").click()
    menu = page.locator("#you-menu")
    expect(menu.get_by_role("button", name="Sign out")).to_be_visible()
    box = menu.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900
