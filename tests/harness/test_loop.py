"""The loop against a scripted model: what it records, how it waits, goes on and ends."""

import json
from pathlib import Path

import pytest

from harness import errors, events
from harness.conversation import INTERRUPTED
from harness.events import Event, Kind
from harness.seam import Allow, Ask, Deny, GateCall, Limits, Verdict
from harness.stop import StopReason
from tests.harness.kit import Gate, World, make_spec, talking_to
from tests.scripted.anthropic import scripted
from tests.scripted.script import Call, Step


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(make_spec(tmp_path))


def run_on(world: World, *steps: Step, **changes: object) -> errors.RunEnded:
    """One attempt of the run against exactly these model turns."""
    with scripted(*steps) as server:
        ended = world.run(**talking_to(server), **changes)
        world.requests = server.requests  # type: ignore[attr-defined]
    return ended


def requests(world: World) -> list[dict[str, object]]:
    return world.requests  # type: ignore[attr-defined, no-any-return]


@pytest.mark.req("CC-60", "CC-72")
def test_a_turn_with_a_call_and_a_last_word(world: World) -> None:
    (world.spec.working_directory / "note.txt").write_text("forty-two")
    ended = run_on(
        world,
        Step(thinking="look first", text="I look.", calls=[Call("read", {"path": "note.txt"})]),
        Step(text="It says forty-two.", expect="forty-two"),
    )
    assert isinstance(ended, errors.Completed)
    assert ended.summary == "It says forty-two."
    assert ended.event().data["state"] == "succeeded"
    assert world.journal.kinds == [
        *["prompt", "message"],
        *["thinking", "text", "tool_call", "usage"],
        *["tool_start", "tool_result"],
        *["text", "usage"],
    ]
    assert [call.tool for call in world.gate.calls] == ["read"]


def test_blocks_are_kept_as_the_provider_wrote_them(world: World) -> None:
    run_on(
        world,
        Step(thinking="hm", calls=[Call("todo", {"todos": []}, id="toolu_9")]),
        Step(text="Done."),
    )
    thinking, call = world.journal.of(Kind.THINKING, Kind.TOOL_CALL)
    assert thinking["block"] == {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
    assert call["block"]["id"] == call["call_id"] == "toolu_9"
    sent = requests(world)[1]["messages"][1]["content"]  # type: ignore[index]
    assert sent == [thinking["block"], call["block"]]


def test_the_prefix_of_the_conversation_never_changes(world: World) -> None:
    """Current models bind their thinking to all that stood before it."""
    calls = [Step(calls=[Call("glob", {"pattern": str(n)})]) for n in range(3)]
    run_on(world, *calls, Step(text="Done."))
    bodies = [
        json.loads(json.dumps(body).replace(', "cache_control": {"type": "ephemeral"}', ""))
        for body in requests(world)
    ]
    for earlier, later in zip(bodies, bodies[1:], strict=False):
        assert later["system"] == earlier["system"]
        assert later["tools"] == earlier["tools"]
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]


def test_text_streams_while_it_grows_and_is_stored_once(world: World) -> None:
    run_on(world, Step(text="one two three", pieces=3))
    assert "".join(delta.text for delta in world.journal.deltas) == "one two three"
    assert [data["block"]["text"] for data in world.journal.of(Kind.TEXT)] == ["one two three"]


def test_a_finished_block_is_stored_when_the_next_begins(world: World) -> None:
    run_on(
        world,
        Step(text="First.", calls=[Call("todo", {"todos": []})]),
        Step(text="Done."),
    )
    assert world.journal.commits[1:4] == [
        ["text"],
        ["tool_call", "usage"],
        ["tool_start", "tool_result"],
    ]


@pytest.mark.req("CC-60")
def test_a_denied_call_is_not_run_and_the_model_is_told(world: World) -> None:
    world.gate = Gate(bash=Deny("Processes are not allowed here."))
    run_on(
        world,
        Step(calls=[Call("bash", {"command": "touch made"})]),
        Step(text="I could not.", expect="Processes are not allowed here."),
    )
    assert "tool_start" not in world.journal.kinds
    assert not (world.spec.working_directory / "made").exists()


def test_ungated_calls_run_first_then_the_run_parks(world: World) -> None:
    world.gate = Gate(write=Ask("approval-1"))
    ended = run_on(
        world,
        Step(
            calls=[
                Call("write", {"path": "a.txt", "content": "a"}),
                Call("todo", {"todos": [{"text": "b"}]}),
            ]
        ),
    )
    assert isinstance(ended, errors.Parked)
    assert (ended.waiting_for, ended.ids) == ("approval", ("approval-1",))
    assert [data["name"] for data in world.journal.of(Kind.TOOL_RESULT)] == ["todo"]
    assert not (world.spec.working_directory / "a.txt").exists()


def test_a_yes_is_followed_and_never_asked_again(world: World) -> None:
    world.gate = Gate(write=Ask("approval-1"))
    run_on(world, Step(calls=[Call("write", {"path": "a.txt", "content": "a"})]))
    world.decide("allow", decided_by="ada")
    world.gate = Gate()
    ended = run_on(world, Step(text="Written.", expect="Made a.txt"))
    assert isinstance(ended, errors.Completed)
    assert [call.approval_id for call in world.gate.calls] == ["approval-1"]
    assert world.journal.kinds.count("approval") == 2
    assert (world.spec.working_directory / "a.txt").read_text() == "a"


def test_a_rule_made_meanwhile_still_denies_what_was_allowed(world: World) -> None:
    world.gate = Gate(write=Ask("approval-1"))
    run_on(world, Step(calls=[Call("write", {"path": "a.txt", "content": "a"})]))
    world.decide("allow", decided_by="ada")
    world.gate = Gate(write=Deny("Frozen since noon."))
    run_on(world, Step(text="Then not.", expect="Frozen since noon."))
    assert not (world.spec.working_directory / "a.txt").exists()


def test_a_no_reaches_the_model_with_its_note(world: World) -> None:
    world.gate = Gate(write=Ask("approval-1"))
    run_on(world, Step(calls=[Call("write", {"path": "a.txt", "content": "a"})]))
    world.decide("deny", decided_by="ada", note="Not on a Friday.")
    run_on(world, Step(text="Understood.", expect="Denied by @ada: Not on a Friday."))
    assert not (world.spec.working_directory / "a.txt").exists()


def test_each_of_two_identical_calls_gets_its_own_decision(world: World) -> None:
    class AskEach(Gate):
        def check(self, call: GateCall) -> Verdict:
            super().check(call)
            return Allow() if call.approval_id else Ask(f"for-{call.call_id}")

    world.gate = AskEach()
    command = {"command": "echo ran >> log"}
    same = [Call("bash", command, id="first"), Call("bash", command, id="second")]
    ended = run_on(world, Step(calls=same))
    assert isinstance(ended, errors.Parked)
    assert ended.ids == ("for-first", "for-second"), "both are open at once"
    world.journal.say(events.decided("for-second", call_id="second", decision="deny"))
    assert isinstance(world.run(), errors.Parked), "the other one still waits"
    world.journal.say(events.decided("for-first", call_id="first", decision="allow"))
    run_on(world, Step(text="Once."))
    assert (world.spec.working_directory / "log").read_text() == "ran\n"
    assert [data["call_id"] for data in world.journal.of(Kind.TOOL_RESULT)] == ["second", "first"]


def test_while_nobody_has_decided_the_run_parks_again(world: World) -> None:
    world.gate = Gate(write=Ask("approval-1"))
    run_on(world, Step(calls=[Call("write", {"path": "a.txt", "content": "a"})]))
    ended = world.run()
    assert isinstance(ended, errors.Parked)
    assert len(world.gate.calls) == 1, "what was asked is not asked again"


def test_a_question_parks_and_its_answer_is_the_result(world: World) -> None:
    ended = run_on(
        world, Step(calls=[Call("ask_user", {"question": "Which?", "options": ["a", "b"]})])
    )
    assert isinstance(ended, errors.Parked)
    assert ended.waiting_for == "person"
    question = world.journal.of(Kind.MESSAGE)[-1]
    assert (question["role"], question["options"]) == ("agent", ["a", "b"])
    world.journal.say(events.message("b", author="ada", call_id=question["call_id"]))
    run_on(world, Step(text="b it is."))
    assert world.journal.results == ["b"]
    assert not world.gate.calls, "asking a person is never gated"


def test_a_question_is_answered_by_whatever_is_said_next(world: World) -> None:
    run_on(world, Step(calls=[Call("ask_user", {"question": "Which?"})]))
    world.journal.say(events.message("the blue one", author="ada"))
    ended = run_on(world, Step(text="Blue it is.", expect="the blue one"))
    assert isinstance(ended, errors.Completed)
    assert json.dumps(requests(world)[0]["messages"]).count("the blue one") == 1


@pytest.mark.req("CC-65")
def test_what_a_person_says_in_between_is_heard_at_the_next_boundary(world: World) -> None:
    def interrupt(event: Event) -> None:
        if event.kind is Kind.TOOL_CALL:
            world.journal.say(events.steer("Use blue instead.", author="ada"))

    world.journal.on_record = interrupt
    ended = run_on(
        world,
        Step(calls=[Call("todo", {"todos": []})]),
        Step(text="Blue.", expect="Use blue instead."),
    )
    assert ended.summary == "Blue."


def test_what_is_said_before_the_run_begins_does_not_replace_what_woke_it(world: World) -> None:
    world.journal.say(events.message("And add a test.", author="ben"))
    run_on(world, Step(text="Both done.", expect="And add a test."))
    assert world.spec.wake.text in str(requests(world)[0]["messages"])


def test_what_is_said_during_the_last_word_is_answered_too(world: World) -> None:
    said: list[bool] = []

    def interrupt(event: Event) -> None:
        if event.kind is Kind.TEXT and not said:
            said.append(True)
            world.journal.say(events.steer("And the tests?", author="ada"))

    world.journal.on_record = interrupt
    ended = run_on(world, Step(text="Done."), Step(text="They pass.", expect="And the tests?"))
    assert isinstance(ended, errors.Completed)
    assert ended.seen == len(world.journal.events)


# A worker is lost


def test_a_call_that_was_begun_and_lost_is_not_repeated(world: World) -> None:
    """The worker died between the start and the result."""

    class Lost(Exception):
        pass

    def die(event: Event) -> None:
        if event.kind is Kind.TOOL_START:
            raise Lost

    world.journal.on_record = die
    with pytest.raises(Lost):
        run_on(world, Step(calls=[Call("bash", {"command": "echo x >> log"})]))
    world.journal.on_record = lambda event: None
    run_on(world, Step(text="I check.", expect="interrupted: outcome unknown"))
    assert world.journal.results == [INTERRUPTED]
    assert not (world.spec.working_directory / "log").exists()


def test_a_call_that_was_never_begun_is_simply_made(world: World) -> None:
    class Lost(Exception):
        pass

    def die(event: Event) -> None:
        if event.kind is Kind.USAGE:
            raise Lost

    world.journal.on_record = die
    with pytest.raises(Lost):
        run_on(world, Step(calls=[Call("bash", {"command": "echo x >> log"})]))
    world.journal.on_record = lambda event: None
    run_on(world, Step(text="Done."))
    assert (world.spec.working_directory / "log").read_text() == "x\n"


def test_a_call_that_is_safe_to_repeat_is_repeated(world: World) -> None:
    (world.spec.working_directory / "note.txt").write_text("here")
    data = {"block": {}, "provider": "demo", "turn": 1, "index": 0, "seen": 0}
    call = {**data, "call_id": "c1", "name": "read", "input": {"path": "note.txt"}}
    for kind, content in (
        (Kind.TOOL_CALL, call),
        (Kind.USAGE, {"turn": 1, "input_tokens": 0, "output_tokens": 0} | CACHE),
        (Kind.TOOL_START, {"call_id": "c1", "name": "read"}),
    ):
        world.journal.say(Event(kind, content))
    ended = run_on(world, Step(text="Read.", expect="here"))
    assert ended.summary == "Read."
    assert world.journal.of(Kind.TOOL_RESULT)[0]["is_error"] is False


CACHE = {"cache_read_tokens": 0, "cache_write_tokens": 0}


def test_a_turn_that_broke_off_is_asked_again_and_leaves_no_trace(world: World) -> None:
    ended = run_on(world, Step(first=["close"], text="Whole."))
    assert isinstance(ended, errors.Completed)
    problem = world.journal.of(Kind.ERROR)[0]
    assert problem["code"] == "closed"
    assert problem["dropped"] is True
    assert [data["block"]["text"] for data in world.journal.of(Kind.TEXT)] == ["Whole."]
    assert requests(world)[0]["messages"] == requests(world)[1]["messages"]


# A provider in trouble


@pytest.mark.parametrize("fault", ["429", "500", "529", "close", "cut", "garbage"])
def test_trouble_that_passes_is_retried_and_told(world: World, fault: str) -> None:
    ended = run_on(world, Step(first=[fault, fault], text="Here."))
    assert isinstance(ended, errors.Completed)
    problems = world.journal.of(Kind.ERROR)
    assert [data["attempt"] for data in problems] == [1, 2]
    assert all(data["text"] and data["source"] == "provider" for data in problems)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("401", "does not accept the key"),
        ("403", "does not let it use this model"),
        ("404", "knows no model named"),
        ("html", "does not speak"),
    ],
)
def test_trouble_that_stays_ends_the_run_at_once(world: World, fault: str, words: str) -> None:
    with scripted(Step(first=[fault], text="never", again=True)) as server:
        ended = world.run(**talking_to(server))
        assert len(server.requests) == 1
        server.give_up()
    assert isinstance(ended, errors.ProviderRefused)
    assert words in ended.summary
    assert words in world.journal.of(Kind.ERROR)[-1]["text"]


def test_trouble_that_does_not_pass_ends_with_its_reason(world: World) -> None:
    limits = Limits(backoff_seconds=0, max_attempts=3)
    with scripted(Step(first=["529"] * 3, text="never")) as server:
        ended = world.run(**talking_to(server), limits=limits)
        server.give_up()
    assert isinstance(ended, errors.ProviderFailed)
    assert ended.reason == errors.TerminalReason.API_ERROR
    assert "overloaded" in ended.summary


def test_the_wait_that_the_provider_asks_for_is_kept(world: World) -> None:
    run_on(world, Step(first=["429"], retry_after="0.01", text="Here."))
    assert world.journal.of(Kind.ERROR)[0]["retry_in_seconds"] == 0.01


def test_a_provider_that_asks_for_an_hour_is_not_waited_for(world: World) -> None:
    with scripted(Step(first=["429"], retry_after="3600", text="never")) as server:
        ended = world.run(**talking_to(server))
        server.give_up()
    assert isinstance(ended, errors.ProviderFailed)


def test_the_next_model_of_the_chain_takes_over(world: World) -> None:
    with scripted(Step(first=["404"], text="Second.")) as server:
        changes = talking_to(server)
        changes["model"] = "anthropic/gone|anthropic/claude-haiku-5-5"
        ended = world.run(**changes)
        assert [body["model"] for body in server.requests] == ["gone", "claude-haiku-5-5"]
    assert isinstance(ended, errors.Completed)
    assert world.journal.of(Kind.NOTICE)[-1]["code"] == "fallback"


def test_a_model_that_declines_ends_the_run_honestly(world: World) -> None:
    with scripted(Step(first=["refusal"], text="never")) as server:
        ended = world.run(**talking_to(server))
        server.give_up()
    assert isinstance(ended, errors.ProviderRefused)
    assert "declined" in ended.summary  # not the half sentence that it had begun with


def test_a_provider_nobody_set_up_is_named(world: World) -> None:
    ended = world.run(model="acme/brain")
    assert isinstance(ended, errors.ProviderRefused)
    assert "No provider named acme" in ended.summary


def test_a_model_that_is_none_ends_the_run_in_words(world: World) -> None:
    ended = world.run(model="opus")
    assert isinstance(ended, errors.Finished)
    assert "'opus' is not of the form provider/model" in ended.summary


def test_the_inbox_gets_one_line_of_a_long_command(world: World) -> None:
    world.gate = Gate(bash=Deny("No."))
    command = "echo 1\n" + "x" * 1000
    run_on(world, Step(calls=[Call("bash", {"command": command})]), Step(text="Well."))
    (call,) = world.gate.calls
    assert len(call.summary) == len("Run ") + 200
    assert "\n" not in call.summary
    assert call.command == command


def test_thinking_the_provider_no_longer_accepts_is_left_out(world: World) -> None:
    ended = run_on(
        world,
        Step(thinking="bound", calls=[Call("todo", {"todos": []})]),
        Step(first=["binding"], text="Here."),
    )
    assert isinstance(ended, errors.Completed)
    sent = json.dumps(requests(world)[-1]["messages"])
    assert "bound" not in sent
    assert world.journal.of(Kind.NOTICE)[-1]["code"] == "thinking_dropped"


# Usage


@pytest.mark.req("CC-73")
def test_usage_is_stored_once_a_call_with_the_cache_apart(world: World) -> None:
    usage = {"input": 1000, "output": 200, "cache_read": 5000, "cache_write": 300}
    run_on(world, Step(thinking="a", text="b", usage=usage))
    (data,) = world.journal.of(Kind.USAGE)
    assert (data["input_tokens"], data["output_tokens"]) == (1000, 200)
    assert (data["cache_read_tokens"], data["cache_write_tokens"]) == (5000, 300)
    # Opus 5.5: 4 / 20 / 0.2 / 5 dollars a million
    assert data["cost_microusd"] == 4000 + 4000 + 1000 + 1500


# Circles, limits, contracts


def test_three_identical_calls_are_spoken_to_and_five_end_the_run(world: World) -> None:
    same = Call("glob", {"pattern": "*.never"})
    steps = [Step(calls=[same]) for _ in range(5)]
    ended = run_on(world, *steps)
    assert isinstance(ended, errors.Looping)
    assert [data["code"] for data in world.journal.of(Kind.STEER)] == ["repetition"]
    assert "3 times in a row" in json.dumps(requests(world)[3]["messages"])


def test_a_run_has_only_so_many_turns(world: World) -> None:
    calls = [Step(calls=[Call("glob", {"pattern": str(n)})]) for n in range(2)]
    ended = run_on(world, *calls, limits=Limits(max_turns=2))
    assert isinstance(ended, errors.MaxTurns)


@pytest.mark.req("CC-61")
def test_a_missing_deliverable_is_insisted_on_once_and_then_fails(world: World) -> None:
    world.missing = lambda events: "the plan"
    ended = run_on(
        world,
        Step(text="Done."),
        Step(text="Really done.", expect="Missing: the plan"),
        contract="a plan",
    )
    assert isinstance(ended, errors.ContractUnmet)
    assert ended.reason == "contract"
    assert "the plan" in ended.summary


@pytest.mark.req("CC-61")
def test_nothing_to_deliver_is_an_honest_end(world: World) -> None:
    world.missing = lambda events: "the plan"
    ended = run_on(
        world,
        Step(text="Done."),
        Step(text="There is nothing to deliver: it is all there."),
        contract="a plan",
    )
    assert isinstance(ended, errors.Completed)


def test_an_answer_cut_off_at_the_limit_goes_on(world: World) -> None:
    ended = run_on(world, Step(text="Once upon", stop="max_tokens"), Step(text="a time."))
    assert isinstance(ended, errors.Completed)


def test_an_end_without_a_word_is_asked_about_once(world: World) -> None:
    ended = run_on(world, Step(thinking="hm"), Step(text="All done.", expect="without an answer"))
    assert isinstance(ended, errors.Completed)
    assert ended.summary == "All done."


def test_broken_arguments_come_back_to_the_model(world: World) -> None:
    ended = run_on(
        world,
        Step(calls=[Call("read", {}, raw='{"path": "a')]),
        Step(calls=[Call("read", {"offset": 0})], expect="not valid JSON"),
        Step(text="Sorry.", expect="path: Field required; offset: Input should be greater"),
    )
    assert ended.summary == "Sorry."
    assert [result["is_error"] for result in world.journal.of(Kind.TOOL_RESULT)] == [True, True]


def test_a_tool_that_is_not_there_is_named_with_those_that_are(world: World) -> None:
    ended = run_on(
        world,
        Step(calls=[Call("hire_colleague", {"name": "bob"})]),
        Step(text="I cannot.", expect="There is no tool hire_colleague. Your tools: ask_user"),
    )
    assert ended.summary == "I cannot."
    assert [result["is_error"] for result in world.journal.of(Kind.TOOL_RESULT)] == [True]


# Context


def test_a_full_window_is_shortened_by_a_summary(world: World) -> None:
    world.spec = make_spec(world.spec.working_directory.parent.parent, context_size=1000)
    ended = run_on(
        world,
        Step(calls=[Call("glob", {"pattern": "one"})], usage={"input": 900}),
        Step(text="We looked for one.", expect="will be replaced by your summary"),
        Step(text="Done.", expect="We looked for one."),
    )
    assert isinstance(ended, errors.Completed)
    (data,) = world.journal.of(Kind.COMPACTION)
    assert data["tokens_before"] == 920
    last = requests(world)[-1]["messages"]
    assert len(last) == 1, "the summary stands for all that was before"  # type: ignore[arg-type]
    assert "hello" in json.dumps(last), "what was asked is kept word for word"


def test_a_conversation_that_overflows_is_shortened_and_goes_on(world: World) -> None:
    ended = run_on(
        world,
        Step(calls=[Call("glob", {"pattern": "one"})]),
        Step(first=["overflow"], text="Done.", expect="glob"),
    )
    assert isinstance(ended, errors.Completed)
    assert world.journal.kinds.count("compaction") == 1


# Stop


@pytest.mark.parametrize("fault", ["silent", "mute"])
@pytest.mark.parametrize(
    ("reason", "end"),
    [
        (StopReason.CANCEL, errors.Cancelled),
        (StopReason.PAUSE, errors.Parked),
        (StopReason.SILENCE, errors.Silent),
        (StopReason.RELEASE, errors.Released),
    ],
)
def test_a_stop_wakes_a_silent_stream(
    world: World, fault: str, reason: StopReason, end: type[errors.RunEnded]
) -> None:
    with scripted(Step(first=[fault], text="never")) as server:
        server.on_request = lambda: world.stop.request(reason)
        ended = world.run(**talking_to(server))
        server.give_up()
    assert isinstance(ended, end)


def test_a_stop_ends_a_running_command_with_all_it_started(world: World) -> None:
    def stop(event: Event) -> None:
        if event.kind is Kind.TOOL_START:
            world.stop.request(StopReason.CANCEL)

    world.journal.on_record = stop
    ended = run_on(world, Step(calls=[Call("bash", {"command": "sleep 300 & sleep 300"})]))
    assert isinstance(ended, errors.Cancelled)


def test_background_commands_end_before_a_wait_and_the_model_is_told(world: World) -> None:
    world.gate = Gate(write=Ask("approval-1"))
    ended = run_on(
        world,
        Step(calls=[Call("bash", {"command": "sleep 300", "background": True})]),
        Step(calls=[Call("write", {"path": "a", "content": "a"})]),
    )
    assert isinstance(ended, errors.Parked)
    assert "shell-1 (sleep 300)" in world.journal.of(Kind.STEER)[-1]["text"]
