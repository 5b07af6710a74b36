"""Where a page stands in its topic, and what it is told when it comes (back)."""

from collections.abc import Callable
from typing import Any

import pytest

import live
from live import valkey as way
from tests.live.reader import Reader

Open = Callable[..., Reader]


def after(cursor: str) -> tuple[str, int]:
    epoch, _, n = cursor.partition(":")
    return epoch, int(n)


def test_a_page_that_is_current_is_not_told_to_fetch(open_tab: Open, scope: str) -> None:
    inbox = f"w/{scope}/inbox"
    live.publish(inbox, "event")
    page = live.cursor(inbox)
    tab = open_tab("ada", inbox)
    tab.settled()
    epoch, n = after(page)
    joined = {"joined": inbox, "epoch": epoch, "n": n, "blocks": []}
    assert tab.join(inbox, (epoch, n)) == joined
    assert tab.settled() == []


def test_a_page_of_a_quiet_topic_is_current(open_tab: Open, scope: str) -> None:
    inbox = f"w/{scope}/inbox"
    page = live.cursor(inbox)
    tab = open_tab("ada", inbox)
    tab.settled()
    tab.join(inbox, after(page))
    assert tab.settled() == []
    live.publish(inbox, "event")
    message = tab.key("n")
    assert (message["epoch"], message["n"]) == (after(page)[0], 1)


@pytest.mark.parametrize("stale", [None, ("seq", 3), ("other", 5), ("seq", 6)])
def test_a_page_that_is_older_or_unknown_is_told_to_fetch(
    open_tab: Open, topic: str, stale: tuple[str, int] | None
) -> None:
    tab = open_tab("ada", topic)
    for n in range(1, 6):
        live.publish(topic, "event", n=n)
    tab.key("n", 5)
    tab.settled()
    tab.join(topic, stale)
    assert tab.settled() == [{"resync": topic}]


def test_a_run_brings_its_own_numbers(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    live.publish(topic, "event", n=41)
    assert tab.key("n")["n"] == 41
    assert tab.join(topic, after(live.sequence(41)))["n"] == 41
    assert tab.settled() == []


def test_a_late_number_does_not_set_the_topic_back(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    live.publish(topic, "event", n=8)
    live.publish(topic, "event", n=7)
    tab.key("n", 7)
    assert tab.join(topic, ("seq", 8))["n"] == 8


def test_the_number_is_taken_before_the_fragment_is_rendered(open_tab: Open, topic: str) -> None:
    tab, late = open_tab("ada", topic), open_tab("ben", topic)
    late.settled()

    def render(locale: str) -> str:
        # Somebody joins while we render, with a page from before the event.
        late.join(topic, ("seq", 0))
        return locale

    live.publish_rendered(topic, "event", render, n=1)
    assert {"resync": topic} in [*late.seen, *late.settled()]
    tab.key("n", 1)


def test_a_fragment_that_cannot_be_rendered_is_fetched(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    tab.settled()

    def render(locale: str) -> str:
        raise ZeroDivisionError

    live.publish_rendered(topic, "event", render, n=1)
    assert tab.key("resync") == {"resync": topic}


def test_a_topic_can_be_fetched_again_by_all(open_tab: Open, topic: str) -> None:
    tabs = [open_tab("ada", topic), open_tab("eve", topic, lang="pt")]
    for tab in tabs:
        tab.settled()
    live.resync(topic)
    for tab in tabs:
        assert tab.key("resync") == {"resync": topic}


def test_an_emptied_valkey_begins_a_new_epoch(scope: str) -> None:
    inbox = f"w/{scope}/inbox"
    before = after(live.cursor(inbox))
    way.client().delete(way.counter(inbox))
    live.publish(inbox, "event")
    assert after(live.cursor(inbox))[0] != before[0]


def test_text_on_its_way_is_there_for_who_joins_later(open_tab: Open, topic: str) -> None:
    early = open_tab("ada", topic)
    with live.TextStream(topic, "block-1") as stream:
        stream.write("Olá 👋")
        text = early.key("kind", "delta")["data"]
        assert text == {"block": "block-1", "at": 0, "text": "Olá 👋"}
        late = open_tab("ben", topic)
        assert late.key("kind", "delta")["data"] == text
        stream.write(" again")
        bytes_so_far = len("Olá 👋".encode())
        data = {"block": "block-1", "at": bytes_so_far, "text": " again"}
        assert early.key("kind", "delta")["data"] == late.key("kind", "delta")["data"] == data
    assert early.key("kind", "delta")["data"] == {"block": "block-1", "end": True}
    after_all = open_tab("vera", topic)
    assert [m for m in after_all.settled() if "kind" in m] == []


def test_a_long_text_is_there_for_who_joins_later(open_tab: Open, topic: str) -> None:
    long = "é\x01👋" * 30_000
    with live.TextStream(topic, "block-1") as stream:
        stream.write(long)
        late = open_tab("ben", topic)
        text = b""
        while len(text) < len(long.encode()):
            data = late.key("kind", "delta")["data"]
            assert data["at"] == len(text)
            text += data["text"].encode()
        assert text.decode() == long


def test_text_written_at_once_comes_in_pieces(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    with live.TextStream(topic, "block-1") as stream:
        stream.write("x" * 100_000)
        got = 0
        while got < 100_000:
            data = tab.key("kind", "delta")["data"]
            assert data["at"] == got
            got += len(data["text"])


def test_two_texts_may_be_written_at_once(open_tab: Open, topic: str) -> None:
    with live.TextStream(topic, "thinking") as first, live.TextStream(topic, "text") as second:
        first.write("Hm.")
        second.write("Well")
        late = open_tab("ben", topic)
        assert [m for m in late.seen if "joined" in m] == [
            {"joined": topic, "blocks": ["thinking", "text"]}
        ]
        texts = [late.key("kind", "delta")["data"]["text"] for _ in range(2)]
        assert texts == ["Hm.", "Well"]


def test_text_in_many_pieces_is_sent_in_few(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    with live.TextStream(topic, "block-1") as stream:
        for number in range(500):
            stream.write(f"{number} ")
        text, messages = "", 0
        while not text.endswith("499 "):
            data = tab.key("kind", "delta")["data"]
            assert data["at"] == len(text.encode())
            text, messages = text + data["text"], messages + 1
    assert text == "".join(f"{number} " for number in range(500))
    assert messages < 100


def test_text_survives_an_emptied_valkey(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    with live.TextStream(topic, "block-1") as stream:
        stream.write("one ")
        tab.key("kind", "delta")
        way.client().delete(way.open_blocks(topic), way.text(topic, "block-1"))
        stream.write("two")
        data = tab.key("kind", "delta")["data"]
        assert data == {"block": "block-1", "at": 0, "text": "one two"}


def test_text_that_no_browser_could_read_does_not_stop_the_stream(
    open_tab: Open, topic: str
) -> None:
    tab = open_tab("ada", topic)
    with live.TextStream(topic, "block-1") as stream:
        stream.write("\ud800\x00 end")
        assert tab.key("kind", "delta")["data"]["text"] == "?\x00 end"


def test_a_burst_of_notices_is_two_and_the_last_shows_the_end(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    state = {"count": 0}

    def render(locale: str) -> str:
        return str(state["count"])

    for _ in range(50):
        state["count"] += 1
        live.publish_soon(topic, "badge", render)
    first = tab.key("kind", "badge")["html"]
    last = tab.key("kind", "badge")["html"] if first != "50" else first
    assert (first, last) == ("1", "50")
    assert tab.settled() == []


def test_notices_of_different_keys_do_not_swallow_each_other(open_tab: Open, topic: str) -> None:
    tab = open_tab("ada", topic)
    for key in ("ada", "ben", "ada"):
        live.publish_soon(topic, "row", lambda locale, key=key: key, key=key)  # type: ignore[misc]
    heard = [tab.key("kind", "row")["html"] for _ in range(3)]
    assert sorted(heard) == ["ada", "ada", "ben"]


def test_publishing_needs_no_database(topic: str, django_db_blocker: Any) -> None:
    with django_db_blocker.block():
        live.publish(topic, "event", n=1)
    assert live.cursor(topic)
