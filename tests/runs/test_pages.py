"""Runs on pages: the five questions of each view, long journals by windows, a bounded number of
queries, and the same bytes for every open tab."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext

from harness.errors import Completed
from harness.events import Event, Kind, notice
from live import valkey
from runs import broadcast, dispatch, journal, moves, timeline, topics, window
from runs.models import Run
from runs.speaker import Speaker, Taken
from runs.transcript import Calls
from spaces import topics as space_topics
from tests.cast import Cast
from tests.runs.acting import Actor, Scene, block, tool_call, tool_result, usage
from tests.runs.journals import journal as drawn
from tests.runs.pages import Page, difference
from tests.runs.stage import Stage
from tests.scripted.script import Call, Step

ACTS = ["stop", "pause", "resume", "steer"]


@pytest.fixture
def run(cast: Cast) -> Run:
    """A queued run, in the test's own transaction."""
    with cast.bound():
        _message, [run] = dispatch.post(
            cast.conversation, author=cast.ada.principal, body="@engineer tidy up"
        )
        return run


def write(cast: Cast, run: Run, *new: Event) -> None:
    with cast.bound():
        journal.record(run, list(new))


# ---------------------------------------------------------------- the five questions


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["runs/", "runs/{}/", "runs/{}/transcript/"])
def test_a_page_is_there_for_who_may_read_it(cast: Cast, run: Run, page: str) -> None:
    path = cast.path(page.format(run.pk))
    assert cast.client(cast.vera).get(path).status_code == 200
    assert cast.client(cast.eve).get(path).status_code == 404
    assert cast.client(cast.vera).post(path).status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_a_member_s(cast: Cast, run: Run, act: str) -> None:
    path = cast.path(f"runs/{run.pk}/{act}/")
    assert cast.client(cast.vera).post(path).status_code == 403
    assert cast.client(cast.eve).post(path).status_code == 404
    assert cast.client(cast.ben).get(path).status_code == 405
    with cast.bound():
        assert Run.objects.get().state == "queued"


@pytest.mark.django_db
def test_a_run_is_stopped_once_and_the_second_click_says_so(cast: Cast, run: Run) -> None:
    ben, path = cast.client(cast.ben), cast.path(f"runs/{run.pk}/stop/")
    assert ben.post(path).status_code == 200
    again = ben.post(path)
    assert again.status_code == 409
    assert "already ended" in again.content.decode()
    with cast.bound():
        assert Run.objects.get().summary == "Stopped by @ben."


@pytest.mark.django_db
def test_words_for_the_agent_are_kept_and_empty_ones_refused(cast: Cast, run: Run) -> None:
    ben, path = cast.client(cast.ben), cast.path(f"runs/{run.pk}/steer/")
    assert ben.post(path, {"text": "and add a test"}).status_code == 200
    assert ben.post(path, {"text": "  "}).status_code == 422
    with cast.bound():
        [event] = journal.read(run.pk)
    assert (event.kind, event.data["author"]) == (Kind.STEER, "ben")


@pytest.mark.django_db
def test_what_cannot_be_done_says_why_and_changes_nothing(cast: Cast, run: Run) -> None:
    ben = cast.client(cast.ben)
    for act, words in [("pause", "Only a run that is working"), ("resume", "not paused")]:
        answer = ben.post(cast.path(f"runs/{run.pk}/{act}/"))
        assert answer.status_code == 409
        assert words in answer.content.decode()


@pytest.mark.django_db
def test_a_run_of_a_private_space_is_not_there_for_others(cast: Cast, run: Run) -> None:
    with cast.bound():
        cast.space.visibility = "private"
        cast.space.save(update_fields=["visibility"])
        cast.space.participants.filter(principal=cast.ben.principal).delete()
    for path in [f"runs/{run.pk}/", f"runs/{run.pk}/transcript/"]:
        assert cast.client(cast.ben).get(cast.path(path)).status_code == 404
        assert cast.client(cast.ada).get(cast.path(path)).status_code == 200
    assert cast.client(cast.ben).post(cast.path(f"runs/{run.pk}/stop/")).status_code == 404
    assert str(run.pk) not in cast.client(cast.ben).get(cast.path("runs/")).content.decode()


@pytest.mark.django_db
def test_what_works_now_stands_above_what_has_ended(cast: Cast, run: Run) -> None:
    with cast.bound():
        for number in range(3):
            _message, [later] = dispatch.post(
                cast.conversation, author=cast.ada.principal, body=f"@ceo part {number}"
            )
            held = Run.objects.get(pk=later.pk)
            moves.end(held, state="succeeded", reason="completed", summary="Done.")
    text = cast.client(cast.vera).get(cast.path("runs/")).content.decode()
    assert text.index(str(run.pk)) < text.index(str(later.pk))
    only = cast.client(cast.vera).get(cast.path("runs/?state=succeeded")).content.decode()
    assert str(run.pk) not in only
    assert str(later.pk) in only


# ---------------------------------------------------------------- long journals


def turns(count: int) -> list[Event]:
    """Each turn says its number and makes a call that has its result: four events."""
    made: list[Event] = []
    for turn in range(1, count + 1):
        made += [
            block(Kind.TEXT, turn, {"type": "text", "text": f"This is turn {turn}."}),
            tool_call(turn, 1, f"c{turn}", "bash", {"command": "ls"}),
            usage(turn),
            tool_result(f"c{turn}", f"result {turn}"),
        ]
    return made


@pytest.mark.django_db
def test_of_a_long_run_the_newest_is_shown_and_the_rest_can_be_reached(
    cast: Cast, run: Run
) -> None:
    write(cast, run, *turns(625))
    client, path = cast.client(cast.vera), cast.path(f"runs/{run.pk}/transcript/")
    page = client.get(path).content.decode()
    assert "This is turn 625." in page
    assert "This is turn 500." not in page
    assert "earlier events" in page
    seen, windows = page, 1
    with cast.bound():
        earlier = window.read(run.pk).earlier
    while earlier:
        with cast.bound():
            found = window.read(run.pk, before=earlier)
        seen += client.get(path, {"before": earlier}).content.decode()
        assert found.events[0].kind in {Kind.TEXT}
        earlier, windows = found.earlier, windows + 1
    assert windows < 9
    for turn in range(1, 626):
        assert seen.count(f"This is turn {turn}.") == 1
        assert seen.count(f"result {turn}<") == 1


@pytest.mark.django_db
def test_a_short_run_is_shown_whole(cast: Cast, run: Run) -> None:
    write(cast, run, *turns(20))
    with cast.bound():
        found = window.read(run.pk)
    assert (len(found.events), found.earlier, found.last_seq) == (80, 0, 80)


@pytest.mark.django_db
@pytest.mark.parametrize("before", ["0", "-1", "x", "9" * 40, "1"])
def test_nonsense_in_the_address_is_harmless(cast: Cast, run: Run, before: str) -> None:
    write(cast, run, *turns(2))
    path = cast.path(f"runs/{run.pk}/transcript/")
    assert cast.client(cast.vera).get(path, {"before": before}).status_code == 200


@pytest.mark.django_db
def test_a_conversation_takes_the_same_queries_for_one_run_and_for_many(cast: Cast) -> None:
    def queries() -> int:
        with cast.bound(), CaptureQueriesContext(connection) as found:
            timeline.read(cast.conversation)
        return len(found)

    def ask(number: int) -> None:
        with cast.bound():
            _message, [run] = dispatch.post(
                cast.conversation, author=cast.ada.principal, body=f"@engineer part {number}"
            )
            journal.record(run, turns(5))
            held = Run.objects.get(pk=run.pk)
            moves.end(held, state="succeeded", reason="completed", summary="Done.")

    ask(1)
    with_one = queries()
    for number in range(2, 25):
        ask(number)
    assert queries() == with_one == 5


@pytest.mark.django_db
def test_a_page_with_many_long_runs_shows_less_of_each(cast: Cast) -> None:
    for number in range(8):
        with cast.bound():
            _message, [run] = dispatch.post(
                cast.conversation, author=cast.ada.principal, body=f"@engineer part {number}"
            )
            journal.record(run, turns(150))
            moves.end(
                Run.objects.get(pk=run.pk), state="succeeded", reason="completed", summary="Done."
            )
    with cast.bound():
        items = [item.run for item in timeline.read(cast.conversation).items if item.run]
    shown = [len(item["entries"]) for item in items]
    assert all(count >= 10 for count in shown)
    assert shown[0] < shown[-1]
    assert sum(shown) < window.SHOWN_TOGETHER + 8 * window.SHOWN_AT_LEAST


# ---------------------------------------------------------------- the same bytes for every tab


@contextmanager
def listening(*names: str) -> Iterator[list[dict[str, Any]]]:
    """What is sent on the topics meanwhile, as a tab that reads English gets it."""
    heard: list[dict[str, Any]] = []
    client: Any = valkey.client()
    with client.pubsub(ignore_subscribe_messages=True) as subscription:
        subscription.subscribe(*[valkey.channel(name, "en") for name in names])
        for _ in names:  # each is confirmed
            subscription.get_message(timeout=30)
        yield heard
        while message := subscription.get_message(timeout=0.2):
            heard.append(json.loads(message["data"]))


@pytest.mark.django_db(transaction=True)
def test_a_tab_that_watched_shows_what_a_new_tab_shows(plain: Stage) -> None:
    """Message to end: page at the start + what the socket brought = page at the end."""
    steps = [
        Step(thinking="Hm.", text="I look.", calls=[Call("todo", {"todos": []})]),
        Step(text="I ask.", calls=[Call("ask_user", {"question": "Which <b>one</b>?"})]),
        Step(text="Done <script>alert(1)</script>."),
    ]
    [run] = plain.say("@engineer tidy up")
    names = [
        topics.run(run.workspace_id, run.pk),
        space_topics.conversation(run.workspace_id, run.conversation_id),
    ]
    page = Page(rendered(plain, run))
    with plain.model(*steps), listening(*names) as heard:
        plain.execute(run)
        plain.say("@engineer the first one")
        plain.execute(run)
    assert plain.fresh(run).state == "succeeded"
    events = [message for message in heard if message.get("epoch") == "seq"]
    assert [m["n"] for m in events if "n" in m] == list(range(1, len(plain.kinds(run)) + 1))
    for message in heard:
        if is_of_the_run(message):
            page.take(message["html"])
    assert not difference(page.canonical, Page(rendered(plain, run)).canonical)


@pytest.mark.django_db(transaction=True)
def test_each_event_of_any_journal_reaches_the_tabs_as_its_page_shows_it(
    plain: Stage, actor: Actor
) -> None:
    journals = [drawn(seed) for seed in range(3)]

    def decide(scene: Scene, event: Event) -> None:
        """Somebody else's words, in another transaction; who decides has seen the question."""
        broadcast.speaker().flush()
        with plain.cast.bound():
            journal.record(Run.objects.get(pk=scene.spec.run_id), [event])
        scene.ports.sink.arrived()

    def writes(scene: Scene) -> None:
        for event in journals.pop():
            if event.data.get("phase") == "decided":
                decide(scene, event)
            elif event.kind is not Kind.DONE:
                scene.ports.sink.record(event)
        raise Completed("All of it.", seen=2**31)

    for number in range(3):
        actor.plays(writes)
        [run] = plain.say(f"@engineer tidy up {number}")
        page = Page(rendered(plain, run))
        conversation = space_topics.conversation(run.workspace_id, run.conversation_id)
        with listening(topics.run(run.workspace_id, run.pk), conversation) as heard:
            plain.execute(run)
        for message in heard:
            if is_of_the_run(message):
                page.take(message["html"])
        assert not difference(page.canonical, Page(rendered(plain, run)).canonical)


def is_of_the_run(message: dict[str, Any]) -> bool:
    """Its events and its head; not what members say beside it."""
    is_event = "/run/" in message["topic"]
    return bool(message.get("html")) and (is_event or message["kind"] == "run_state")


def rendered(plain: Stage, run: Run) -> str:
    with plain.cast.bound():
        row = window.shown_runs().get(pk=run.pk)
        return render_to_string("runs/_run.html", window.context(row, window.read(row.pk)))


@pytest.mark.django_db(transaction=True)
def test_a_call_that_is_over_in_a_moment_is_shown_once_and_counted_whole(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    earlier, call = (tool_call(1, n, f"c{n}", "read", {"path": "a"}) for n in range(2))
    of_a_call = [
        [Event(Kind.TOOL_START, {"call_id": call_id}), tool_result(call_id, "all of it")]
        for call_id in ("c0", "c1")
    ]
    new, old = [call, *of_a_call[1]], of_a_call[0]
    with listening(topics.run(run.workspace_id, run.pk)) as heard:
        broadcast.events(run, [e.at(n) for n, e in enumerate(new, 2)], calls=Calls())
        broadcast.events(run, [e.at(n) for n, e in enumerate(old, 5)], calls=Calls([earlier]))
        broadcast.speaker().flush()
    assert [message["n"] for message in heard] == [2, 3, 4, 5, 6]
    shown = {message["n"]: message["html"] for message in heard if message.get("html")}
    assert sorted(shown) == [2, 6]
    assert all("all of it" in html for html in shown.values())


def test_what_is_said_of_a_run_in_a_moment_is_said_together_and_a_bad_event_ends_nothing() -> None:
    told: list[tuple[object, list[object]]] = []
    begins, may_go_on = threading.Event(), threading.Event()

    def tell(run: Run, taken: list[Taken]) -> None:
        begins.set()
        may_go_on.wait(30)
        told.append((run.pk, [event.seq for event, _entry in taken]))
        if len(told) == 1:
            raise RuntimeError("a fragment that cannot be rendered")

    one, other = Run(pk=UUID(int=1)), Run(pk=UUID(int=2))
    speaker = Speaker(tell)
    speaker.say(one, [(notice("0").at(1), None)])
    assert begins.wait(30)
    for run, seq in [(one, 2), (one, 3), (other, 1), (one, 4)]:
        speaker.say(run, [(notice("again").at(seq), None)])
    may_go_on.set()
    speaker.flush()
    assert told == [(one.pk, [1]), (one.pk, [2, 3]), (other.pk, [1]), (one.pk, [4])]
