"""Chromium for the stories that only a browser can tell.

`tab()` opens a page that fails its test on any error in its console: a script that breaks, a style
or script that the CSP refuses, a file that is not there.
"""

import shutil
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


class Tab(Protocol):
    """Opens a page; two calls are two people unless they share a context."""

    def __call__(
        self,
        *,
        phone: bool = False,
        theme: str = "light",
        allowed: tuple[str, ...] = (),
        context: BrowserContext | None = None,
        **options: Any,
    ) -> Page: ...


def chromium() -> str | None:
    """The browser of this machine; nothing is downloaded."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for path in map(shutil.which, names) if path), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        pytest.skip("this machine has no chromium")
    expect.set_options(timeout=20_000)  # a loaded machine is slow, not wrong
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """See `Tab`. `allowed`: pieces of console messages that this story expects."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def listen(page: Page, allowed: tuple[str, ...]) -> None:
        def console(message: ConsoleMessage) -> None:
            if message.type == "error" and not any(part in message.text for part in allowed):
                complaints.append(message.text)

        page.on("console", console)
        page.on("pageerror", lambda error: complaints.append(str(error)))

    def new_tab(
        *,
        phone: bool = False,
        theme: str = "light",
        allowed: tuple[str, ...] = (),
        context: BrowserContext | None = None,
        **options: Any,
    ) -> Page:
        if context is None:
            size = PHONE if phone else DESK
            context = browser.new_context(
                viewport=size,  # type: ignore[arg-type]
                color_scheme=theme,  # type: ignore[arg-type]
                has_touch=phone,
                **options,
            )
            context.set_default_timeout(15_000)
            contexts.append(context)
        page = context.new_page()
        listen(page, allowed)
        return page

    yield new_tab
    for context in contexts:
        context.close()
    assert not complaints, complaints


@pytest.fixture
def sign_in() -> Callable[[Page, str, str, str], None]:
    """Signs a person in through the form, as people do: page, address, e-mail, password."""

    def through_the_form(page: Page, address: str, email: str, password: str) -> None:
        page.goto(f"{address}/accounts/login/")
        page.get_by_label("Email").fill(email)
        page.get_by_label("Password", exact=True).fill(password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "/accounts/login" not in url)

    return through_the_form
