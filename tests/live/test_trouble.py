"""Valkey killed and back, tabs that do not read, servers that end."""

from collections.abc import Callable
from typing import Any

import live
from live import presence
from live import valkey as way
from live.missed import missed
from tests.live.engines import Site, Valkey, until
from tests.live.reader import Reader

Open = Callable[..., Reader]


def test_valkey_killed_and_back(open_tab: Open, shaky: Site, mortal: Valkey, topic: str) -> None:
    tab = open_tab("ada", topic, at=shaky)
    live.publish(topic, "event", n=1)
    tab.key("n", 1)
    mortal.kill()
    assert tab.key("live") == {"live": False}
    live.publish(topic, "event", n=2)
    mortal.start()
    assert tab.key("live") == {"live": True}
    assert tab.key("resync") == {"resync": topic}
    until(lambda: not missed().is_open)
    live.publish(topic, "event", n=3)
    tab.key("n", 3)


def test_text_that_was_written_while_valkey_was_away_is_told_when_it_is_back(
    open_tab: Open, shaky: Site, mortal: Valkey, topic: str
) -> None:
    tab = open_tab("ada", topic, at=shaky)
    with live.TextStream(topic, "block") as stream:
        stream.write("before ")
        tab.key("kind", "delta")
        mortal.kill()
        tab.key("live", False)
        mortal.start()
        stream.write("after")
        text = ""
        while len(text) < len("before after"):
            data = tab.key("kind", "delta")["data"]
            text = text[: data["at"]] + data["text"]
        assert text == "before after"


def test_a_topic_that_is_joined_while_valkey_is_away_is_fetched_when_it_is_back(
    open_tab: Open, shaky: Site, mortal: Valkey, topic: str
) -> None:
    tab = open_tab("ada", topic, at=shaky)
    tab.settled()
    mortal.kill()
    tab.key("live", False)
    tab.say({"join": topic})
    # Who may join stands in the test site's Valkey, so the answer is that nobody knows now.
    assert tab.key("error") == {"error": "unavailable", "topic": topic}
    mortal.start()
    tab.key("live", True)
    assert tab.key("resync") == {"resync": topic}


def test_nothing_that_publishes_fails_or_waits_while_valkey_is_away(
    mortal: Valkey, topic: str, scope: str
) -> None:
    mortal.kill()
    stream = live.TextStream(topic, "block")
    for n in range(500):
        live.publish(topic, "event", n=n)
        live.publish_rendered(topic, "event", lambda locale: "never", n=n)
        live.publish_soon(topic, "event", lambda locale: "never")
        presence.set_agent(scope, "ceo", "running", run="1", started=1)
        stream.write("text")
        live.recheck("ada")
    stream.close()
    assert live.cursor(topic) == ""
    assert presence.snapshot(scope) == []
    assert missed().is_open


def test_what_could_not_be_said_is_said_later(
    open_tab: Open, shaky: Site, mortal: Valkey, topic: str, scope: str
) -> None:
    tab = open_tab("ada", topic, at=shaky)
    tab.settled()
    # Only this process loses Valkey: the tab's own server hears nothing of it.
    missed().note(("resync", topic))
    assert tab.key("resync") == {"resync": topic}
    assert tab.settled() == []
    way.client().srem(f"site:topics:{scope}-ada", topic)
    missed().note(("recheck", f"{scope}-ada"))
    assert tab.closed() == 4003


def test_a_crash_of_valkey_begins_a_new_epoch(mortal: Valkey, scope: str) -> None:
    inbox = f"w/{scope}/inbox"
    live.publish(inbox, "event")
    before = live.cursor(inbox)
    mortal.kill()
    mortal.start()
    after = live.cursor(inbox)
    assert after.partition(":")[0] != before.partition(":")[0]
    assert after.endswith(":0")


def test_a_slow_tab_is_dropped_to_a_fetch_and_holds_up_nobody(open_tab: Open, topic: str) -> None:
    slow, reader = open_tab("ben", topic, acks=False), open_tab("ada", topic)
    for n in range(1, 1001):
        live.publish(topic, "event", html="x" * 2000, n=n)
        if n % 25 == 0:
            assert reader.key("n", n)
    heard = [message["n"] for message in drain(slow) if "n" in message]
    assert heard == list(range(1, len(heard) + 1))
    assert len(heard) < 1000
    assert slow.seen[-1] == {"resync": topic}
    live.publish(topic, "event", n=1001)
    assert slow.key("n")["n"] == 1001


def drain(tab: Reader) -> list[dict[str, Any]]:
    """The tab reads at last, and says so, until it is told to fetch."""
    start = len(tab.seen)
    tab.reads_at_last()
    tab.key("resync")
    return tab.seen[start:]


def test_a_hub_whose_valkey_hangs_says_so(
    open_tab: Open, shaky: Site, mortal: Valkey, topic: str
) -> None:
    tab = open_tab("ada", topic, at=shaky)
    mortal.freeze()
    assert tab.key("live") == {"live": False}
    mortal.thaw()
    assert tab.key("live") == {"live": True}
