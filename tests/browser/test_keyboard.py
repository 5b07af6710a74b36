"""The main job without a mouse: every step by keys, and one sees where one is."""

import pytest
from playwright.sync_api import Page, expect

from guardrails.models import Approval
from repositories.models import Repository
from runs.models import Run
from tests.browser.conftest import Open
from tests.cast import Cast
from tests.guardrails.asking import ask

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOCUS = """() => {
  const one = document.activeElement;
  const label = one.labels?.[0];
  // The ring may stand around what holds the field.
  const shown = [one, label, one.parentElement, one.parentElement?.parentElement].filter(Boolean);
  const style = (each) => getComputedStyle(each);
  return {
    name: (one.getAttribute("aria-label") || label?.textContent || one.textContent).trim(),
    seen: shown.some((e) => style(e).outlineStyle !== "none" || style(e).boxShadow !== "none"),
  };
}"""


def go(page: Page, words: str) -> None:
    """Through the palette."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill(words)
    page.keyboard.press("Enter")


def tab_to(page: Page, name: str, *, most: int = 60) -> None:
    """Presses Tab until the element of this name has the focus, and each stop is to be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUS)
        assert found["seen"], f"the focus on {found['name']!r} is not to be seen"
        if found["name"].startswith(name):
            return
    raise AssertionError(f"{name!r} is not reached in {most} steps")


def test_the_main_job_by_keys_alone(visit: Open, committed_cast: Cast) -> None:
    cast = committed_cast
    with cast.bound():
        Repository.objects.create(
            name="engine", address="https://example.org/engine", state=Repository.State.READY
        )
    page = visit("")
    go(page, "spaces")
    page.wait_for_url("**/spaces/")
    tab_to(page, "New space")
    page.keyboard.press("Enter")
    page.wait_for_url("**/spaces/new/")
    page.keyboard.type("Keys only")  # the first field has the focus already
    tab_to(page, "engine")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_url("**/spaces/keys-only/**")

    tab_to(page, "Message")
    page.keyboard.type("@eng")
    expect(page.get_by_role("option", name="engineer")).to_be_visible()
    page.keyboard.press("Enter")  # takes the offered name
    page.keyboard.type("add a CHANGELOG and push it")  # the blank came with the name
    with page.expect_response("**/say/"):
        page.keyboard.press("Enter")
    with cast.bound():
        run = Run.objects.get()
        assert run.agent == cast.engineer
        assert run.message is not None
        assert run.message.body == "@engineer add a CHANGELOG and push it"
        ask(cast, run_id=run.pk)

    go(page, "inbox")
    page.wait_for_url("**/inbox/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/inbox/*/")
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve once")).to_have_count(0)
    with cast.bound():
        assert Approval.objects.get().state == Approval.State.APPROVED


def test_a_no_with_a_reason_by_keys(visit: Open, committed_cast: Cast) -> None:
    with committed_cast.bound():
        approval = ask(committed_cast)
    page = visit(f"inbox/{approval.pk}/")
    page.keyboard.press("d")
    page.keyboard.type("not on a Friday")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("not on a Friday").first).to_be_visible()
    with committed_cast.bound():
        assert Approval.objects.get().note == "not on a Friday"
