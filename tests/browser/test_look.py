"""The look in Chromium: nothing scrolls sideways, themes stay, keys and dialogs do as they say."""

import re
from collections.abc import Iterator
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.test import override_settings
from playwright.sync_api import Page, expect

if TYPE_CHECKING:
    from tests.browser.chromium import Tab

pytestmark = pytest.mark.browser
WIDTHS = [390, 768, 820, 1024, 1280, 1440, 2560, 3840]


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def style() -> Iterator[str]:
    """The style page, served without a database: it reads none."""
    with override_settings(DEBUG=True):
        server = ThreadedWSGIServer(("127.0.0.1", 0), Quiet)
        server.set_app(StaticFilesHandler(get_wsgi_application()))
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/style/"
        server.shutdown()
        server.server_close()


def sideways(page: Page) -> int:
    return int(page.evaluate("document.scrollingElement.scrollWidth - innerWidth"))


def test_nothing_scrolls_sideways_at_any_width(tab: "Tab", style: str) -> None:
    page = tab(theme="dark")
    page.goto(style)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert sideways(page) <= 0, width


def test_the_theme_stays_after_a_reload(tab: "Tab", style: str) -> None:
    page = tab(theme="light")
    page.goto(style)
    page.get_by_role("button", name="Dark", exact=True).click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="System", exact=True).click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme ?? null") is None


def test_a_person_and_an_agent_do_not_look_alike(tab: "Tab", style: str) -> None:
    page = tab()
    page.goto(style)
    radius = "e => getComputedStyle(e).borderRadius"
    assert page.locator(".av:not(.agent)").first.evaluate(radius) == "50%"
    assert page.locator(".av.agent").first.evaluate(radius) != "50%"


def test_a_destructive_act_waits_for_its_name(tab: "Tab", style: str) -> None:
    page = tab()
    page.goto(style)
    page.get_by_role("button", name="Delete…").first.click()
    dialog = page.get_by_role("dialog", name="Delete engineer?")
    expect(dialog).to_be_visible()
    act = dialog.get_by_role("button", name="Delete engineer")
    expect(act).to_be_disabled()
    dialog.get_by_label("Type engineer to go on").fill("engineer")
    expect(act).to_be_enabled()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_single_key_presses_its_button_but_not_while_one_writes(tab: "Tab", style: str) -> None:
    page = tab()
    page.goto(style)
    deny = page.get_by_role("dialog", name="Deny this?")
    page.keyboard.press("d")
    expect(deny).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Message").fill("a d")
    page.get_by_label("Message").press("d")
    expect(deny).to_be_hidden()


def test_a_draft_survives_the_tab(tab: "Tab", style: str) -> None:
    page = tab()
    page.goto(style)
    page.get_by_label("Message").fill("half a thought")
    page.goto("about:blank")
    page.goto(style)
    expect(page.get_by_label("Message")).to_have_value("half a thought")


def test_a_long_id_is_copied_whole(tab: "Tab", style: str) -> None:
    page = tab(permissions=["clipboard-read", "clipboard-write"])
    page.goto(style)
    page.locator(".copy").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r"[0-9a-f]{40}", copied)


def test_times_are_said_in_the_readers_own_way(tab: "Tab", style: str) -> None:
    page = tab(locale="en-GB", timezone_id="Europe/Lisbon")
    page.goto(style)
    ago = page.locator("time[data-when=ago]").first
    expect(ago).to_have_text("2 min")
    assert "GMT" not in (ago.get_attribute("title") or "")


def test_on_a_phone_the_answers_can_be_hit(tab: "Tab", style: str) -> None:
    page = tab(phone=True)
    page.goto(style)
    for name in ("Approve once", "Deny…"):
        box = page.locator(".approval.open").get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["height"] >= 44


def test_a_request_that_fails_says_so_and_keeps_the_text(tab: "Tab", style: str) -> None:
    page = tab(allowed=("429", "Response Status"))
    page.goto(style)
    page.route("**/refuses/", lambda route: route.fulfill(status=429, body="no"))
    page.locator("#composer-a").evaluate("form => form.setAttribute('hx-post', '/refuses/')")
    page.evaluate("htmx.process(document.querySelector('#composer-a'))")
    page.get_by_label("Message").fill("keep me")
    page.get_by_label("Message").press("Control+Enter")
    expect(page.locator("#toasts .toast.failed")).to_contain_text(
        "Too many requests. Wait a moment"
    )
    expect(page.get_by_label("Message")).to_have_value("keep me")
