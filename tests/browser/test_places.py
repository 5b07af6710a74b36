"""Where one was: over Back, a reload, a refresh of a list, and what a page says after Back."""

import pytest
from playwright.sync_api import Page, expect

from agents.creating import Profile, create
from guardrails import approvals
from guardrails.models import Approval
from spaces.models import Conversation, Space
from tests.browser.conftest import Open, scroll_to
from tests.cast import Cast
from tests.guardrails.asking import ask

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def crowd(cast: Cast) -> None:
    with cast.bound():
        for n in range(60):
            create(Profile(name=f"helper-{n:02}", title="Helper"))


def top(page: Page, selector: str) -> int:
    return int(page.locator(selector).evaluate("pane => pane.scrollTop"))


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_back_leads_to_where_one_was(visit: Open, committed_cast: Cast, phone: bool) -> None:
    crowd(committed_cast)
    page = visit("agents/", phone=phone)
    there = page.locator("#roster").get_by_role("link", name="helper-40")
    scroll_to(there)
    was = top(page, "#roster")
    assert was > 0
    there.click()
    page.wait_for_url("**/agents/*/")
    page.go_back()
    expect(there).to_be_in_viewport()
    assert abs(top(page, "#roster") - was) < 5


def test_a_list_that_is_drawn_anew_stays_where_it_is(visit: Open, committed_cast: Cast) -> None:
    crowd(committed_cast)
    page = visit("agents/")
    scroll_to(page.locator("#roster").get_by_role("link", name="helper-40"))
    was = top(page, "#roster")
    with page.expect_response("**/agents/**"):
        page.evaluate("htmx.trigger(document.body, 'live-roster')")
    expect(page.locator(".htmx-request")).to_have_count(0)
    assert top(page, "#roster") == was


def test_a_rail_that_comes_out_of_band_stays_where_it_is(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    with cast.bound():
        for n in range(60):
            space = Space.objects.create(name=f"Space {n:02}", slug=f"space-{n}")
            Conversation.objects.create(space=space, created_by=cast.ada.principal)
    page = visit(f"spaces/{cast.space.slug}/{cast.conversation.pk}/")
    scroll_to(page.locator("#space-rail").get_by_text("Space 50"))
    was = top(page, "#space-rail")
    assert was > 0
    with page.expect_response("**/now/"):
        page.evaluate("htmx.trigger(document.body, 'now-changed')")
    expect(page.locator(".htmx-request")).to_have_count(0)
    assert top(page, "#space-rail") == was


def test_after_back_a_question_that_was_answered_offers_no_answer(
    visit: Open, committed_cast: Cast
) -> None:
    cast = committed_cast
    with cast.bound():
        approval = ask(cast)
    page = visit(f"inbox/{approval.pk}/")
    expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    page.goto(page.url.partition("/inbox/")[0] + "/agents/")
    with cast.bound():
        approvals.decide(
            Approval.objects.get(pk=approval.pk),
            by=cast.ben.principal,
            answer=approvals.Answer.DENY,
        )
    page.go_back()
    expect(page.get_by_text("Ben Franklin").first).to_be_visible()
    expect(page.get_by_role("button", name="Approve once")).to_have_count(0)


def test_after_sign_out_back_shows_nothing(visit: Open, committed_cast: Cast) -> None:
    page = visit("inbox/")
    page.context.clear_cookies()
    page.goto("about:blank")
    page.go_back()
    page.wait_for_url("**/accounts/login/**")
    expect(page.get_by_label("Password")).to_be_visible()
    expect(page.locator(".rail")).to_have_count(0)


def test_two_tabs_decide_and_the_second_learns_it(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    with cast.bound():
        approval = ask(cast)
    mine = visit(f"inbox/{approval.pk}/")
    theirs = visit(f"inbox/{approval.pk}/", who=cast.ben)
    mine.get_by_role("button", name="Approve once").click()
    expect(mine.get_by_role("button", name="Approve once")).to_have_count(0)
    theirs.get_by_role("button", name="Approve once").click()
    expect(theirs.get_by_text("Already approved by Ada Lovelace.").first).to_be_visible()
    expect(theirs.get_by_role("button", name="Approve once")).to_have_count(0)
    with cast.bound():
        assert Approval.objects.get().decided_by == cast.ada.principal
