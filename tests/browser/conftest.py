"""Pages of the workspace in Chromium, served without sockets."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, TimeoutError, expect
from pytest_django.live_server_helper import LiveServer

from tests.cast import Cast
from workspaces.models import Membership

if TYPE_CHECKING:
    from tests.browser.chromium import Tab

Open = Callable[..., Page]
expect.set_options(timeout=30_000)


@pytest.fixture
def visit(tab: "Tab", live_server: LiveServer, committed_cast: Cast) -> Iterator[Open]:
    """Opens a page of the workspace as this member, signed in already."""
    pages: list[Page] = []

    def signed_in(
        rest: str, *, who: Membership | None = None, phone: bool = False, theme: str = "light"
    ) -> Page:
        # The pages' server speaks no websocket: that the page is not live is expected here.
        expected = ("WebSocket", "live/", "404", "409", "422", "503")
        page = tab(phone=phone, theme=theme, allowed=expected)
        client = committed_cast.client(who or committed_cast.ada)
        name = settings.SESSION_COOKIE_NAME
        value = client.cookies[name].value
        page.context.add_cookies([{"name": name, "value": value, "url": live_server.url}])
        page.set_default_navigation_timeout(60_000)
        page.goto(live_server.url + committed_cast.path(rest))
        pages.append(page)
        return page

    yield signed_in
    for page in pages:  # what still runs on the server would meet the emptying of the tables
        with suppress(TimeoutError):
            page.wait_for_load_state("networkidle")
        page.close()


def scroll_to(there: Locator) -> None:
    """In one step of the page: a list that is drawn anew meanwhile takes nothing away."""
    there.evaluate("each => each.scrollIntoView({block: 'nearest'})")
