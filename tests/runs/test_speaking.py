"""A message wakes, steers or answers: each one is read, by whom it means, once."""

from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError

from harness import events
from harness.errors import Parked
from harness.events import Kind
from runs import dispatch, moves
from runs.models import Run
from spaces.models import Message
from tests.runs.acting import Actor, Scene
from tests.runs.stage import Stage, at_request, elsewhere, together
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)


def asks(question: str) -> events.Event:
    data: events.MessageData = {"role": "agent", "text": question, "call_id": "c1"}
    return events.event(Kind.MESSAGE, data)


@pytest.mark.req("CC-13")
def test_each_agent_is_woken_once_however_often_it_is_named(plain: Stage) -> None:
    runs = plain.say("@engineer and @CEO: look at this, @Engineer, please @engineer")
    with plain.cast.bound():
        assert sorted(run.agent.name for run in runs) == ["ceo", "engineer"]
    assert len(plain.runs()) == 2


def test_nobody_is_woken_by_an_unknown_name(plain: Stage) -> None:
    assert plain.say("@nobody are you there?") == []
    with plain.cast.bound():
        assert Message.objects.count() == 1


@pytest.mark.parametrize("text", ["", " \n\t ", "x" * 1_000_001])
def test_a_text_that_cannot_be_posted_leaves_nothing(plain: Stage, text: str) -> None:
    with pytest.raises(ValidationError):
        plain.say(text)
    with plain.cast.bound():
        assert not Message.objects.exists()


def test_the_same_message_sent_twice_at_once_is_one(plain: Stage) -> None:
    key = uuid4()
    results = together([lambda: plain.say("@engineer tidy up", client_key=key)] * 3)
    assert [len(runs) for runs in results] == [1, 1, 1], results
    assert len(plain.runs()) == 1
    with plain.cast.bound():
        assert Message.objects.count() == 1


def test_of_two_members_who_write_at_once_the_second_steers(plain: Stage) -> None:
    together(
        [
            lambda: plain.say("@engineer tidy up"),
            lambda: plain.say("@engineer and add a test", by=plain.cast.ben),
        ]
    )
    [run] = plain.runs()
    with plain.cast.bound():
        assert [m.n for m in Message.objects.order_by("n")] == [1, 2]
    both = Step(text="Both done.", expect="tidy up")
    with plain.model(both) as model:
        assert plain.execute(run).state == "succeeded"
        assert "and add a test" in str(model.requests)


def test_what_is_said_before_the_worker_begins_is_read_too(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    [same] = plain.say("@engineer and add a test")
    assert same.pk == run.pk
    with plain.model(Step(text="Both done.", expect="and add a test")) as model:
        plain.execute(run)
        assert "tidy up" in str(model.requests)


def test_what_is_said_while_it_works_is_read_at_the_next_boundary(plain: Stage) -> None:
    steps = [Step(calls=[Call("todo", {"todos": []})]), Step(text="Done.", expect="add a test")]
    with plain.model(*steps) as model:
        [run] = plain.say("@engineer tidy up")
        at_request(model, 1, lambda: plain.say("@engineer and add a test", by=plain.cast.ben))
        assert plain.execute(run).state == "succeeded"
    assert len(plain.runs()) == 1
    plain.assert_whole(run)


@pytest.mark.parametrize("way", ["message", "steer"])
def test_what_is_said_beside_the_last_word_keeps_the_run_going(plain: Stage, way: str) -> None:
    def speak() -> None:
        if way == "message":
            plain.say("@engineer and add a test")
        else:
            plain.act(dispatch.steer, run, text="and add a test")

    steps = [Step(text="Tidied."), Step(text="Tested too.", expect="and add a test")]
    with plain.model(*steps) as model:
        [run] = plain.say("@engineer tidy up")
        at_request(model, 1, speak)
        done = plain.execute(run)
    assert (done.state, done.summary) == ("succeeded", "Tested too.")
    plain.assert_whole(run)


def test_what_is_said_after_the_agent_looked_for_the_last_time_keeps_it_going(
    plain: Stage, actor: Actor
) -> None:
    def ends_unaware(scene: Scene) -> None:
        scene.write("Tidied.")
        elsewhere(lambda: plain.say("@engineer and add a test"))

    heard: list[object] = []
    actor.plays(ends_unaware, lambda scene: heard.extend(scene.history))
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).state == "succeeded"
    assert "and add a test" in str(heard)


def test_a_message_that_comes_just_after_the_end_wakes_a_new_run(
    plain: Stage, actor: Actor
) -> None:
    actor.plays(lambda scene: scene.write("Tidied."))
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    [second] = plain.say("@engineer and add a test")
    assert second.pk != run.pk
    assert plain.fresh(run).state == "succeeded"


def test_a_mention_while_the_run_waits_for_a_yes_is_kept_for_later(
    plain: Stage, actor: Actor
) -> None:
    def waits(scene: Scene) -> None:
        scene.call("c1")
        raise Parked("approval", ids=(scene.asked("c1"),))

    actor.plays(waits)
    [run] = plain.say("@engineer tidy up")
    plain.execute(run)
    assert [each.pk for each in plain.say("@engineer be careful")] == [run.pk]
    assert plain.fresh(run).waiting_for == "approval"
    assert plain.kinds(run)[-1] == "message"


def test_a_message_answers_the_question_of_the_run_that_waits_for_a_person(plain: Stage) -> None:
    steps = [
        Step(calls=[Call("ask_user", {"question": "Which file?"})]),
        Step(text="Tidied the README.", expect="The README, please"),
    ]
    with plain.model(*steps):
        [run] = plain.say("@engineer tidy up")
        assert plain.execute(run).waiting_for == "person"
        [same] = plain.say("@engineer The README, please", by=plain.cast.ben)
        assert same.pk == run.pk
        assert plain.fresh(run).state == "queued"
        assert plain.execute(run).summary == "Tidied the README."
    plain.assert_whole(run)


def test_an_answer_that_comes_before_the_run_has_parked_is_not_lost(
    plain: Stage, actor: Actor
) -> None:
    def asks_and_is_answered(scene: Scene) -> None:
        scene.call("c1", name="ask_user")
        scene.record(asks("Which file?"))
        elsewhere(lambda: plain.say("@engineer the README"))
        raise Parked("person")

    actor.plays(asks_and_is_answered, lambda scene: scene.write("Tidied."))
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).state == "succeeded"


def test_the_harness_s_own_words_are_no_answer(plain: Stage, actor: Actor) -> None:
    def asks_with_a_background(scene: Scene) -> None:
        scene.call("c1", name="ask_user")
        scene.record(asks("Which file?"))
        scene.record(events.steer("While you wait nothing runs.", code="background_ended"))
        raise Parked("person")

    actor.plays(asks_with_a_background)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).waiting_for == "person"


@pytest.mark.parametrize(("lifecycle", "word"), [("paused", "paused"), ("archived", "archived")])
def test_an_agent_out_of_service_is_not_woken_and_the_refusal_says_so(
    plain: Stage, lifecycle: str, word: str
) -> None:
    set_lifecycle(plain, lifecycle)
    assert plain.say("@engineer tidy up") == []
    with plain.cast.bound():
        notice = Message.objects.get(kind=Message.Kind.NOTICE)
        assert f"@engineer is {word}" in notice.body


def test_a_run_ends_when_its_agent_was_archived_meanwhile(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    set_lifecycle(plain, "archived")
    done = plain.execute(run)
    assert done.state == "cancelled"
    assert "archived" in done.summary


def test_one_message_starts_one_run_of_an_agent(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    with plain.cast.bound():
        moves.end(
            Run.objects.get(pk=run.pk), state="cancelled", reason="cancelled_by_user", summary=""
        )
        message = Message.objects.get()
        assert [each.pk for each in dispatch.wake(message)] == [run.pk]
    assert len(plain.runs()) == 1


def set_lifecycle(plain: Stage, lifecycle: str) -> None:
    with plain.cast.bound():
        plain.cast.engineer.lifecycle = lifecycle
        plain.cast.engineer.save(update_fields=["lifecycle"])
