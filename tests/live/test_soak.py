"""Long holds: many tabs, and everything killed while a run streams."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake

import live
from tests.live.engines import ROOT, Site, Valkey, running, until
from tests.live.reader import Reader

pytestmark = pytest.mark.soak

SignIn = Callable[..., str]


@pytest.fixture(params=["daphne", "uvicorn"])
def fresh(request: pytest.FixtureRequest, mortal: Valkey) -> Iterator[Site]:
    with running(server := Site(request.param, mortal.url, {"tabs_per_user": 2000})):
        yield server


def test_a_thousand_tabs_hear_everything_once(fresh: Site, mortal: Valkey) -> None:
    mortal.client.set("site:session:s", "ada")
    mortal.client.sadd("site:topics:ada", "bench")
    command = [sys.executable, "bench/live_tabs.py", str(fresh.port), "1000", "s", "200"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as tabs:
        assert tabs.stdout is not None
        assert tabs.stdout.readline().startswith("ready")
        for number in range(200):
            live.publish("bench", "event", data={"at": 0.0, "i": number}, n=number + 1)
        result = json.loads(tabs.stdout.readline())
    assert (result["lost"], result["twice"]) == (0, 0)


def test_a_server_with_two_hundred_tabs_ends_when_asked(
    fresh: Site, sign_in: SignIn, topic: str
) -> None:
    session = sign_in("ada", topic)
    tabs = [Reader(fresh.port, session) for _ in range(200)]
    for tab in tabs:
        tab.join(topic)
    assert fresh.terminate() in (0, -15)
    assert all(tab.closed() in (1001, 1006, 1012) for tab in tabs)


class Follower(threading.Thread):
    """A tab that comes back whenever it is thrown out, as `live.js` does."""

    def __init__(self, port: int, session: str, topic: str, journal: list[int], last: int) -> None:
        super().__init__()
        self._port, self._session, self._topic = port, session, topic
        self._journal, self._last = journal, last
        self.shown: list[int] = []
        self.fetches = self.lives = 0

    def run(self) -> None:
        while not self._is_done():
            with suppress(OSError, ConnectionClosed, InvalidHandshake, TimeoutError):
                self._live()

    def _is_done(self) -> bool:
        return bool(self.shown) and self.shown[-1] >= self._last

    def _live(self) -> None:
        with Reader(self._port, self._session) as tab:
            self.lives += 1
            here = self.shown[-1] if self.shown else 0
            tab.say({"join": self._topic, "after": ["seq", here]})
            while not self._is_done():
                message = tab.next()
                if "resync" in message:
                    self._fetch()
                elif "n" in message and "kind" in message:
                    self._take(message["n"])

    def _take(self, n: int) -> None:
        here = self.shown[-1] if self.shown else 0
        if n == here + 1:
            self.shown.append(n)
        elif n > here:
            self._fetch()

    def _fetch(self) -> None:
        self.fetches += 1
        self.shown += self._journal[len(self.shown) :]


def test_everything_is_killed_in_turn_and_nothing_is_lost_or_doubled(
    fresh: Site, mortal: Valkey, sign_in: SignIn, topic: str
) -> None:
    journal: list[int] = []
    sessions = [sign_in(person, topic) for person in ("ada", "ben", "vera")]
    followers = [Follower(fresh.port, session, topic, journal, 1500) for session in sessions]
    for follower in followers:
        follower.start()

    def stream(upto: int) -> None:
        for n in range(len(journal) + 1, upto + 1):
            journal.append(n)
            live.publish(topic, "event", html="x" * 200, n=n)

    def all_are_back() -> None:
        """Each follower has seen what there is: it is connected, so the next kill hits it."""
        here = len(journal)
        until(lambda: all(follower.shown[-1:] >= [here] for follower in followers), 60)

    stream(100)
    all_are_back()
    stream(300)
    fresh.kill()
    stream(500)
    fresh.start()
    all_are_back()
    stream(800)
    mortal.kill()
    stream(900)
    mortal.start()
    all_are_back()
    stream(1200)
    fresh.kill()
    mortal.kill()
    stream(1300)
    mortal.start()
    fresh.start()
    stream(1500)
    for follower in followers:
        follower.join(60)
        assert follower.shown == list(range(1, 1501))
        assert follower.lives >= 3
