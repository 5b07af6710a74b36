"""What a person sees in Chromium: `live.js` on a page of the test site."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

import live
from live import presence
from live import valkey as way
from tests.browser.chromium import Tab
from tests.live import pages
from tests.live.conftest import QUICK
from tests.live.engines import Site, Valkey, running

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium")]

# What Chromium itself says of a socket or a request that is cut.
CUT = ("WebSocket connection", "net::ERR_")

SignIn = Callable[..., str]
Show = Callable[..., Page]


@pytest.fixture(scope="module")
def desk(valkey: Valkey) -> Iterator[Site]:
    with running(server := Site("daphne", valkey.url, QUICK)):
        yield server


@pytest.fixture
def mine(scope: str) -> list[str]:
    return [f"w/{scope}/{name}" for name in ("run/1", "presence", "roster")]


@pytest.fixture
def show(
    desk: Site, tab: Tab, browser: Browser, sign_in: SignIn, scope: str, mine: list[str]
) -> Show:
    """The page of the story as somebody sees it, once it is live."""

    def show(person: str, line: Callable[[WebSocketRoute], None] | None = None) -> Page:
        context = browser.new_context()
        context.set_default_timeout(10_000)
        address = f"http://127.0.0.1:{desk.port}"
        session = sign_in(person, *mine)
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        page = tab(context=context, allowed=CUT)
        if line:
            page.route_web_socket("**/live/**", line)
        page.goto(f"{address}/page/{scope}")
        is_live(page)
        return page

    return show


def is_live(page: Page, state: str = "live") -> None:
    expect(page.locator("html")).to_have_attribute("data-live-state", state)


def happens(scope: str, *texts: str) -> None:
    """Stored and announced, as a run does."""
    for text in texts:
        n = pages.store(scope, text)
        live.publish(f"w/{scope}/run/1", "event", html=pages.fragment(n, text), n=n)


def assert_events(page: Page, *texts: str) -> None:
    expect(page.locator("#events > p")).to_have_text(list(texts))


def test_events_come_in_order_and_once(show: Show, scope: str) -> None:
    happens(scope, "before")
    page = show("ada")
    happens(scope, "one", "two")
    assert_events(page, "before", "one", "two")


def test_an_event_twice_is_shown_once_and_an_early_one_waits(show: Show, scope: str) -> None:
    page = show("ada")
    topic = f"w/{scope}/run/1"
    html = [pages.fragment(pages.store(scope, text), text) for text in ("one", "two", "three")]
    live.publish(topic, "event", html=html[1], n=2)
    live.publish(topic, "event", html=html[0], n=1)
    live.publish(topic, "event", html=html[0], n=1)
    live.publish(topic, "event", html=html[2], n=3)
    assert_events(page, "one", "two", "three")


def test_an_event_that_got_lost_is_fetched(show: Show, scope: str) -> None:
    page = show("ada")
    pages.store(scope, "lost")
    happens(scope, "heard")
    assert_events(page, "lost", "heard")


def test_a_server_that_dies_and_comes_back_loses_nothing(
    show: Show, desk: Site, scope: str
) -> None:
    page = show("ada")
    happens(scope, "one")
    assert_events(page, "one")
    desk.kill()
    is_live(page, "reconnecting")
    expect(page.locator("[data-live-bar]")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-live", "off")
    assert_events(page, "one")
    happens(scope, "two")
    desk.start()
    is_live(page)
    happens(scope, "three")
    assert_events(page, "one", "two", "three")
    expect(page.locator("[data-live-bar]")).to_be_hidden()


def test_a_page_that_is_seen_again_finds_its_line_dead(show: Show, scope: str) -> None:
    lines: list[str] = []

    def silence(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        lines.append(line.url)
        if len(lines) == 1:
            # As after a sleep: the socket looks open and nothing comes through.
            server.on_message(
                lambda message: heard.append(message) if is_silent else line.send(message)
            )

    heard: list[object] = []
    is_silent: list[bool] = []
    page = show("ada", silence)
    happens(scope, "one")
    assert_events(page, "one")
    is_silent.append(True)
    happens(scope, "two")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert_events(page, "one", "two")
    assert len(lines) == 2


def test_text_grows_and_its_stored_event_takes_its_place(show: Show, scope: str) -> None:
    page = show("ada")
    topic = f"w/{scope}/run/1"
    growing = page.locator("[data-stream-place] [data-block]")
    with live.TextStream(topic, "1.0.text") as stream:
        stream.write("Olá 👋 wor")
        expect(growing).to_have_text("Olá 👋 wor")
        late = show("ben")
        expect(late.locator("[data-stream-place] [data-block]")).to_have_text("Olá 👋 wor")
        stream.write("ld <b>")
        for each in (page, late):
            expect(each.locator("[data-block]")).to_have_text("Olá 👋 world <b>")
        n = pages.store(scope, "Olá 👋 world <b>")
        html = pages.fragment(n, "Olá 👋 world <b>")
        live.publish(topic, "text", html=html, data={"block": "1.0.text"}, n=n)
    for each in (page, late):
        assert_events(each, "Olá 👋 world <b>")
        expect(each.locator("[data-block]")).to_have_count(0)


def test_text_that_ended_while_the_server_was_away_is_gone(
    show: Show, desk: Site, scope: str
) -> None:
    page = show("ada")
    stream = live.TextStream(f"w/{scope}/run/1", "1.0.text")
    stream.write("half")
    expect(page.locator("[data-block]")).to_have_text("half")
    desk.kill()
    stream.close()
    happens(scope, "whole")
    desk.start()
    assert_events(page, "whole")
    expect(page.locator("[data-block]")).to_have_count(0)


def test_a_notice_without_a_fragment_makes_the_page_ask(show: Show, scope: str) -> None:
    page = show("ada")
    expect(page.locator("#roster")).to_have_text("0")
    live.publish(f"w/{scope}/roster", "changed")
    expect(page.locator("#roster")).to_have_text("1")


def test_a_server_that_was_away_makes_the_page_ask(show: Show, desk: Site, scope: str) -> None:
    page = show("ada")
    desk.kill()
    live.publish(f"w/{scope}/roster", "changed")
    desk.start()
    expect(page.locator("#roster")).to_have_text("1")


@pytest.mark.req("CC-88", "CC-89")
def test_people_and_agents_are_in_one_list(show: Show, desk: Site, scope: str) -> None:
    page = show("ada")

    def word(who: str) -> Locator:
        return page.locator(f"[data-principal='{scope}-{who}'] [data-presence-word]")

    expect(word("ada")).to_have_text("Here")
    expect(word("ben")).to_have_text("")
    ben = show("ben")
    expect(word("ben")).to_have_text("Here")
    presence.set_agent(scope, f"{scope}-ceo", "thinking", run="1", started=1)
    expect(word("ceo")).to_have_text("Thinking")
    presence.set_agent(scope, f"{scope}-ceo", "blocked", run="1", started=1)
    expect(word("ceo")).to_have_text("Waiting for approval")
    ben.locator("textarea").fill("I think")
    expect(word("ben")).to_have_text("Typing")
    expect(page.locator("[data-typing]")).to_have_text("ben is typing")
    ben.close()
    expect(word("ben")).to_have_text("")
    expect(page.locator("[data-typing]")).to_have_text("")


def test_a_page_without_a_network_says_so_at_once_and_misses_nothing(
    show: Show, scope: str
) -> None:
    page = show("ada")
    happens(scope, "one")
    assert_events(page, "one")
    page.context.set_offline(True)
    is_live(page, "reconnecting")
    happens(scope, "two", "three")
    page.context.set_offline(False)
    is_live(page)
    assert_events(page, "one", "two", "three")


def test_a_session_that_ends_is_said_and_not_tried_again(show: Show, scope: str) -> None:
    page = show("ada")
    way.client().delete(*way.client().scan_iter(f"site:session:{scope}-ada-*"))
    is_live(page, "ended")
    expect(page.locator("[data-live-text]")).to_have_text("Your session has ended.")


def test_a_page_whose_reader_was_removed_says_so(show: Show, scope: str) -> None:
    page = show("ada")
    happens(scope, "one")
    assert_events(page, "one")
    way.client().delete(f"site:topics:{scope}-ada")
    is_live(page, "ended")
    expect(page.locator("[data-live-text]")).to_have_text("You no longer have access.")


def test_a_topic_that_is_not_theirs_leaves_the_page_as_it_is(
    show: Show, scope: str, mine: list[str]
) -> None:
    happens(scope, "one")
    mine.remove(f"w/{scope}/run/1")
    page = show("eve")
    happens(scope, "two")
    live.publish(f"w/{scope}/roster", "changed")
    expect(page.locator("#roster")).to_have_text("1")
    assert_events(page, "one")
