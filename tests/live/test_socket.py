"""The socket as a stranger, a reader and a vandal meet it, under both servers."""

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import live
from live import valkey as way
from tests.live.engines import Site
from tests.live.reader import Reader

pytestmark = pytest.mark.parametrize("site", ["daphne", "uvicorn"], indirect=True)

Open = Callable[..., Reader]
SignIn = Callable[..., str]


def refused(site: Site, session: str, **options: Any) -> int:
    with pytest.raises(InvalidStatus) as refusal:
        Reader(site.port, session, **options)
    return refusal.value.response.status_code


def test_a_reader_joins_and_hears(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    live.publish(topic, "event", html="<p>hello</p>", data={"block": "b"}, n=1)
    assert tab.key("kind") == {
        "topic": topic,
        "kind": "event",
        "html": "<p>hello</p>",
        "data": {"block": "b"},
        "n": 1,
        "epoch": "seq",
    }


@pytest.mark.parametrize("session", ["", "unknown", "' OR 1=1 --"])
def test_nobody_listens_without_being_signed_in(site: Site, session: str) -> None:
    assert refused(site, session) == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1"])
def test_no_other_page_opens_a_socket(site: Site, sign_in: SignIn, origin: str | None) -> None:
    assert refused(site, sign_in("ada"), origin=origin) == 403


def test_no_look_alike_host(site: Site, sign_in: SignIn) -> None:
    evil = "127.0.0.1.evil.example"
    assert refused(site, sign_in("ada"), origin=f"http://{evil}", host=evil) in (400, 403)


def test_a_foreign_topic_answers_like_a_missing_one(open_tab: Open, scope: str) -> None:
    open_tab("ada", f"w/{scope}/inbox")
    eve = open_tab("eve")
    assert eve.join(f"w/{scope}/inbox") == {"denied": f"w/{scope}/inbox"}
    assert eve.join(f"w/{scope}/nothing") == {"denied": f"w/{scope}/nothing"}
    live.publish(f"w/{scope}/inbox", "event", html="secret")
    assert eve.settled() == []


@pytest.mark.parametrize("topic", ["", "*", "w/*/run", "live:en:w/1", "a\nb", "x" * 3000])
def test_a_name_that_is_no_topic_is_denied(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada")
    assert tab.join(topic) == {"denied": topic}


def test_a_topic_that_is_left_is_not_heard(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    tab.say({"leave": topic})
    tab.settled()
    live.publish(topic, "event", n=1)
    assert tab.settled() == []


def test_joining_twice_hears_once(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    tab.join(topic)
    tab.settled()
    live.publish(topic, "event", n=1)
    tab.key("n", 1)
    assert tab.settled() == []


@pytest.mark.parametrize("said", ["", "{", "null", '{"join": 7}', '{"eval": "1"}', "\x00", "é"])
def test_nonsense_is_answered_and_the_socket_goes_on(open_tab: Open, said: str) -> None:
    tab = open_tab("ada")
    tab.say(said)
    assert tab.key("error") == {"error": "malformed"}
    assert tab.settled() == []


def test_bytes_are_nonsense(open_tab: Open) -> None:
    tab = open_tab("ada")
    tab.socket.send(b'{"ping": 1}')
    assert tab.key("error") == {"error": "malformed"}


def test_nonsense_without_end_closes(open_tab: Open) -> None:
    tab = open_tab("ada")
    for _ in range(100):
        tab.say("{")
    assert tab.closed() == 4008
    assert tab.seen[-1] == {"bye": "rate"}


def test_a_flood_closes(open_tab: Open) -> None:
    tab = open_tab("ada")
    with contextlib.suppress(ConnectionClosed):
        for number in range(10_000):
            tab.say({"ping": number})
    # Who still talks when the door is shut may not hear why.
    assert tab.closed() in (4008, 1006)


@pytest.mark.parametrize(("size", "codes"), [(5_000, {4009}), (1_000_000, {4009, 1009, 1006})])
def test_a_large_message_closes_and_others_go_on(
    open_tab: Open, topic: str, size: int, codes: set[int]
) -> None:
    vandal, reader = open_tab("eve"), open_tab("ada", topic)
    vandal.say(json.dumps({"join": "x" * size}))
    assert vandal.closed() in codes
    live.publish(topic, "event", n=1)
    assert reader.key("n")["n"] == 1


@pytest.mark.parametrize("size", [10, 12_000, 45_000])
def test_a_fragment_that_fits_is_told(open_tab: Open, topic: str, size: int) -> None:
    tab = open_tab("ada", topic)
    live.publish(topic, "event", html="x" * size, n=1)
    live.publish_rendered(topic, "event", lambda locale: "x" * size, n=2)
    assert [len(tab.key("n", n)["html"]) for n in (1, 2)] == [size, size]


@pytest.mark.parametrize("html", ["x" * 50_000, "é" * 30_000, "x" * 3_000_000])
def test_a_fragment_that_is_too_large_to_be_told_is_fetched(
    open_tab: Open, topic: str, html: str
) -> None:
    tab = open_tab("ada", topic)
    tab.settled()
    live.publish(topic, "event", html=html, n=1)
    assert tab.key("resync") == {"resync": topic}
    live.publish_rendered(topic, "event", lambda locale: html, n=2)
    assert tab.key("resync") == {"resync": topic}
    assert tab.join(topic, ("seq", 2))["n"] == 2
    live.publish(topic, "event", html="small", n=3)
    assert tab.key("n", 3)["html"] == "small"


def test_a_tab_has_only_so_many_topics(open_tab: Open, scope: str) -> None:
    topics = [f"w/{scope}/run/{number}" for number in range(101)]
    tab = open_tab("ada", *topics[:100])
    way.client().sadd(f"site:topics:{scope}-ada", topics[100])
    assert tab.join(topics[100]) == {"denied": topics[100]}


def test_signing_out_closes(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    way.client().delete(*way.client().scan_iter(f"site:session:{topic.split('/')[1]}-ada-*"))
    assert tab.closed() == 4001
    assert tab.seen[-1] == {"bye": "signed_out"}


def test_losing_a_topic_closes(open_tab: Open, topic: str, scope: str) -> None:
    tab, other = open_tab("ada", topic), open_tab("ben", topic)
    way.client().srem(f"site:topics:{scope}-ada", topic)
    live.recheck(f"{scope}-ada")
    assert tab.closed() == 4003
    live.publish(topic, "event", n=1)
    assert other.key("n")["n"] == 1


def test_losing_a_topic_closes_even_if_nobody_says_so(
    open_tab: Open, topic: str, scope: str
) -> None:
    tab = open_tab("ada", topic)
    way.client().srem(f"site:topics:{scope}-ada", topic)
    assert tab.closed() == 4003


def test_a_fragment_comes_in_the_language_of_the_page(open_tab: Open, topic: str) -> None:
    from django.utils.translation import get_language

    rendered: list[tuple[str, str]] = []

    def render(locale: str) -> str:
        rendered.append((locale, get_language() or ""))
        return f"<p>{locale}</p>"

    english, other, none = open_tab("ada", topic), open_tab("ben", topic), open_tab("vera")
    live.publish_rendered(topic, "event", render, n=1)
    assert english.key("n")["html"] == other.key("n")["html"] == "<p>en</p>"
    assert rendered == [("en", "en")]

    portuguese = open_tab("eve", topic, lang="pt")
    live.publish_rendered(topic, "event", render, n=2)
    assert english.key("n", 2)["html"] == "<p>en</p>"
    assert portuguese.key("n", 2)["html"] == "<p>pt</p>"
    assert rendered[1:] == [("en", "en"), ("pt", "pt")]
    assert none.settled() == []


def test_an_unknown_language_gets_the_sites_own(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic, lang="xx'")
    live.publish_rendered(topic, "event", lambda locale: locale, n=1)
    assert tab.key("n")["html"] == "en"
