from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from live import missed
from live import valkey as way
from tests.live.engines import Site, Valkey, running, until
from tests.live.reader import Reader

# Short enough that a story need not wait for what takes seconds in life.
QUICK = {
    "session_seconds": 0.2,
    "recheck_seconds": 0.4,
    "heartbeat_seconds": 0.3,
    "expiry_seconds": 1,
    "linger_seconds": 0.2,
    "sweep_seconds": 0.1,
    "window_messages": 64,
    "queue_messages": 64,
    # A machine that is busy with something else is no Valkey that is away.
    "patience_seconds": 10,
    "join_seconds": 10,
}


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with running(engine := Valkey(_short(tmp_path_factory))):
        yield engine


@pytest.fixture(scope="module")
def _mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with running(engine := Valkey(_short(tmp_path_factory))):
        yield engine


@pytest.fixture
def mortal(_mortal: Valkey, settings: Any) -> Iterator[Valkey]:
    """A Valkey that the story may kill."""
    settings.REDIS_URL = _mortal.url
    yield _mortal
    # What this process could not say to it is nobody else's news.
    missed._missed.cache_clear()
    _mortal.revive()


@pytest.fixture(scope="module")
def shaky(_mortal: Valkey) -> Iterator[Site]:
    """A site on that Valkey, which notices soon that it hangs."""
    with running(server := Site("daphne", _mortal.url, QUICK | {"ping_seconds": 1})):
        yield server


@pytest.fixture(autouse=True)
def _own_valkey(valkey: Valkey, settings: Any) -> None:
    settings.REDIS_URL = valkey.url
    settings.LANGUAGES = [("en", "English"), ("pt", "Portuguese")]
    settings.CC_LIVE = {"patience_seconds": QUICK["patience_seconds"]}
    until(lambda: not missed.missed().is_open)


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest, valkey: Valkey) -> Iterator[Site]:
    """Daphne, but where a story asks for another by `parametrize(…, indirect=True)`."""
    server = getattr(request, "param", "daphne")
    with running(site := Site(server, valkey.url, QUICK)):
        yield site


@pytest.fixture
def scope() -> str:
    """A workspace of this story's own; also what makes its topics its own."""
    return uuid4().hex


@pytest.fixture
def topic(scope: str) -> str:
    return f"w/{scope}/run/1"


@pytest.fixture
def sign_in(scope: str) -> Callable[..., str]:
    """Signs somebody in who may read these topics; gives the session."""

    def sign_in(person: str, *topics: str) -> str:
        session = f"{scope}-{person}-{uuid4().hex}"
        way.client().set(f"site:session:{session}", f"{scope}-{person}")
        if topics:
            way.client().sadd(f"site:topics:{scope}-{person}", *topics)
        return session

    return sign_in


@pytest.fixture
def open_tab(site: Site, sign_in: Callable[..., str]) -> Iterator[Callable[..., Reader]]:
    """A tab of somebody who may read these topics, and has joined them."""
    tabs: list[Reader] = []

    def open_tab(person: str, *topics: str, at: Site = site, **options: Any) -> Reader:
        tabs.append(tab := Reader(at.port, sign_in(person, *topics), **options))
        tab.key("live", True)
        for topic in topics:
            tab.join(topic)
        return tab

    yield open_tab
    for tab in tabs:
        tab.close()


def _short(factory: pytest.TempPathFactory) -> Path:
    # A socket's path may have no more than 107 bytes.
    return factory.mktemp("v")
