"""What is on its way to one tab, without a socket: a sender that the story blocks and frees."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from live.access import JoinGrant
from live.tab import Tab
from tests import loops


class Line:
    """A sender that takes everything at once while it is open, and nothing while it is not."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.is_cut = False
        self.refuses = ""

    async def send(self, message: dict[str, Any]) -> None:
        await self.is_open.wait()
        if self.is_cut:
            raise OSError
        if self.refuses and message.get("text") == self.refuses:
            raise ValueError
        self.sent.append(message)

    def texts(self) -> list[Any]:
        return [json.loads(message["text"]) for message in self.sent if "text" in message]


Story = Callable[[Line, Tab], Coroutine[Any, Any, None]]


def live(story: Story) -> None:
    async def run() -> None:
        line = Line()
        tab = Tab(line.send, user_id="ada", session_key="s", locale="en")
        writer = asyncio.create_task(tab.write())
        await rest()
        await story(line, tab)
        writer.cancel()

    loops.run(run())


async def rest() -> None:
    """Everybody else has had a turn."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _small(settings: Any) -> None:
    settings.CC_LIVE |= {
        "queue_messages": 4,
        "queue_bytes": 1000,
        "window_messages": 3,
        "window_bytes": 1000,
    }


def test_what_is_offered_is_sent_in_order() -> None:
    async def story(line: Line, tab: Tab) -> None:
        tab.offer("1")
        tab.offer("2")
        await rest()
        assert line.texts() == [1, 2]

    live(story)


def test_a_tab_that_does_not_say_what_it_got_is_sent_no_more_than_a_window() -> None:
    async def story(line: Line, tab: Tab) -> None:
        for number in "12345":
            tab.offer(number)
            await rest()
        assert line.texts() == [1, 2, 3]
        assert tab.got(2)
        await rest()
        assert line.texts() == [1, 2, 3, 4, 5]

    live(story)


def test_a_tab_that_falls_behind_is_told_to_fetch_its_topics_again() -> None:
    async def story(line: Line, tab: Tab) -> None:
        tab.grants = {"w/1/inbox": JoinGrant(), "w/1/run/2": JoinGrant()}
        for number in "123456789":
            tab.offer(number)
            await rest()
        assert tab.behind_since is not None
        assert tab.got(3)
        await rest()
        assert line.texts() == [1, 2, 3, {"resync": "w/1/inbox"}, {"resync": "w/1/run/2"}]
        tab.offer("10")
        await rest()
        assert line.texts()[-1] == 10
        assert tab.behind_since is None

    live(story)


def test_a_tab_that_was_behind_hears_the_last_state_first() -> None:
    async def story(line: Line, tab: Tab) -> None:
        for number in "12345678":
            tab.offer(number)
            await rest()
        tab.tell('{"live": false}')
        tab.tell('{"live": true}')
        tab.got(3)
        await rest()
        assert line.texts() == [1, 2, 3, {"live": True}]

    live(story)


def test_a_server_that_pushes_back_counts_as_slow_too() -> None:
    async def story(line: Line, tab: Tab) -> None:
        line.is_open.clear()
        for number in "123456":
            tab.offer(number)
            await rest()
        assert tab.behind_since is not None

    live(story)


def test_many_bytes_count_as_many_messages_do() -> None:
    async def story(line: Line, tab: Tab) -> None:
        line.is_open.clear()
        tab.offer("1")
        tab.offer('"' + "x" * 600 + '"')
        await rest()
        assert tab.behind_since is None
        tab.offer('"' + "x" * 600 + '"')
        assert tab.behind_since is not None

    live(story)


def test_one_message_larger_than_every_bound_still_arrives() -> None:
    async def story(line: Line, tab: Tab) -> None:
        tab.offer('"' + "x" * 5000 + '"')
        await rest()
        assert line.texts() == ["x" * 5000]

    live(story)


@pytest.mark.parametrize("count", [0, 3, 2**40])
def test_a_tab_cannot_have_got_what_it_was_not_sent(count: int) -> None:
    async def story(line: Line, tab: Tab) -> None:
        tab.offer("1")
        tab.offer("2")
        await rest()
        assert not tab.got(count)
        assert tab.got(2)
        assert not tab.got(2)

    live(story)


def test_a_closed_tab_hears_why_and_nothing_else() -> None:
    async def story(line: Line, tab: Tab) -> None:
        line.is_open.clear()
        tab.offer("1")
        await rest()
        tab.offer("2")
        tab.close("signed_out", 4001)
        tab.offer("3")
        line.is_open.set()
        await rest()
        assert line.texts() == [1, {"bye": "signed_out"}]
        assert line.sent[-1] == {"type": "websocket.close", "code": 4001, "reason": "signed_out"}

    live(story)


def test_a_message_that_cannot_be_sent_closes_the_tab(caplog: pytest.LogCaptureFixture) -> None:
    async def story(line: Line, tab: Tab) -> None:
        line.refuses = "1"
        tab.offer("1")
        await rest()
        assert line.sent[-1] == {"type": "websocket.close", "code": 4011, "reason": "broken"}
        assert tab.is_closed

    live(story)
    assert "could not be written" in caplog.text


def test_a_line_that_is_cut_ends_the_tab_quietly() -> None:
    async def story(line: Line, tab: Tab) -> None:
        line.is_cut = True
        tab.offer("1")
        await rest()
        assert tab.is_closing

    live(story)
