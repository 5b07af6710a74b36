"""Who is here: the rule that makes one entry of many rows, and what readers see."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from live import presence
from live import valkey as way
from live.presence import Entry, Row, merge
from tests.live.conftest import QUICK
from tests.live.engines import Site, Valkey, running
from tests.live.reader import Message, Reader

Open = Callable[..., Reader]


def run(state: str, started: int = 1, source: str = "run-1", locus: str = "") -> Row:
    return Row("agent", "ceo", source, state, locus=locus, since=started)


def tab(state: str, used: int = 1, source: str = "tab-1", locus: str = "") -> Row:
    return Row("human", "ada", source, state, locus=locus, version=used)


@pytest.mark.req("CC-88")
@pytest.mark.parametrize(
    ("rows", "run_id", "state"),
    [
        ([run("thinking")], "run-1", "thinking"),
        # A live one before a finished one, however late that one began.
        ([run("running", 1), run("done", 9, "run-2")], "run-1", "running"),
        ([run("blocked", 1), run("done", 9, "run-2")], "run-1", "blocked"),
        # Then the latest start.
        ([run("running", 1), run("thinking", 2, "run-2")], "run-2", "thinking"),
        ([run("blocked", 2), run("running", 1, "run-2")], "run-1", "blocked"),
        ([run("done", 1), run("done", 2, "run-2")], "run-2", "done"),
        # Then the id.
        ([run("running", 1), run("blocked", 1, "run-2")], "run-2", "blocked"),
    ],
)
def test_an_agent_shows_one_representative_run(rows: list[Row], run_id: str, state: str) -> None:
    for order in (rows, rows[::-1]):
        assert merge(order) == [Entry("agent", "ceo", state, run=run_id)]


@pytest.mark.parametrize(
    ("rows", "state", "locus"),
    [
        ([tab("online", 1, locus="a")], "online", "a"),
        ([tab("online", 1, locus="a"), tab("online", 2, "tab-2", "b")], "online", "b"),
        ([tab("online", 1, locus="a"), tab("idle", 2, "tab-2", "b")], "online", "a"),
        ([tab("idle", 1, locus="a"), tab("idle", 2, "tab-2", "b")], "idle", "b"),
    ],
)
def test_a_person_is_where_the_tab_is_that_was_used_last(
    rows: list[Row], state: str, locus: str
) -> None:
    for order in (rows, rows[::-1]):
        assert merge(order) == [Entry("human", "ada", state, locus)]


@pytest.mark.req("CC-89")
def test_people_stand_beside_agents() -> None:
    assert [(e.kind, e.id) for e in merge([run("running"), tab("online")])] == [
        ("human", "ada"),
        ("agent", "ceo"),
    ]


def names(message: Message) -> dict[str, str]:
    """Who is seen, and how."""
    return {e["id"].rpartition("-")[2]: e["state"] for e in message["data"]["entries"]}


def assert_sees(reader: Reader, expected: dict[str, str]) -> Message:
    return reader.until(lambda m: m.get("kind") == "presence" and names(m) == expected)


@pytest.fixture
def circle(scope: str) -> str:
    return presence.topic(scope)


def test_who_comes_sees_who_is_there(open_tab: Open, scope: str, circle: str) -> None:
    open_tab("ada", circle)
    presence.set_agent(scope, "engineer", "thinking", run="1", started=1)
    assert_sees(open_tab("ben", circle), {"ada": "online", "ben": "online", "engineer": "thinking"})


def test_two_tabs_and_one_is_closed(open_tab: Open, circle: str) -> None:
    ben = open_tab("ben", circle)
    first, second = open_tab("ada", circle), open_tab("ada", circle)
    assert_sees(ben, {"ada": "online", "ben": "online"})
    first.close()
    presence_of_others(ben, {"ada": "online", "ben": "online"})
    second.close()
    assert_sees(ben, {"ben": "online"})


def presence_of_others(reader: Reader, expected: dict[str, str]) -> None:
    """A few sweeps later it is still like that."""
    for _ in range(4):
        reader.say({"presence": {"locus": "", "typing": False, "idle": True}})
        assert_sees(reader, {**expected, "ben": "idle"})
        reader.say({"presence": {"locus": "", "typing": False, "idle": False}})
        assert_sees(reader, expected)


def test_turning_a_page_is_no_coming_and_going(open_tab: Open, circle: str) -> None:
    ben, ada = open_tab("ben", circle), open_tab("ada", circle)
    assert_sees(ben, {"ada": "online", "ben": "online"})
    ada.close()
    open_tab("ada", circle)
    for message in ben.settled():
        assert names(message) == {"ada": "online", "ben": "online"}


def test_where_somebody_is_and_writes(open_tab: Open, scope: str, circle: str) -> None:
    place = f"w/{scope}/conversation/1"
    ben, ada = open_tab("ben", circle), open_tab("ada", circle, place)
    ada.say({"presence": {"locus": place, "typing": True, "idle": False}})
    seen = ben.until(lambda m: any(e["typing"] for e in m.get("data", {}).get("entries", [])))
    assert [(e["locus"], e["typing"]) for e in seen["data"]["entries"]] == [
        (place, True),
        ("", False),
    ]


@pytest.mark.parametrize("locus", ["w/{scope}/conversation/foreign", "w/other/run/1", "nonsense"])
def test_nobody_is_where_they_do_not_read(
    open_tab: Open, scope: str, circle: str, locus: str
) -> None:
    ada = open_tab("ada", circle)
    ada.say({"presence": {"locus": locus.format(scope=scope), "typing": True, "idle": False}})
    ada.settled()
    assert presence.snapshot(scope) == [Entry("human", f"{scope}-ada", "online")]


def test_a_private_place_is_told_only_there(open_tab: Open, scope: str, circle: str) -> None:
    place = f"w/{scope}/conversation/private"
    way.client().sadd("site:private", place)
    ada, ben = open_tab("ada", circle, place), open_tab("ben", circle)
    inside = open_tab("vera", place)
    ada.say({"presence": {"locus": place, "typing": True, "idle": False}})
    told = inside.until(lambda m: m.get("topic") == place and bool(m["data"]["entries"]))
    assert told["data"]["entries"] == [
        {
            "kind": "human",
            "id": f"{scope}-ada",
            "state": "online",
            "locus": place,
            "typing": True,
            "run": "",
        }
    ]
    assert "n" not in told
    ada.close()
    inside.until(lambda m: m.get("topic") == place and not m["data"]["entries"])
    ben.settled()
    outside = [e for m in ben.seen if m.get("kind") == "presence" for e in m["data"]["entries"]]
    assert {e["id"] for e in outside} >= {f"{scope}-ada", f"{scope}-ben"}
    assert {(e["locus"], e["typing"]) for e in outside} == {("", False)}


@pytest.mark.req("CC-88")
def test_an_agent_thinks_runs_waits_and_is_done(open_tab: Open, scope: str, circle: str) -> None:
    ben = open_tab("ben", circle)
    for state in ("thinking", "running", "blocked", "thinking", "done"):
        presence.set_agent(scope, "ceo", state, run="1", started=1)
        assert_sees(ben, {"ben": "online", "ceo": state})


def test_late_news_of_a_run_changes_nothing(scope: str) -> None:
    presence.set_agent(scope, "ceo", "done", run="1", started=1, seq=9)
    presence.set_agent(scope, "ceo", "running", run="1", started=1, seq=8)
    assert [e.state for e in presence.snapshot(scope)] == ["done"]


def test_the_end_of_an_older_run_does_not_hide_the_newer_one(scope: str) -> None:
    presence.set_agent(scope, "ceo", "running", run="1", started=1)
    presence.set_agent(scope, "ceo", "running", run="2", started=2)
    presence.set_agent(scope, "ceo", "done", run="1", started=1)
    assert [(e.state, e.run) for e in presence.snapshot(scope)] == [("running", "2")]


def test_done_goes_by_itself(open_tab: Open, scope: str, circle: str, settings: Any) -> None:
    settings.CC_LIVE["done_seconds"] = 0.3
    ben = open_tab("ben", circle)
    presence.set_agent(scope, "ceo", "done", run="1", started=1)
    assert_sees(ben, {"ben": "online", "ceo": "done"})
    assert_sees(ben, {"ben": "online"})


def test_an_agent_whose_worker_died_goes(
    open_tab: Open, scope: str, circle: str, settings: Any
) -> None:
    settings.CC_LIVE["expiry_seconds"] = 0.3
    ben = open_tab("ben", circle)
    presence.set_agent(scope, "ceo", "running", run="1", started=1)
    assert_sees(ben, {"ben": "online", "ceo": "running"})
    assert_sees(ben, {"ben": "online"})


def test_many_changes_are_few_messages_and_the_last_is_true(
    open_tab: Open, scope: str, circle: str
) -> None:
    ben = open_tab("ben", circle)
    ben.settled()
    for number in range(200):
        state: presence.AgentState = "running" if number % 2 else "thinking"
        presence.set_agent(scope, "ceo", state, run="1", started=1)
    presence.set_agent(scope, "ceo", "blocked", run="1", started=1)
    start = len(ben.seen)
    assert_sees(ben, {"ben": "online", "ceo": "blocked"})
    assert len(ben.seen) - start < 40


def test_a_crowd_comes_in_parts(open_tab: Open, scope: str, circle: str) -> None:
    rows = [Row("agent", f"agent-{number:04}", "1", "running") for number in range(450)]
    presence.put(scope, rows, 10)
    seen: list[Message] = []
    ben = open_tab("ben", circle)
    while sum(len(m["data"]["entries"]) for m in seen) < 451:
        seen.append(ben.key("kind", "presence"))
        if seen[-1]["data"]["part"] == 0:
            seen = seen[-1:]
    assert [m["data"]["part"] for m in seen] == [0, 1, 2, 3, 4]


def test_agents_alone_are_no_people(scope: str) -> None:
    presence.set_agent(scope, "ceo", "running", run="1", started=1)
    assert [e.kind for e in presence.snapshot(scope)] == ["agent"]


@pytest.fixture
def other_site(valkey: Valkey) -> Iterator[Site]:
    with running(server := Site("daphne", valkey.url, QUICK)):
        yield server


def test_people_of_a_killed_server_go(
    open_tab: Open, other_site: Site, scope: str, circle: str
) -> None:
    ben = open_tab("ben", circle)
    open_tab("ada", circle, at=other_site)
    assert_sees(ben, {"ada": "online", "ben": "online"})
    other_site.kill()
    assert_sees(ben, {"ben": "online"})
    assert way.client().hlen(f"live:presence:{scope}:rows") == 1


def test_an_emptied_valkey_knows_again_who_is_here(open_tab: Open, scope: str, circle: str) -> None:
    ben = open_tab("ben", circle)
    ben.settled()
    way.client().delete(*way.client().scan_iter(f"live:presence:{scope}:*"))
    assert_sees(ben, {"ben": "online"})
