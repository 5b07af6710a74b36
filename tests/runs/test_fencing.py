"""Who lost a run writes nothing more; who has it writes each event once."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import timezone

from harness import events
from harness.errors import Parked, Released
from harness.events import Kind
from runs import journal, moves, recovery, runner
from runs.journal import FenceLost
from runs.keeper import Held
from runs.models import Run, RunCursor, RunEvent
from runs.sink import JournalSink
from tests.runs.acting import Actor, Scene
from tests.runs.stage import Stage, elsewhere, together

pytestmark = pytest.mark.django_db(transaction=True)


def lose_worker(plain: Stage, run: Run) -> None:
    """The lease runs out and the sweep finds it."""
    plain.change(run, lease_until=timezone.now())
    recovery.sweep()


def claimed(plain: Stage, run: Run) -> Run:
    found = runner.claim(run.workspace_id, run.pk)
    connection.close()
    assert found is not None
    return found


def sink_of(run: Run) -> JournalSink:
    return JournalSink(Held(run))


NOTE = events.notice("still here")


def test_of_many_workers_one_gets_the_run(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    found = together([lambda: runner.claim(run.workspace_id, run.pk)] * 6)
    assert sum(each is not None for each in found) == 1, found
    assert plain.fresh(run).attempt == 1


def test_a_second_delivery_finds_the_run_taken(plain: Stage, actor: Actor) -> None:
    actor.plays(lambda scene: elsewhere(lambda: plain.execute(run)))
    [run] = plain.say("@engineer tidy up")
    done = plain.execute(run)
    assert (done.state, done.attempt) == ("succeeded", 1)
    assert plain.execute(run).attempt == 1


def test_a_worker_that_was_lost_writes_nothing_more(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    old = claimed(plain, run)
    lose_worker(plain, run)
    with pytest.raises(Released):
        sink_of(old).record(NOTE)
    new = claimed(plain, run)
    sink_of(new).record(NOTE)
    with pytest.raises(Released):
        sink_of(old).record(NOTE)
    assert plain.kinds(run) == ["notice", "notice"]
    assert new.fence > old.fence
    plain.assert_whole(run)


@pytest.mark.parametrize("end", ["done", "parked", "released"])
def test_after_its_end_a_late_write_is_refused(plain: Stage, actor: Actor, end: str) -> None:
    sinks: list[Any] = []

    def plays(scene: Scene) -> None:
        sinks.append(scene.ports.sink)
        scene.write("Done.")
        if end == "parked":
            raise Parked("pause")
        if end == "released":
            raise Released("The worker stops.")

    actor.plays(plays)
    [run] = plain.say("@engineer tidy up")
    before = plain.execute(run)
    count = len(plain.kinds(run))
    with pytest.raises(Released):
        sinks[0].record(NOTE)
    assert len(plain.kinds(run)) == count
    assert plain.fresh(run).state == before.state
    plain.assert_whole(run)


def test_a_worker_that_was_lost_cannot_end_the_run(plain: Stage, actor: Actor) -> None:
    def is_lost(scene: Scene) -> None:
        scene.write("I thought I was done.")
        elsewhere(lambda: lose_worker(plain, run))

    actor.plays(is_lost)
    [run] = plain.say("@engineer tidy up")
    done = plain.execute(run)
    assert (done.state, done.attempt) == ("queued", 1)
    plain.assert_whole(run)


def test_many_writers_number_without_gaps(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    mine = claimed(plain, run)
    sink = sink_of(mine)

    def steer(name: str) -> None:
        with plain.cast.bound():
            journal.record(mine, [events.steer(name, author="ada"), NOTE])

    def work() -> None:
        for _ in range(10):
            sink.record(NOTE)

    together([work, *(partial(steer, name) for name in "abcde")])
    assert len(plain.kinds(run)) == 20
    plain.assert_whole(run)


def test_a_fence_that_is_not_ours_stores_nothing(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    with plain.cast.bound(), pytest.raises(FenceLost):
        journal.record(run, [NOTE], fence=run.fence + 7)
    assert plain.kinds(run) == []


# ---------------------------------------------------------------- a database that goes away


Send = Callable[[], Any]
Intercept = Callable[[str, Any, Send], Any]


@contextmanager
def wire(intercept: Intercept) -> Iterator[None]:
    """Between this thread and the database: sees each statement before it is sent."""
    me, send = threading.get_ident(), psycopg.Connection.execute

    def in_transaction(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        with connection.wrap_database_errors:
            return intercept(sql, params, lambda: execute(sql, params, many, context))

    def alone(self: Any, sql: Any, params: Any = None, **options: Any) -> Any:
        if threading.get_ident() != me:
            return send(self, sql, params, **options)
        return intercept(sql, params, lambda: send(self, sql, params, **options))

    connection.execute_wrappers.append(in_transaction)
    with mock.patch.object(psycopg.Connection, "execute", alone):
        yield
    connection.execute_wrappers.remove(in_transaction)


class Away:
    """The database is away for the first `times` statements that contain the words."""

    def __init__(self, words: str, times: int) -> None:
        self.words, self.times = words, times

    def __call__(self, sql: str, params: Any, send: Send) -> Any:
        if self.words in sql and self.times:
            self.times -= 1
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return send()


class AnswerLost:
    """The commit of the first transaction with these words arrives; its answer does not."""

    def __init__(self, words: str) -> None:
        self.words, self.is_due = words, True

    def __call__(self, sql: str, params: Any, send: Send) -> Any:
        answer = send()
        if self.words in sql and self.is_due:
            self.is_due = False
            if not connection.in_atomic_block:
                self.fail()
            transaction.on_commit(self.fail)
        return answer

    def fail(self) -> None:
        with connection.wrap_database_errors:
            raise psycopg.OperationalError("server closed the connection unexpectedly")


def test_an_event_is_stored_once_the_database_is_back(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    sink = sink_of(claimed(plain, run))
    with wire(Away("runs_append", 3)):
        assert sink.record(NOTE) == 1
    plain.assert_whole(run)


def test_an_event_whose_commit_nobody_heard_of_is_not_doubled(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    sink = sink_of(claimed(plain, run))
    with wire(AnswerLost("runs_append")):
        assert sink.record(NOTE, NOTE) == 2
    assert sink.record(NOTE) == 3
    assert plain.kinds(run) == ["notice"] * 3
    plain.assert_whole(run)


def test_a_commit_that_is_still_on_its_way_is_not_doubled(plain: Stage) -> None:
    """The first attempt arrives between our look and our second attempt."""
    [run] = plain.say("@engineer tidy up")
    sink = sink_of(claimed(plain, run))
    attempts: list[Any] = []

    def arrives_late(sql: str, params: Any, send: Send) -> Any:
        if "runs_append" not in sql:
            return send()
        attempts.append(params)
        if len(attempts) == 1:
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        if len(attempts) == 2:
            elsewhere(lambda: store(sql, attempts[0]))
        return send()

    def store(sql: str, params: Any) -> None:
        with plain.cast.bound(), connection.cursor() as cursor:
            cursor.execute(sql, params)

    with wire(arrives_late):
        assert sink.record(NOTE) == 1
    assert plain.kinds(run) == ["notice"]
    plain.assert_whole(run)


@pytest.mark.parametrize("trouble", [Away('UPDATE "runs_run"', 3), AnswerLost('UPDATE "runs_run"')])
def test_the_end_is_written_once_the_database_is_back(
    plain: Stage, actor: Actor, trouble: Intercept
) -> None:
    """Three failed attempts at the end, or one whose answer was lost: it succeeds exactly once."""

    troubled = wire(trouble)

    def ends_in_trouble(scene: Scene) -> None:
        scene.write("Done.")
        troubled.__enter__()

    actor.plays(ends_in_trouble)
    [run] = plain.say("@engineer tidy up")
    try:
        done = plain.execute(run)
    finally:
        troubled.__exit__(None, None, None)
    assert (done.state, done.attempt) == ("succeeded", 1)
    plain.assert_whole(run)


def test_a_run_goes_on_from_its_journal_when_the_database_was_away(
    plain: Stage, actor: Actor
) -> None:
    """A gate that cannot be asked says neither yes nor no; the call is put to it again."""

    def cannot_ask(scene: Scene) -> None:
        scene.call("c1")
        with wire(Away("runs_runcursor", 1)):
            scene.ask("c1")

    def asks_again(scene: Scene) -> None:
        assert scene.standing("c1").standing == "new"

    actor.plays(cannot_ask, asks_again)
    [run] = plain.say("@engineer tidy up")
    done = plain.execute(run)
    assert (done.state, done.attempt) == ("succeeded", 1)


def test_after_the_lease_a_worker_waits_no_longer_for_the_database(
    plain: Stage, settings: Any
) -> None:
    settings.LEASE_SECONDS = 0
    [run] = plain.say("@engineer tidy up")
    sink = sink_of(claimed(plain, run))
    with wire(Away("runs_append", 1)), pytest.raises(Released):
        sink.record(NOTE)
    assert plain.kinds(run) == []


# ---------------------------------------------------------------- what cannot be stored


def test_nul_and_half_characters_become_visible_and_source_code_stays(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    sink = sink_of(claimed(plain, run))
    source = r'text.replace("\u0000", "") and "\\u0000"'
    sink.record(events.notice(f"a\0b \ud800 {source}"), events.notice(source))
    first, second = (event.data["text"] for event in plain.events(run))
    assert first == f"a\u2400b ? {source}"
    assert second == source


def test_a_run_that_is_deleted_in_the_middle_ends_quietly(plain: Stage, actor: Actor) -> None:
    def is_deleted(scene: Scene) -> None:
        scene.write("Half")
        elsewhere(delete)
        scene.record(NOTE)

    def delete() -> None:
        with plain.cast.bound():
            RunEvent.objects.all().delete()
            RunCursor.objects.all().delete()
            Run.objects.all().delete()

    actor.plays(is_deleted)
    [run] = plain.say("@engineer tidy up")
    runner.execute(run.workspace_id, run.pk)
    assert plain.runs() == []
    assert Kind.NOTICE not in plain.kinds(run)


def test_only_one_module_moves_a_run() -> None:
    """`state=` of a run is written in `runs.moves` and nowhere else."""
    root = Path(__file__).parents[2] / "runs"
    writers = {
        file.name
        for file in root.glob("**/*.py")
        if "migrations" not in file.parts
        and ("fence + 1" in file.read_text() or 'F("fence")' in file.read_text())
    }
    assert writers == {"moves.py"}
    assert moves.__name__ == "runs.moves"
